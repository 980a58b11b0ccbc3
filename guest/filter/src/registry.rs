use std::cell::RefCell;
use std::rc::{Rc, Weak};

use breakerbox_core::{Slot, SlotStore};

use crate::guards::Guards;
use crate::store::SharedData;

thread_local! {
    /// The filters that serve in this VM, each with its configuration.
    static FILTERS: RefCell<Vec<Weak<Guards>>> = const { RefCell::new(Vec::new()) };
}

/// A filter serves from now on, until it drops its guards.
pub(crate) fn add(guards: &Rc<Guards>) {
    FILTERS.with_borrow_mut(|filters| {
        filters.retain(|filter| filter.strong_count() > 0);
        filters.push(Rc::downgrade(guards));
    });
}

/// The filter that decides about a breaker: the one whose edition of the configuration its slot has, else the one with
/// the latest edition. `None` if no filter serves in this VM.
pub(crate) fn guards_of(id: &str) -> Option<Rc<Guards>> {
    let filters = serving();
    let deciding = revision(id);
    let decider = filters.iter().find(|filter| Some(filter.revision()) == deciding);
    decider.or_else(|| filters.iter().max_by_key(|filter| filter.revision())).map(Rc::clone)
}

/// Stores the outcomes that wait, also those under configurations that only requests under way still need.
pub(crate) fn store_deferred() {
    for filter in serving() {
        filter.store_deferred();
    }
}

fn serving() -> Vec<Rc<Guards>> {
    FILTERS.with_borrow(|filters| filters.iter().filter_map(Weak::upgrade).collect())
}

fn revision(id: &str) -> Option<u32> {
    let (mut bytes, _) = SharedData.load(&SharedData::slot_key(id)).ok()??;
    Slot::parse(&mut bytes).ok().map(|slot| slot.revision())
}
