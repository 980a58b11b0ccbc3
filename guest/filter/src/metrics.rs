use breakerbox_core::{Outcome, Reason, Receipt, Recorded, Snapshot, State, Transition};

use crate::metric::{Counter, Gauge};

/// One breaker's metrics. Labels stand in their names, `[label=value]`, for the proxy's `stats_tags` to find.
#[derive(Debug)]
pub(crate) struct Metrics {
    label: String,
    state: Gauge,
    successful: Counter,
    failed: Counter,
    ignored: Counter,
    stale: Counter,
    slow: Counter,
    not_permitted: Rejections,
    buffered_successful: Gauge,
    buffered_failed: Gauge,
    failure_rate: Gauge,
    slow_call_rate: Gauge,
    conflicts: Counter,
    give_ups: Counter,
}

/// Counters of calls to which a breaker said no, by reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rejections {
    open: Counter,
    half_open_full: Counter,
    forced_open: Counter,
}

impl Rejections {
    pub(crate) fn define(name: &str, label: &str) -> Self {
        let counter = |reason: Reason| {
            Counter::define(&format!("breakerbox_{name}[breaker={label}][reason={}]", reason.name()))
        };
        Self {
            open: counter(Reason::Open),
            half_open_full: counter(Reason::HalfOpenFull),
            forced_open: counter(Reason::ForcedOpen),
        }
    }

    pub(crate) fn count(self, reason: Reason) {
        let counter = match reason {
            Reason::Open => self.open,
            Reason::HalfOpenFull => self.half_open_full,
            Reason::ForcedOpen => self.forced_open,
        };
        counter.increment();
    }
}

impl Metrics {
    /// The metrics of the breaker `label`. All that every breaker needs exist from the start, so that a counter
    /// which has not counted yet reads 0; transitions, of which there are many kinds, begin with their first.
    pub(crate) fn define(label: &str) -> Self {
        let counter = |name| Counter::define(&format!("breakerbox_{name}[breaker={label}]"));
        let gauge = |name| Gauge::define(&format!("breakerbox_{name}[breaker={label}]"));
        let calls = |kind| Counter::define(&format!("breakerbox_calls[breaker={label}][kind={kind}]"));
        let buffered =
            |kind| Gauge::define(&format!("breakerbox_buffered_calls[breaker={label}][kind={kind}]"));
        Self {
            label: label.to_owned(),
            state: gauge("state"),
            successful: calls("successful"),
            failed: calls("failed"),
            ignored: calls("ignored"),
            stale: calls("stale"),
            slow: counter("slow_calls"),
            not_permitted: Rejections::define("not_permitted_calls", label),
            buffered_successful: buffered("successful"),
            buffered_failed: buffered("failed"),
            failure_rate: gauge("failure_rate"),
            slow_call_rate: gauge("slow_call_rate"),
            conflicts: counter("store_conflicts"),
            give_ups: counter("store_give_ups"),
        }
    }

    pub(crate) fn count_call(&self, Recorded { outcome, slow, receipt }: Recorded) {
        let counter = match (receipt, outcome) {
            (Receipt::Stale, _) => self.stale,
            (Receipt::Ignored, _) | (Receipt::Counted, Outcome::Ignored) => self.ignored,
            (Receipt::Counted, Outcome::Success) => self.successful,
            (Receipt::Counted, Outcome::Failure) => self.failed,
        };
        counter.increment();
        if slow && receipt == Receipt::Counted {
            self.slow.increment();
        }
    }

    /// Counts a call that the breaker rejected.
    pub(crate) fn count_rejection(&self, reason: Reason) {
        self.not_permitted.count(reason);
    }

    pub(crate) fn count_transition(&self, transition: &Transition) {
        let Transition { from, to, rule, .. } = transition;
        let (label, from, to, rule) = (&self.label, from.name(), to.name(), rule.name());
        let name = format!("breakerbox_transitions[breaker={label}][from={from}][to={to}][reason={rule}]");
        Counter::define(&name).increment();
    }

    /// Counts writes that met another worker's.
    pub(crate) fn count_conflicts(&self, conflicts: u32) {
        self.conflicts.add(conflicts);
    }

    /// Counts an operation that the store did not take.
    pub(crate) fn count_give_up(&self) {
        self.give_ups.increment();
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state as u64);
    }

    /// Shows the counts that the breaker goes by, and their rates in whole percent, rounded down. A gauge cannot say
    /// "not yet known": a rate is 0 until the window holds enough calls.
    pub(crate) fn set_window(&self, snapshot: &Snapshot) {
        let &Snapshot { calls, failed, slow, failure_rate, slow_call_rate, .. } = snapshot;
        let percent = |part: u32| u64::from(part).saturating_mul(100).checked_div(calls.into()).unwrap_or(0);
        self.buffered_successful.set(calls.saturating_sub(failed).into());
        self.buffered_failed.set(failed.into());
        self.failure_rate.set(failure_rate.map_or(0, |_| percent(failed)));
        self.slow_call_rate.set(slow_call_rate.map_or(0, |_| percent(slow)));
    }
}
