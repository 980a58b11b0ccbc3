//! The places where a breaker runs, behind one trait, so that each can be shown to answer like the others.

use std::time::Duration;

use anyhow::{Context as _, Result};
use breakerbox_core::{EventKind, Mark, Outcome, Reason, Receipt, Snapshot};

use crate::scenario::Control;

mod agreeing;
#[cfg(feature = "harness")]
mod component;
#[cfg(feature = "harness")]
mod filter;
mod native;

#[cfg(feature = "harness")]
pub use component::Component;
#[cfg(feature = "harness")]
pub use filter::Filter;
pub use native::Native;

/// Where the clocks of all hosts start: far from 0, and at a whole number of seconds, because a time window's buckets begin
/// on whole seconds.
pub const START: Mark = Mark::from_millis(1_000_000_000);

/// A place where a breaker runs.
pub trait Host {
    /// The host's name on the command line.
    fn name(&self) -> &'static str;

    /// A new breaker with these settings (JSON, as a user writes them), used by workers 0 to `workers` - 1. The time is
    /// [`START`].
    ///
    /// # Errors
    /// The settings are refused, or the host cannot start.
    fn open(&self, settings: &str, workers: usize) -> Result<Box<dyn Session>>;
}

/// One breaker in its host. Calls are known by IDs, under which the session keeps what they were admitted with.
///
/// # Errors
/// All methods fail only where the host is broken.
#[allow(clippy::missing_errors_doc)] // said above, once
pub trait Session {
    /// A call asks for a permit.
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision>;

    /// The call of this ID, which was admitted, ends.
    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt>;

    /// An operator uses a control.
    fn control(&mut self, at: At, control: Control) -> Result<()>;

    /// The worker's instance is thrown away, and a new one starts on the same stored state.
    fn restart(&mut self, at: At) -> Result<()>;

    /// What the breaker looks like.
    fn snapshot(&mut self, at: At) -> Result<Snapshot>;

    /// The events since they were last taken, in order.
    fn take_events(&mut self) -> Vec<EventKind>;
}

/// Where and when something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The worker.
    pub worker: usize,
    /// The time.
    pub now: Mark,
}

/// What a call that asked for a permit was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may go.
    Admitted,
    /// It may not.
    Rejected {
        /// Why.
        reason: Reason,
        /// How long until a probe would be let through, where it is known.
        retry_after: Option<Duration>,
    },
}

/// The mark at this time of the scenario's clock.
///
/// # Errors
/// The time is too far before the clock's zero.
pub fn mark_at(at_ms: i64) -> Result<Mark> {
    let millis = i64::try_from(START.nanos() / 1_000_000).ok().and_then(|start| start.checked_add(at_ms));
    let millis = millis.and_then(|millis| u64::try_from(millis).ok());
    millis.map(Mark::from_millis).with_context(|| format!("at_ms is {at_ms}: give a time nearer to 0"))
}
