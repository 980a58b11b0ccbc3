use std::cell::RefCell;
use std::collections::BTreeMap;

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
        self.add(1);
    }

    pub(crate) fn add(self, count: u32) {
        if let Some(number) = self.0.filter(|_| count > 0) {
            hostcalls::increment_metric(number, count);
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
