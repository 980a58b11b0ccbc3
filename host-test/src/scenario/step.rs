use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use breakerbox_core::Outcome;
use serde::Deserialize;
use serde_json::Value;

use super::Expectation;

/// One step of a scenario.
#[derive(Clone, Debug)]
pub struct Step {
    /// When, in milliseconds on the scenario's clock.
    pub at_ms: i64,
    /// The worker that it runs in.
    pub worker: usize,
    /// What happens.
    pub action: Action,
    /// What is expected to be seen afterwards.
    pub expect: Expectation,
}

/// What happens in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A call asks for a permit; it is known under this ID from now on.
    Acquire(String),
    /// The call of this ID ends.
    Record(String, Outcome),
    /// Nothing but a look, which every step ends with.
    Snapshot,
    /// A control is used.
    Control(Control),
    /// The worker's instance is thrown away, and a new one starts on the same stored state.
    Restart,
}

/// What an operator does to a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// Rejects every call until a reset.
    ForceOpen,
    /// Lets every call through and counts none, until a reset.
    Disable,
    /// Back to the start.
    Reset,
}

/// A step as it is written.
#[derive(Deserialize)]
struct Written {
    at_ms: i64,
    #[serde(default)]
    worker: usize,
    acquire: Option<String>,
    record: Option<String>,
    outcome: Option<WrittenOutcome>,
    #[serde(default)]
    snapshot: bool,
    control: Option<Control>,
    #[serde(default)]
    restart: bool,
    #[serde(default)]
    expect: Expectation,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenOutcome {
    Success,
    Failure,
    Ignored,
}

impl From<WrittenOutcome> for Outcome {
    fn from(written: WrittenOutcome) -> Self {
        match written {
            WrittenOutcome::Success => Self::Success,
            WrittenOutcome::Failure => Self::Failure,
            WrittenOutcome::Ignored => Self::Ignored,
        }
    }
}

impl Step {
    /// A worker is a VM of its own on some hosts, so their number is bounded.
    const MAX_WORKERS: usize = 64;

    pub(super) fn parse(step: Value) -> Result<Self> {
        let Written { at_ms, worker, acquire, record, outcome, snapshot, control, restart, expect, unknown } =
            serde_json::from_value(step)?;
        let unknown: Vec<_> = unknown.into_keys().collect();
        ensure!(
            unknown.is_empty(),
            "unknown key {}: a step has at_ms, worker, expect, and one of acquire, record (with outcome), snapshot, \
             control, restart",
            unknown.join(", ")
        );
        ensure!(worker < Self::MAX_WORKERS, "worker is {worker}: there are 0 to {}", Self::MAX_WORKERS - 1);
        let record = match (record, outcome) {
            (Some(id), Some(outcome)) => Some(Action::Record(id, outcome.into())),
            (None, None) => None,
            (Some(id), None) => {
                bail!("record \"{id}\" without an outcome: write success, failure or ignored")
            }
            (None, Some(_)) => bail!("an outcome without a record: write the ID of the call that ended"),
        };
        let actions = [
            acquire.map(Action::Acquire),
            record,
            snapshot.then_some(Action::Snapshot),
            control.map(Action::Control),
            restart.then_some(Action::Restart),
        ];
        let mut actions: Vec<_> = actions.into_iter().flatten().collect();
        match (actions.pop(), actions.is_empty()) {
            (Some(action), true) => Ok(Self { at_ms, worker, action, expect }),
            (None, _) => {
                bail!("nothing happens: write one of acquire, record, snapshot, control, restart")
            }
            (Some(_), false) => bail!("more than one thing happens: write two steps"),
        }
    }
}
