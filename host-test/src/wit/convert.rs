//! The WIT types as the core's types of the same names, and back.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use breakerbox_core as core;
use breakerbox_core::{Hundredths, Mark};

use super::bindings::exports::breakerbox::breaker::types as wit;

/// A permit as the component takes it.
pub fn permit(permit: core::Permit) -> wit::Permit {
    let core::Permit { generation, ticket, admitted_at } = permit;
    wit::Permit { generation, ticket, admitted_at: admitted_at.nanos() }
}

/// An outcome as the component takes it.
pub fn outcome(outcome: core::Outcome) -> wit::Outcome {
    match outcome {
        core::Outcome::Success => wit::Outcome::Success,
        core::Outcome::Failure => wit::Outcome::Failure,
        core::Outcome::Ignored => wit::Outcome::Ignored,
    }
}

/// What became of an outcome.
pub fn receipt(receipt: wit::Receipt) -> core::Receipt {
    match receipt {
        wit::Receipt::Counted => core::Receipt::Counted,
        wit::Receipt::Ignored => core::Receipt::Ignored,
        wit::Receipt::Stale => core::Receipt::Stale,
    }
}

/// The answer to a call that asks for a permit.
///
/// # Errors
/// The call was rejected.
pub fn decision(decision: wit::Decision) -> Result<core::Permit, core::Rejection> {
    match decision {
        wit::Decision::Admitted(wit::Permit { generation, ticket, admitted_at }) => {
            Ok(core::Permit { generation, ticket, admitted_at: Mark::from_nanos(admitted_at) })
        }
        wit::Decision::Rejected(wit::Rejection { reason, retry_after, open_since }) => Err(core::Rejection {
            reason: match reason {
                wit::Reason::Open => core::Reason::Open,
                wit::Reason::HalfOpenFull => core::Reason::HalfOpenFull,
                wit::Reason::ForcedOpen => core::Reason::ForcedOpen,
            },
            retry_after: retry_after.map(Duration::from_nanos),
            open_since: open_since.map(Mark::from_nanos),
        }),
    }
}

pub(crate) fn snapshot(look: &wit::Snapshot) -> Result<core::Snapshot> {
    Ok(core::Snapshot {
        state: state(look.state),
        generation: look.generation,
        since: Mark::from_nanos(look.since),
        failure_rate: look.failure_rate,
        slow_call_rate: look.slow_call_rate,
        calls: look.calls,
        failed: look.failed,
        slow: look.slow,
        consecutive_failures: look.consecutive_failures,
        probes_out: look.probes_out,
        retry_after: look.retry_after.map(Duration::from_nanos),
        reopens: look.reopens,
        last: look.last.as_ref().map(transition).transpose()?,
    })
}

pub(crate) fn event_kind(kind: wit::EventKind) -> core::EventKind {
    match kind {
        wit::EventKind::Opened => core::EventKind::Opened,
        wit::EventKind::HalfOpened => core::EventKind::HalfOpened,
        wit::EventKind::Closed => core::EventKind::Closed,
        wit::EventKind::ForcedOpen => core::EventKind::ForcedOpen,
        wit::EventKind::Disabled => core::EventKind::Disabled,
        wit::EventKind::Reset => core::EventKind::Reset,
    }
}

fn state(state: wit::State) -> core::State {
    match state {
        wit::State::Closed => core::State::Closed,
        wit::State::Open => core::State::Open,
        wit::State::HalfOpen => core::State::HalfOpen,
        wit::State::ForcedOpen => core::State::ForcedOpen,
        wit::State::Disabled => core::State::Disabled,
    }
}

fn transition(it: &wit::Transition) -> Result<core::Transition> {
    let threshold =
        Hundredths::from_f64(it.threshold.unwrap_or(0.0)).context("a threshold of three decimals")?;
    let transition = core::Transition {
        from: state(it.from_state),
        to: state(it.to_state),
        rule: rule(it.rule),
        generation: it.generation,
        at: Mark::from_nanos(it.at),
        calls: it.calls,
        failed: it.failed,
        slow: it.slow,
        threshold,
        wait: Duration::from_nanos(it.wait.unwrap_or(0)),
    };
    ensure!(it.why == transition.to_string(), "why is not the transition in words: {it:?}");
    Ok(transition)
}

fn rule(rule: wit::Rule) -> core::Rule {
    match rule {
        wit::Rule::FailureRate => core::Rule::FailureRate,
        wit::Rule::SlowCallRate => core::Rule::SlowCallRate,
        wit::Rule::ConsecutiveFailures => core::Rule::ConsecutiveFailures,
        wit::Rule::WaitInOpen => core::Rule::WaitElapsed,
        wit::Rule::ProbesSucceeded => core::Rule::ProbesSucceeded,
        wit::Rule::ProbeFailed => core::Rule::ProbeFailed,
        wit::Rule::MaxWaitInHalfOpen => core::Rule::MaxWait,
        wit::Rule::ForceOpen => core::Rule::ForceOpen,
        wit::Rule::Disable => core::Rule::Disable,
        wit::Rule::Reset => core::Rule::Reset,
        wit::Rule::Settings => core::Rule::Settings,
    }
}
