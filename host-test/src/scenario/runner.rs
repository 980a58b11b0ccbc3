use std::collections::HashSet;

use anyhow::{Context as _, Result};
use breakerbox_core::Receipt;

use super::{Action, Observation, Scenario, Step};
use crate::hosts::{At, Decision, Host, Session, mark_at};

/// Runs a scenario and returns what was seen, one observation a step.
///
/// # Errors
/// The host failed: it could not start, or its guest broke. What the breaker answers is never an error.
pub fn run(scenario: &Scenario, host: &dyn Host) -> Result<Vec<Observation>> {
    let mut session = host.open(&scenario.config, scenario.workers())?;
    let mut admitted = HashSet::new();
    let steps = scenario.steps.iter().zip(1..);
    steps
        .map(|(step, number)| {
            perform(step, session.as_mut(), &mut admitted).with_context(|| format!("step {number}"))
        })
        .collect()
}

fn perform<'a>(
    step: &'a Step,
    session: &mut dyn Session,
    admitted: &mut HashSet<&'a str>,
) -> Result<Observation> {
    let at = At { worker: step.worker, now: mark_at(step.at_ms)? };
    let (mut decision, mut receipt) = (None, None);
    match &step.action {
        Action::Acquire(id) => {
            let answer = session.acquire(at, id)?;
            if answer == Decision::Admitted {
                admitted.insert(id);
            } else {
                admitted.remove(id.as_str());
            }
            decision = Some(answer);
        }
        // A call that was rejected was never made, so its end is nobody's outcome.
        Action::Record(id, _) if !admitted.contains(id.as_str()) => receipt = Some(Receipt::Stale),
        Action::Record(id, outcome) => receipt = Some(session.record(at, id, *outcome)?),
        Action::Snapshot => {}
        Action::Control(control) => session.control(at, *control)?,
        Action::Restart => session.restart(at)?,
    }
    let snapshot = session.snapshot(at)?;
    Ok(Observation { decision, receipt, snapshot, events: session.take_events() })
}
