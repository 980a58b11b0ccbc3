use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use breakerbox_config::{FilterConfig, MAX_ID_BYTES, Mode, Per};
use breakerbox_core::Rules;

use crate::guard::Guard;
use crate::hostcalls::{self, Headers, Level};
use crate::id::Id;
use crate::metric::Counter;
use crate::ward::Ward;
use crate::{fallback, index};

/// The breakers that this VM has met under one configuration.
pub(crate) struct Guards {
    config: FilterConfig,
    revision: u32,
    vm: String,
    unguarded: Counter,
    /// Headers that only a breaker may give to a request.
    fallback_headers: Vec<String>,
    by_name: RefCell<BTreeMap<String, Rc<Guard>>>,
    /// By the id as it stands in requests. Several ids may share a breaker.
    wards: RefCell<BTreeMap<Vec<u8>, Rc<Ward>>>,
}

impl Guards {
    /// No breakers yet, for the plugins of `vm` (its label), under the given edition of the configuration.
    pub(crate) fn new(config: FilterConfig, revision: u32, vm: String) -> Self {
        Self {
            revision,
            vm,
            unguarded: Counter::define("breakerbox_unguarded_calls"),
            fallback_headers: config.fallback_headers().into_iter().map(str::to_owned).collect(),
            by_name: RefCell::default(),
            wards: RefCell::default(),
            config,
        }
    }

    /// Which edition of the configuration this is.
    pub(crate) fn revision(&self) -> u32 {
        self.revision
    }

    /// The rules of a breaker.
    pub(crate) fn rules_for(&self, name: &str) -> Rules {
        self.config.policy_of_breaker(name).rules.clone().at_revision(self.revision)
    }

    /// Whether a breaker's word counts.
    pub(crate) fn mode_of(&self, name: &str) -> Mode {
        self.config.policy_of_breaker(name).mode
    }

    /// What guards the current request; `None` if nothing does, which is counted.
    pub(crate) fn of_request(&self) -> Option<Rc<Ward>> {
        let ward = self.id_of_request().and_then(|id| self.ward(&id));
        if ward.is_none() {
            self.count_unguarded();
        }
        ward
    }

    /// Counts a request that passes without a breaker's word.
    pub(crate) fn count_unguarded(&self) {
        self.unguarded.increment();
    }

    /// Shows the windows that changed.
    pub(crate) fn show_windows(&self) {
        for guard in self.by_name.borrow().values() {
            guard.show_window();
        }
    }

    /// Stores the outcomes that wait, if any.
    pub(crate) fn store_deferred(&self) {
        for guard in self.by_name.borrow().values() {
            guard.store_deferred();
        }
    }

    /// One of the two reads of a healthy request that return bytes: nothing else tells which breaker it needs.
    fn id_of_request(&self) -> Option<Vec<u8>> {
        let rerouted = fallback::strip(&self.fallback_headers);
        let id = match &self.config.per {
            // The proxy chooses the route again, but only after us: what it says now is what the client wanted.
            Per::Route | Per::Cluster if rerouted => None,
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

    fn ward(&self, bytes: &[u8]) -> Option<Rc<Ward>> {
        if let Some(ward) = self.wards.borrow().get(bytes) {
            return Some(Rc::clone(ward));
        }
        let id = Id::new(bytes);
        let policy = self.config.policy_for(&id.name);
        let guard = self.get(policy.breaker_of(&id.name))?;
        let ward = Rc::new(Ward::new(guard, Arc::clone(policy)));
        let mut wards = self.wards.borrow_mut();
        // Ids that share breakers may be many more than there are breakers, and an id may be all that a client may send:
        // those found late, and long ones, are looked up each time.
        if wards.len() < self.most() && bytes.len() <= MAX_ID_BYTES {
            wards.insert(bytes.to_vec(), Rc::clone(&ward));
        }
        Some(ward)
    }

    /// The breaker of this name, or `None` if there are too many.
    pub(crate) fn get(&self, name: &str) -> Option<Rc<Guard>> {
        let mut by_name = self.by_name.borrow_mut();
        if let Some(guard) = by_name.get(name) {
            return Some(Rc::clone(guard));
        }
        let most = self.config.max_breakers;
        // Shared data knows better, if it answers.
        if by_name.len() >= self.most() || !index::admit(name, most) {
            if index::is_first_to_say(&format!("full/{most}")) {
                let line = format!(
                    "breakerbox: there are {most} breakers (max_breakers); calls that need others are not guarded"
                );
                hostcalls::log(Level::Warn, &line);
            }
            return None;
        }
        let guard = Rc::new(Guard::attach(Id::new(name.as_bytes()), self.rules_for(name), &self.vm));
        by_name.insert(name.to_owned(), Rc::clone(&guard));
        Some(guard)
    }

    fn most(&self) -> usize {
        usize::try_from(self.config.max_breakers).unwrap_or(usize::MAX)
    }
}

impl Drop for Guards {
    /// A configuration was replaced, and the last request that came under it is over. What still waits must not go with it.
    fn drop(&mut self) {
        self.store_deferred();
    }
}
