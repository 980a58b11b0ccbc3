//! The core's types as the WIT types of the same names.

use alloc::string::ToString;
use core::time::Duration;

use breakerbox_core as core_types;
use breakerbox_core::Mark;

use crate::bindings::exports::breakerbox::breaker::breakers::SlotFault;
use crate::bindings::exports::breakerbox::breaker::types;

/// Nanoseconds; 584 years are as long as it gets.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn permit(permit: types::Permit) -> core_types::Permit {
    let types::Permit { generation, ticket, admitted_at } = permit;
    core_types::Permit { generation, ticket, admitted_at: Mark::from_nanos(admitted_at) }
}

pub(crate) fn outcome(outcome: types::Outcome) -> core_types::Outcome {
    match outcome {
        types::Outcome::Success => core_types::Outcome::Success,
        types::Outcome::Failure => core_types::Outcome::Failure,
        types::Outcome::Ignored => core_types::Outcome::Ignored,
    }
}

pub(crate) fn receipt(receipt: core_types::Receipt) -> types::Receipt {
    match receipt {
        core_types::Receipt::Counted => types::Receipt::Counted,
        core_types::Receipt::Ignored => types::Receipt::Ignored,
        core_types::Receipt::Stale => types::Receipt::Stale,
    }
}

pub(crate) fn decision(answer: Result<core_types::Permit, core_types::Rejection>) -> types::Decision {
    match answer {
        Ok(core_types::Permit { generation, ticket, admitted_at }) => {
            types::Decision::Admitted(types::Permit { generation, ticket, admitted_at: admitted_at.nanos() })
        }
        Err(core_types::Rejection { reason, retry_after, open_since }) => {
            types::Decision::Rejected(types::Rejection {
                reason: match reason {
                    core_types::Reason::Open => types::Reason::Open,
                    core_types::Reason::HalfOpenFull => types::Reason::HalfOpenFull,
                    core_types::Reason::ForcedOpen => types::Reason::ForcedOpen,
                },
                retry_after: retry_after.map(nanos),
                open_since: open_since.map(Mark::nanos),
            })
        }
    }
}

pub(crate) fn snapshot(snapshot: &core_types::Snapshot) -> types::Snapshot {
    types::Snapshot {
        state: state(snapshot.state),
        generation: snapshot.generation,
        since: snapshot.since.nanos(),
        failure_rate: snapshot.failure_rate,
        slow_call_rate: snapshot.slow_call_rate,
        calls: snapshot.calls,
        failed: snapshot.failed,
        slow: snapshot.slow,
        consecutive_failures: snapshot.consecutive_failures,
        probes_out: snapshot.probes_out,
        retry_after: snapshot.retry_after.map(nanos),
        reopens: snapshot.reopens,
        last: snapshot.last.as_ref().map(transition),
    }
}

pub(crate) fn event(transition: &core_types::Transition) -> types::Event {
    let kind = match transition.kind() {
        core_types::EventKind::Opened => types::EventKind::Opened,
        core_types::EventKind::HalfOpened => types::EventKind::HalfOpened,
        core_types::EventKind::Closed => types::EventKind::Closed,
        core_types::EventKind::ForcedOpen => types::EventKind::ForcedOpen,
        core_types::EventKind::Disabled => types::EventKind::Disabled,
        core_types::EventKind::Reset => types::EventKind::Reset,
    };
    types::Event { kind, transition: self::transition(transition) }
}

pub(crate) fn fault(fault: core_types::Fault) -> SlotFault {
    match fault {
        core_types::Fault::Length => SlotFault::Length,
        core_types::Fault::Layout => SlotFault::Layout,
        core_types::Fault::Content => SlotFault::Content,
    }
}

fn state(state: core_types::State) -> types::State {
    match state {
        core_types::State::Closed => types::State::Closed,
        core_types::State::Open => types::State::Open,
        core_types::State::HalfOpen => types::State::HalfOpen,
        core_types::State::ForcedOpen => types::State::ForcedOpen,
        core_types::State::Disabled => types::State::Disabled,
    }
}

fn transition(transition: &core_types::Transition) -> types::Transition {
    types::Transition {
        from_state: state(transition.from),
        to_state: state(transition.to),
        rule: rule(transition.rule),
        generation: transition.generation,
        at: transition.at.nanos(),
        calls: transition.calls,
        failed: transition.failed,
        slow: transition.slow,
        threshold: (transition.threshold.0 != 0).then(|| transition.threshold.to_f64()),
        wait: (transition.to == core_types::State::Open).then(|| nanos(transition.wait)),
        why: transition.to_string(),
    }
}

fn rule(rule: core_types::Rule) -> types::Rule {
    match rule {
        core_types::Rule::FailureRate => types::Rule::FailureRate,
        core_types::Rule::SlowCallRate => types::Rule::SlowCallRate,
        core_types::Rule::ConsecutiveFailures => types::Rule::ConsecutiveFailures,
        core_types::Rule::WaitElapsed => types::Rule::WaitInOpen,
        core_types::Rule::ProbesSucceeded => types::Rule::ProbesSucceeded,
        core_types::Rule::ProbeFailed => types::Rule::ProbeFailed,
        core_types::Rule::MaxWait => types::Rule::MaxWaitInHalfOpen,
        core_types::Rule::ForceOpen => types::Rule::ForceOpen,
        core_types::Rule::Disable => types::Rule::Disable,
        core_types::Rule::Reset => types::Rule::Reset,
        core_types::Rule::Settings => types::Rule::Settings,
    }
}
