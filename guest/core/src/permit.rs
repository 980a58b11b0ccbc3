use core::time::Duration;

use crate::Mark;

/// Leave to make one call. Plain data: it can be copied, stored, lost or recorded twice without harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit {
    /// The generation that issued it; an outcome is counted only while that generation lasts.
    pub generation: u64,
    /// Which probe it is, from 1; 0 for a call that is not a probe.
    pub ticket: u32,
    /// When it was issued: where the call's duration starts.
    pub admitted_at: Mark,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The dependency did its work.
    Success,
    /// The dependency failed.
    Failure,
    /// The call says nothing about the dependency: it is not counted, and a probe's permit is given back.
    Ignored,
}

/// What became of a recorded outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// It is in the window, or among the probes.
    Counted,
    /// It was not to be counted: an ignored outcome, or a disabled breaker.
    Ignored,
    /// Its permit belongs to an earlier generation, or its ticket was recorded before. Nothing changed.
    Stale,
}

/// Why a call was not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The breaker is open.
    Open,
    /// All probes are out or have ended, and not yet been judged.
    HalfOpenFull,
    /// The breaker was opened by hand.
    ForcedOpen,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 3] = [Self::Open, Self::HalfOpenFull, Self::ForcedOpen];

    /// The reason's name in JSON, metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::HalfOpenFull => "half_open_full",
            Self::ForcedOpen => "forced_open",
        }
    }
}

/// A call that may not go. A value like any other: being rejected is not an error of the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// How long until a probe would be let through; known only while the breaker is open.
    pub retry_after: Option<Duration>,
    /// When the breaker opened; known only while it is open.
    pub open_since: Option<Mark>,
}
