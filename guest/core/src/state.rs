use crate::Rule;

/// Where a breaker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Calls go through and are counted.
    Closed = 0,
    /// Calls are rejected until the wait is over.
    Open = 1,
    /// A few probes go through; the rest are rejected.
    HalfOpen = 2,
    /// Opened by hand: every call is rejected until a reset.
    ForcedOpen = 3,
    /// Switched off: every call goes through and none is counted, until a reset.
    Disabled = 4,
}

impl State {
    /// Every state, in the order of their numbers in slots and metrics.
    pub const ALL: [Self; 5] = [Self::Closed, Self::Open, Self::HalfOpen, Self::ForcedOpen, Self::Disabled];

    /// The state's name in JSON, metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::Disabled => "disabled",
        }
    }

    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Closed),
            1 => Some(Self::Open),
            2 => Some(Self::HalfOpen),
            3 => Some(Self::ForcedOpen),
            4 => Some(Self::Disabled),
            _ => None,
        }
    }

    /// The table of transitions: where `rule` leads from here, or `None` if it does not apply.
    /// `enabled` is the setting of that name, which decides where a reset leads.
    #[allow(clippy::match_same_arms)] // one line a cell of the table
    pub const fn next(self, rule: Rule, enabled: bool) -> Option<Self> {
        use Rule as R;
        use State as S;
        match (self, rule) {
            (S::Closed, R::FailureRate | R::SlowCallRate | R::ConsecutiveFailures) => Some(S::Open),
            (S::Open, R::WaitElapsed) => Some(S::HalfOpen),
            (S::HalfOpen, R::ProbesSucceeded) => Some(S::Closed),
            (S::HalfOpen, R::FailureRate | R::SlowCallRate | R::ProbeFailed | R::MaxWait) => Some(S::Open),
            (S::Closed | S::Open | S::HalfOpen | S::Disabled, R::ForceOpen) => Some(S::ForcedOpen),
            (S::Closed | S::Open | S::HalfOpen | S::ForcedOpen, R::Disable) => Some(S::Disabled),
            (_, R::Reset) if enabled => Some(S::Closed),
            (_, R::Reset) => Some(S::Disabled),
            // The setting changed while the breaker lived. A state set by hand stays until its reset.
            (S::Closed | S::Open | S::HalfOpen, R::Settings) if !enabled => Some(S::Disabled),
            (S::Disabled, R::Settings) if enabled => Some(S::Closed),
            _ => None,
        }
    }
}
