use alloc::vec::Vec;
use core::cell::RefCell;

use breakerbox_core::{Mark, OwnedSlot, Rules};

use crate::bindings::exports::breakerbox::breaker::breakers::{self, RestoreError};
use crate::bindings::exports::breakerbox::breaker::settings::{Problem, Settings};
use crate::bindings::exports::breakerbox::breaker::types::{
    Decision, EventBatch, Outcome, Permit, Receipt, Snapshot,
};
use crate::events::Events;
use crate::{convert, settings};

/// What stands behind a host's handle.
pub(crate) struct Breaker {
    rules: Rules,
    inside: RefCell<Inside>,
}

struct Inside {
    slot: OwnedSlot,
    events: Events,
}

impl Inside {
    fn fresh(rules: &Rules, now: Mark) -> Self {
        Self { slot: OwnedSlot::fresh(rules, now), events: Events::default() }
    }
}

impl Breaker {
    /// A breaker made of saved bytes. Unlike the exported function it needs no host for the handle.
    pub(crate) fn restored(settings: &Settings, bytes: Vec<u8>, now: u64) -> Result<Self, RestoreError> {
        let rules = settings::rules(settings).map_err(RestoreError::Settings)?;
        let (slot, effect) = OwnedSlot::restore(bytes, &rules, Mark::from_nanos(now))
            .map_err(|fault| RestoreError::Slot(convert::fault(fault)))?;
        let mut events = Events::default();
        events.push(effect.transition);
        Ok(Self { rules, inside: RefCell::new(Inside { slot, events }) })
    }

    /// Runs one operation on what is inside.
    ///
    /// Calls into a component do not nest, so nobody else ever holds the cell. Were it held, the operation would
    /// work on a fresh breaker: that lets the call through, where a panic would take all breakers down.
    #[inline]
    fn with<T>(&self, operation: impl FnOnce(&mut Inside, &Rules) -> T) -> T {
        let mut spare;
        let mut held = self.inside.try_borrow_mut();
        let inside = if let Ok(held) = &mut held {
            &mut **held
        } else {
            spare = Inside::fresh(&self.rules, Mark::ZERO);
            &mut spare
        };
        operation(inside, &self.rules)
    }
}

impl breakers::GuestBreaker for Breaker {
    fn new(settings: Settings, now: u64) -> Result<Self, Vec<Problem>> {
        let rules = settings::rules(&settings)?;
        let inside = RefCell::new(Inside::fresh(&rules, Mark::from_nanos(now)));
        Ok(Self { rules, inside })
    }

    fn acquire(&self, now: u64) -> Decision {
        self.with(|inside, rules| {
            let effect = inside.slot.slot().acquire(rules, Mark::from_nanos(now));
            inside.events.push(effect.transition);
            convert::decision(effect.answer)
        })
    }

    fn record(&self, permit: Permit, outcome: Outcome, now: u64) -> Receipt {
        self.with(|inside, rules| {
            let (permit, outcome) = (convert::permit(permit), convert::outcome(outcome));
            let effect = inside.slot.slot().record(rules, &permit, outcome, Mark::from_nanos(now));
            inside.events.push(effect.transition);
            convert::receipt(effect.answer)
        })
    }

    fn snapshot(&self, now: u64) -> Snapshot {
        self.with(|inside, rules| {
            convert::snapshot(&inside.slot.slot().snapshot(rules, Mark::from_nanos(now)))
        })
    }

    fn force_open(&self, now: u64) {
        self.with(|inside, rules| {
            let effect = inside.slot.slot().force_open(rules, Mark::from_nanos(now));
            inside.events.push(effect.transition);
        });
    }

    fn disable(&self, now: u64) {
        self.with(|inside, rules| {
            let effect = inside.slot.slot().disable(rules, Mark::from_nanos(now));
            inside.events.push(effect.transition);
        });
    }

    fn reset(&self, now: u64) {
        self.with(|inside, rules| {
            let effect = inside.slot.slot().reset(rules, Mark::from_nanos(now));
            inside.events.push(effect.transition);
        });
    }

    fn take_events(&self) -> EventBatch {
        self.with(|inside, _| inside.events.take())
    }

    fn save(&self) -> Vec<u8> {
        self.with(|inside, _| inside.slot.to_bytes())
    }

    fn restore(settings: Settings, bytes: Vec<u8>, now: u64) -> Result<breakers::Breaker, RestoreError> {
        Self::restored(&settings, bytes, now).map(breakers::Breaker::new)
    }
}
