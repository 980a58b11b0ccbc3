use std::time::Duration;

use breakerbox_core::{EventKind, Mark, Receipt, Snapshot, Transition};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Difference;
use crate::hosts::{Decision, START};

/// What was seen in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// What an acquire was answered.
    pub decision: Option<Decision>,
    /// What became of a recorded outcome.
    pub receipt: Option<Receipt>,
    /// The breaker after the step.
    pub snapshot: Snapshot,
    /// The events that the step caused, in order.
    pub events: Vec<EventKind>,
}

/// An observation under the names that scenario files use, and the rest of the snapshot.
#[derive(Serialize)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    permitted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<bool>,
    state: &'static str,
    buffered_calls: u32,
    failed_calls: u32,
    slow_calls: u32,
    failure_rate: f64,
    slow_call_rate: f64,
    events: Vec<&'static str>,
    generation: u64,
    since_ms: f64,
    consecutive_failures: u32,
    probes_out: u32,
    reopens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_for_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_transition: Option<WrittenTransition>,
}

#[derive(Serialize)]
struct WrittenTransition {
    from: &'static str,
    to: &'static str,
    rule: &'static str,
    generation: u64,
    at_ms: f64,
    calls: u32,
    failed: u32,
    slow: u32,
    threshold: f64,
    wait_ms: f64,
}

impl Observation {
    /// Where this is not what `other`, the same step on another host, is; nothing is left unchecked.
    pub fn differences(&self, step: usize, other: &Self) -> Vec<Difference> {
        Difference::between_observations(step, self, other)
    }

    pub(super) fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            other => unreachable!("an observation is a JSON object, not {other:?}"),
        }
    }

    fn written(&self) -> Written {
        let (permitted, reason, retry_after) = match self.decision {
            None => (None, None, None),
            Some(Decision::Admitted) => (Some(true), None, None),
            Some(Decision::Rejected { reason, retry_after }) => {
                (Some(false), Some(reason.name()), retry_after)
            }
        };
        let look = &self.snapshot;
        Written {
            permitted,
            reason,
            retry_after_ms: retry_after.map(millis),
            recorded: self.receipt.map(|receipt| receipt == Receipt::Counted),
            state: look.state.name(),
            buffered_calls: look.calls,
            failed_calls: look.failed,
            slow_calls: look.slow,
            failure_rate: look.failure_rate.unwrap_or(-1.0),
            slow_call_rate: look.slow_call_rate.unwrap_or(-1.0),
            events: self.events.iter().map(|kind| kind.name()).collect(),
            generation: look.generation,
            since_ms: millis_since_start(look.since),
            consecutive_failures: look.consecutive_failures,
            probes_out: look.probes_out,
            reopens: look.reopens,
            open_for_ms: look.retry_after.map(millis),
            last_transition: look.last.as_ref().map(written_transition),
        }
    }
}

/// Under the names that scenario files use.
impl Serialize for Observation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written().serialize(serializer)
    }
}

fn written_transition(transition: &Transition) -> WrittenTransition {
    let Transition { from, to, rule, generation, at, calls, failed, slow, threshold, wait } = *transition;
    WrittenTransition {
        from: from.name(),
        to: to.name(),
        rule: rule.name(),
        generation,
        at_ms: millis_since_start(at),
        calls,
        failed,
        slow,
        threshold: threshold.to_f64(),
        wait_ms: millis(wait),
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Negative where the scenario's clock stepped back behind its zero.
fn millis_since_start(mark: Mark) -> f64 {
    millis(mark.since(START)) - millis(START.since(mark))
}
