use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use breakerbox_config::{FilterConfig, Per};
use breakerbox_core::Rules;

use crate::guard::Guard;
use crate::hostcalls::{self, Headers, Level};
use crate::id::Id;
use crate::metrics::Counter;

/// As many breakers are kept. Ids come from the proxy's configuration, but nothing here may grow without a bound.
const MAX_BREAKERS: usize = 1_000;

/// The breakers that this VM has met under one configuration.
pub(crate) struct Guards {
    config: FilterConfig,
    revision: u32,
    vm: String,
    unguarded: Counter,
    by_id: RefCell<BTreeMap<Vec<u8>, Rc<Guard>>>,
    overflowed: Cell<bool>,
}

impl Guards {
    /// No breakers yet, for the plugins of `vm` (its label), under the given edition of the configuration.
    pub(crate) fn new(config: FilterConfig, revision: u32, vm: String) -> Self {
        Self {
            config,
            revision,
            vm,
            unguarded: Counter::define("breakerbox_unguarded_calls"),
            by_id: RefCell::default(),
            overflowed: Cell::new(false),
        }
    }

    /// Which edition of the configuration this is.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    /// The rules of a breaker.
    pub(crate) fn rules_for(&self, id: &str) -> Rules {
        self.config.rules_for(id).clone().at_revision(self.revision)
    }

    /// The breaker of the current request; `None` if it has none, which is counted.
    pub(crate) fn of_request(&self) -> Option<Rc<Guard>> {
        let guard = self.id_of_request().and_then(|id| self.get(&id));
        if guard.is_none() {
            self.count_unguarded();
        }
        guard
    }

    /// Counts a request that passes without a breaker's word.
    pub(crate) fn count_unguarded(&self) {
        self.unguarded.increment();
    }

    /// Stores what waits in this VM.
    pub(crate) fn flush(&self) {
        for guard in self.by_id.borrow().values() {
            guard.flush();
        }
    }

    /// One of the three reads of a healthy request that return bytes: nothing else tells which breaker it needs.
    fn id_of_request(&self) -> Option<Vec<u8>> {
        let id = match &self.config.per {
            Per::Route => hostcalls::property("xds\0route_name"),
            Per::Cluster => hostcalls::property("xds\0cluster_name"),
            Per::VirtualHost => hostcalls::property("xds\0virtual_host_name"),
            // Case does not matter in a host's name, and clients write it as they like.
            Per::Host => {
                hostcalls::header(Headers::Request, ":authority").map(|host| host.to_ascii_lowercase())
            }
            Per::UpstreamHost => hostcalls::property("upstream\0address"),
            Per::Header(name) => hostcalls::header(Headers::Request, name),
            Per::PathPrefix(segments) => hostcalls::header(Headers::Request, ":path")
                .map(|path| breakerbox_config::path_prefix(&path, *segments).to_vec()),
            Per::Fixed(id) => Some(id.clone().into_bytes()),
        };
        id.filter(|id| !id.is_empty())
    }

    /// The breaker with this id, or `None` if there are too many.
    pub(crate) fn get(&self, bytes: &[u8]) -> Option<Rc<Guard>> {
        let mut by_id = self.by_id.borrow_mut();
        if let Some(guard) = by_id.get(bytes) {
            return Some(Rc::clone(guard));
        }
        if by_id.len() >= MAX_BREAKERS {
            if !self.overflowed.replace(true) {
                let line = format!(
                    "breakerbox: there are {MAX_BREAKERS} breakers; calls that need others are not guarded"
                );
                hostcalls::log(Level::Warn, &line);
            }
            return None;
        }
        let id = Id::new(bytes);
        let rules = self.rules_for(&id.name);
        let guard = Rc::new(Guard::attach(id, rules, &self.vm));
        by_id.insert(bytes.to_vec(), Rc::clone(&guard));
        Some(guard)
    }
}
