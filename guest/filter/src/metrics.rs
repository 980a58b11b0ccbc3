use std::cell::RefCell;
use std::collections::BTreeMap;

use breakerbox_core::{Outcome, Reason, Receipt, State, Transition};

use crate::hostcalls::{self, MetricKind};

thread_local! {
    /// Numbers of the metrics that this VM has defined. The host makes a new number each time, and does so even
    /// for a name that it knows, while a VM lives through many configurations.
    static DEFINED: RefCell<BTreeMap<String, Option<u32>>> = const { RefCell::new(BTreeMap::new()) };
}

fn define(kind: MetricKind, name: &str) -> Option<u32> {
    DEFINED.with_borrow_mut(|defined| {
        if let Some(&number) = defined.get(name) {
            return number;
        }
        let number = hostcalls::define_metric(kind, name);
        defined.insert(name.to_owned(), number);
        number
    })
}

/// A number that goes up. A host without metrics leaves it without effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counter(Option<u32>);

impl Counter {
    pub(crate) fn define(name: &str) -> Self {
        Self(define(MetricKind::Counter, name))
    }

    pub(crate) fn increment(self) {
        if let Some(number) = self.0 {
            hostcalls::increment_metric(number);
        }
    }
}

/// A number that is set. A host without metrics leaves it without effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauge(Option<u32>);

impl Gauge {
    pub(crate) fn define(name: &str) -> Self {
        Self(define(MetricKind::Gauge, name))
    }

    /// The host's number of it.
    pub(crate) fn number(self) -> Option<u32> {
        self.0
    }

    pub(crate) fn set(self, value: u64) {
        if let Some(number) = self.0 {
            hostcalls::set_metric(number, value);
        }
    }
}

/// One breaker's metrics. Labels stand in their names, `[label=value]`, for the proxy's `stats_tags` to find.
#[derive(Debug)]
pub(crate) struct Metrics {
    label: String,
    state: Gauge,
    successful: Counter,
    failed: Counter,
    ignored: Counter,
    stale: Counter,
    open: Counter,
    half_open_full: Counter,
    forced_open: Counter,
}

impl Metrics {
    /// The metrics of the breaker `label`. All that every breaker needs exist from the start, so that a counter
    /// which has not counted yet reads 0; transitions, of which there are many kinds, begin with their first.
    pub(crate) fn define(label: &str) -> Self {
        let calls = |kind| Counter::define(&format!("breakerbox_calls[breaker={label}][kind={kind}]"));
        let not_permitted = |reason: Reason| {
            let reason = reason.name();
            Counter::define(&format!("breakerbox_not_permitted_calls[breaker={label}][reason={reason}]"))
        };
        Self {
            label: label.to_owned(),
            state: Gauge::define(&format!("breakerbox_state[breaker={label}]")),
            successful: calls("successful"),
            failed: calls("failed"),
            ignored: calls("ignored"),
            stale: calls("stale"),
            open: not_permitted(Reason::Open),
            half_open_full: not_permitted(Reason::HalfOpenFull),
            forced_open: not_permitted(Reason::ForcedOpen),
        }
    }

    pub(crate) fn count_call(&self, outcome: Outcome, receipt: Receipt) {
        let counter = match (receipt, outcome) {
            (Receipt::Stale, _) => self.stale,
            (Receipt::Ignored, _) | (Receipt::Counted, Outcome::Ignored) => self.ignored,
            (Receipt::Counted, Outcome::Success) => self.successful,
            (Receipt::Counted, Outcome::Failure) => self.failed,
        };
        counter.increment();
    }

    pub(crate) fn count_rejection(&self, reason: Reason) {
        let counter = match reason {
            Reason::Open => self.open,
            Reason::HalfOpenFull => self.half_open_full,
            Reason::ForcedOpen => self.forced_open,
        };
        counter.increment();
    }

    pub(crate) fn count_transition(&self, transition: &Transition) {
        let Transition { from, to, rule, .. } = transition;
        let (label, from, to, rule) = (&self.label, from.name(), to.name(), rule.name());
        let name = format!("breakerbox_transitions[breaker={label}][from={from}][to={to}][reason={rule}]");
        Counter::define(&name).increment();
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state as u64);
    }
}
