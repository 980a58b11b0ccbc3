use core::fmt;
use core::time::Duration;

use crate::{Hundredths, Mark, State};

/// What made a breaker move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// The failure rate reached its threshold.
    FailureRate = 1,
    /// The slow-call rate reached its threshold.
    SlowCallRate = 2,
    /// So many calls failed in a row.
    ConsecutiveFailures = 3,
    /// The wait in open was over when a call arrived.
    WaitElapsed = 4,
    /// The probes were good enough.
    ProbesSucceeded = 5,
    /// A probe failed or was slow where all must succeed.
    ProbeFailed = 6,
    /// The probes had not all ended in time when a call arrived.
    MaxWait = 7,
    /// Opened by hand.
    ForceOpen = 8,
    /// Switched off by hand.
    Disable = 9,
    /// Reset by hand.
    Reset = 10,
    /// The setting `enabled` changed.
    Settings = 11,
}

impl Rule {
    /// Every rule, in the order of their numbers in slots.
    pub const ALL: [Self; 11] = [
        Self::FailureRate,
        Self::SlowCallRate,
        Self::ConsecutiveFailures,
        Self::WaitElapsed,
        Self::ProbesSucceeded,
        Self::ProbeFailed,
        Self::MaxWait,
        Self::ForceOpen,
        Self::Disable,
        Self::Reset,
        Self::Settings,
    ];

    /// The rule's name in JSON, metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailureRate => "failure_rate",
            Self::SlowCallRate => "slow_call_rate",
            Self::ConsecutiveFailures => "consecutive_failures",
            Self::WaitElapsed => "wait_in_open",
            Self::ProbesSucceeded => "probes_succeeded",
            Self::ProbeFailed => "probe_failed",
            Self::MaxWait => "max_wait_in_half_open",
            Self::ForceOpen => "force_open",
            Self::Disable => "disable",
            Self::Reset => "reset",
            Self::Settings => "settings",
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte).checked_sub(1)?).copied()
    }
}

/// The kinds of event that listeners hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The breaker opened.
    Opened,
    /// The first probe is on its way.
    HalfOpened,
    /// The breaker closed.
    Closed,
    /// It was opened by hand.
    ForcedOpen,
    /// It was switched off.
    Disabled,
    /// It was reset by hand.
    Reset,
}

impl EventKind {
    /// The kind's name in JSON and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::HalfOpened => "half_opened",
            Self::Closed => "closed",
            Self::ForcedOpen => "forced_open",
            Self::Disabled => "disabled",
            Self::Reset => "reset",
        }
    }
}

/// One move of a breaker, and why it was made.
///
/// `Display` writes the reason as a sentence without the breaker's name, such as
/// `closed -> open: failure rate 50.00% reached 50.00% (10 of 20 calls failed); next probe in 5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The state that was left.
    pub from: State,
    /// The state that was entered.
    pub to: State,
    /// What made it move.
    pub rule: Rule,
    /// The generation that began.
    pub generation: u64,
    /// When.
    pub at: Mark,
    /// Calls in the window (in half-open: probes that ended) when it moved.
    pub calls: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Those of them that were slow.
    pub slow: u32,
    /// The threshold that was reached: a percentage for the rates, a number of calls for consecutive failures
    /// (as `Hundredths` too), 0 for rules without one.
    pub threshold: Hundredths,
    /// How long the state that was entered lasts at least: the wait in open with back-off and jitter, else zero.
    pub wait: Duration,
}

impl Transition {
    /// The kind of event that this is.
    pub fn kind(&self) -> EventKind {
        match (self.rule, self.to) {
            (Rule::Reset, _) => EventKind::Reset,
            (_, State::Open) => EventKind::Opened,
            (_, State::HalfOpen) => EventKind::HalfOpened,
            (_, State::Closed) => EventKind::Closed,
            (_, State::ForcedOpen) => EventKind::ForcedOpen,
            (_, State::Disabled) => EventKind::Disabled,
        }
    }

    /// `part` of the calls as a percentage, rounded down to two decimals.
    fn percent(&self, part: u32) -> Hundredths {
        let hundredths = u64::from(part).saturating_mul(10_000).checked_div(u64::from(self.calls));
        Hundredths(u32::try_from(hundredths.unwrap_or(0)).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, failed, slow, threshold, .. } = *self;
        write!(f, "{} -> {}: ", self.from.name(), self.to.name())?;
        let calls_or_probes = if self.from == State::HalfOpen { "probes" } else { "calls" };
        match self.rule {
            Rule::FailureRate => write!(
                f,
                "failure rate {}% reached {threshold}% ({failed} of {calls} {calls_or_probes} failed)",
                self.percent(failed)
            ),
            Rule::SlowCallRate => write!(
                f,
                "slow-call rate {}% reached {threshold}% ({slow} of {calls} {calls_or_probes} were slow)",
                self.percent(slow)
            ),
            Rule::ConsecutiveFailures => write!(f, "failures in a row reached {}", threshold.0 / 100),
            Rule::WaitElapsed => f.write_str("the wait is over and a call became the first probe"),
            Rule::ProbesSucceeded => {
                write!(f, "probes succeeded ({calls} ended, {failed} failed, {slow} slow)")
            }
            Rule::ProbeFailed => {
                write!(
                    f,
                    "a probe failed where all must succeed ({failed} failed, {slow} slow of {calls} ended)"
                )
            }
            Rule::MaxWait => write!(f, "the probes did not all end in time ({calls} ended)"),
            Rule::ForceOpen => f.write_str("opened by hand"),
            Rule::Disable => f.write_str("disabled by hand"),
            Rule::Reset => f.write_str("reset by hand"),
            Rule::Settings => f.write_str("the setting `enabled` changed"),
        }?;
        if self.to == State::Open {
            write!(f, "; next probe in {:?}", self.wait)?;
        }
        Ok(())
    }
}
