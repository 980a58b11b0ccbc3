use alloc::vec::Vec;

use crate::belief::{self, Belief, Found};
use crate::end::{End, Recorded};
use crate::{
    Clock, Effect, Fault, Mark, Opened, Outcome, Permit, Receipt, Rejection, Revocations, Rules, Slot,
    SlotStore, Snapshot, Transition, Unavailable,
};

/// How often an operation is tried before it gives up. Of the workers that meet one succeeds each time, so this
/// many misses in a row mean that the store is in trouble, not that it is busy.
const ATTEMPTS: u32 = 32;

/// Outcomes that a worker keeps when the store does not take them. A count window remembers no more calls.
const DEFERRED: usize = crate::Settings::MAX_WINDOW_CALLS as usize;

/// One worker's access to a breaker whose slot is shared with other workers.
///
/// Every operation is: load, apply, compare-and-set, again on conflict, with a bound. Where the worker last found a
/// closed breaker that would not change, or an open one, and nothing was revoked since, the slot is not even read.
#[derive(Clone, Debug)]
pub struct Shared<R> {
    rules: Rules,
    key: Vec<u8>,
    revocations: R,
    belief: Option<Belief>,
    latest: Mark,
    /// The latest mark that this worker itself wrote there. Later ones of others may be from before a clock stepped back.
    own: Mark,
    deferred: Vec<End>,
}

/// What an operation on a shared slot answered and did.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Update<T> {
    /// The answer, or `None` if the operation gave up: the store did not answer, or every attempt met another
    /// worker's write.
    pub answer: Option<T>,
    /// The moves that it caused, in order. Only the worker that made a move reports it.
    pub transitions: Vec<Transition>,
    /// Earlier outcomes that were merged along the way.
    pub merged: Vec<Recorded>,
    /// Attempts that met another worker's write.
    pub conflicts: u32,
    /// The stored bytes were no slot, and a fresh one took their place.
    pub replaced: Option<Fault>,
}

impl<T> Update<T> {
    fn of(answer: Option<T>) -> Self {
        Self { answer, transitions: Vec::new(), merged: Vec::new(), conflicts: 0, replaced: None }
    }
}

impl<R: Revocations> Shared<R> {
    /// Access to the slot at `key`, beside which `revocations` are counted.
    pub fn new(rules: Rules, key: Vec<u8>, revocations: R) -> Self {
        Self {
            rules,
            key,
            revocations,
            belief: None,
            latest: Mark::ZERO,
            own: Mark::ZERO,
            deferred: Vec::new(),
        }
    }

    /// The rules that this worker goes by.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The slot's key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Outcomes that wait for the next update.
    pub fn deferred(&self) -> usize {
        self.deferred.len()
    }

    /// Creates the slot if there is none, takes it over if these rules are a later edition, and merges what waits. A
    /// worker does this when it starts, and may do it at any time.
    pub fn attach(&mut self, store: &impl SlotStore, now: Mark) -> Update<Snapshot> {
        self.update(store, now, |slot, rules, now| Effect::nothing(slot.snapshot(rules, now)))
    }

    /// Asks for a permit. If the operation gives up the call is let through: the permit belongs to no
    /// generation, `answer` is `None` and its outcome will be stale.
    ///
    /// While the slot is known to be closed only the call's duration needs the time: a clock is not read then unless
    /// slow calls are looked for, and the permit holds the latest mark that is known.
    pub fn acquire(
        &mut self,
        store: &impl SlotStore,
        clock: impl Clock,
    ) -> Update<Result<Permit, Rejection>> {
        let belief = self.belief.as_mut().filter(|_| self.deferred.is_empty());
        let now = match belief.and_then(|belief| belief.for_call(&self.revocations)) {
            Some(&mut Found::Closed(hint)) => {
                let now = clock.now_if(self.rules.detects_slow_calls());
                let admitted_at = now.unwrap_or(self.latest).max(self.latest);
                return Update::of(Some(Ok(Permit { generation: hint.generation, ticket: 0, admitted_at })));
            }
            Some(Found::Refusing(slot)) => {
                let now = clock.now();
                if let Some(rejection) = belief::refuse(slot, &self.rules, now) {
                    return Update::of(Some(Err(rejection)));
                }
                now
            }
            None => clock.now(),
        };
        self.update(store, now, |slot, rules, now| slot.acquire(rules, now))
    }

    /// Ends the call that a permit was issued for. If the operation gives up the outcome waits here and is
    /// merged by the next update.
    pub fn record(
        &mut self,
        store: &impl SlotStore,
        permit: &Permit,
        outcome: Outcome,
        clock: impl Clock,
    ) -> Update<Recorded> {
        let known = self.known_of_fast(permit, outcome);
        let looks = self.rules.detects_slow_calls();
        if known.is_some_and(|known| known.receipt == Receipt::Ignored || !looks) {
            return Update::of(known);
        }
        let end = End { permit: *permit, outcome, at: clock.now().max(self.own) };
        if known.is_some() && !end.is_slow(&self.rules) {
            return Update::of(known);
        }
        let update = self.update(store, end.at, |slot, rules, _| end.record(slot, rules));
        if update.answer.is_none() {
            if self.deferred.len() >= DEFERRED {
                self.deferred.remove(0);
            }
            self.deferred.push(end);
        }
        update
    }

    /// What becomes of a call that ended so, unless it was slow, where that is known without the slot.
    fn known_of_fast(&self, permit: &Permit, outcome: Outcome) -> Option<Recorded> {
        let belief = self.belief.as_ref().filter(|_| self.deferred.is_empty() && permit.ticket == 0)?;
        let hint = belief.hint().filter(|hint| hint.generation == permit.generation)?;
        let receipt = match outcome {
            Outcome::Ignored => Receipt::Ignored,
            Outcome::Success if hint.clean => Receipt::Counted,
            Outcome::Success | Outcome::Failure => return None,
        };
        let recorded = Recorded { outcome, slow: false, receipt };
        belief.is_of(self.revocations.number()).then_some(recorded)
    }

    /// What the breaker looks like; `None` if there is no slot or the store does not answer. Nothing changes.
    pub fn snapshot(&self, store: &impl SlotStore, now: Mark) -> Option<Snapshot> {
        let (mut bytes, _) = store.load(&self.key).ok()??;
        Slot::parse(&mut bytes).ok().map(|slot| slot.snapshot(&self.rules, now))
    }

    /// Rejects every call until a reset.
    pub fn force_open(&mut self, store: &impl SlotStore, now: Mark) -> Update<()> {
        self.update(store, now, |slot, rules, now| slot.force_open(rules, now))
    }

    /// Lets every call through and counts none, until a reset.
    pub fn disable(&mut self, store: &impl SlotStore, now: Mark) -> Update<()> {
        self.update(store, now, |slot, rules, now| slot.disable(rules, now))
    }

    /// Back to the start: closed, or disabled where the settings say so.
    pub fn reset(&mut self, store: &impl SlotStore, now: Mark) -> Update<()> {
        self.update(store, now, |slot, rules, now| slot.reset(rules, now))
    }

    fn update<T>(
        &mut self,
        store: &impl SlotStore,
        now: Mark,
        mut operation: impl FnMut(&mut Slot<'_>, &Rules, Mark) -> Effect<T>,
    ) -> Update<T> {
        let mut conflicts = 0;
        while conflicts < ATTEMPTS {
            match self.attempt(store, now, &mut operation) {
                Ok(Some(update)) => {
                    self.deferred.clear();
                    return Update { conflicts, ..update };
                }
                Ok(None) => conflicts = conflicts.saturating_add(1),
                Err(Unavailable) => break,
            }
        }
        Update { conflicts, ..Update::of(None) }
    }

    /// One load, apply, compare-and-set; `None` if another worker wrote in between.
    fn attempt<T>(
        &mut self,
        store: &impl SlotStore,
        now: Mark,
        operation: &mut impl FnMut(&mut Slot<'_>, &Rules, Mark) -> Effect<T>,
    ) -> Result<Option<Update<T>>, Unavailable> {
        self.belief = None;
        // Before the load, so that what is believed of what is loaded ends with any revocation that comes after.
        let mut revocations = self.revocations.number();
        let revoke = |revocations: &mut Option<u64>| {
            self.revocations.revoke();
            *revocations = revocations.map(|number| number.wrapping_add(1));
        };
        let loaded = store.load(&self.key)?;
        let version = loaded.as_ref().map(|&(_, version)| version);
        let mut bytes = loaded.map_or_else(|| Slot::fresh(&self.rules, now), |(bytes, _)| bytes);

        let (mut slot, opened) = Slot::open(&mut bytes, &self.rules, now).ok_or(Unavailable)?;
        let (before, was_refusing) = (slot.hint(), slot.refuses());
        // Whoever wrote this died before the revocation, or has yet to make it. Nobody may be done with this slot earlier.
        let unrevoked = slot.take_unrevoked();
        if unrevoked {
            revoke(&mut revocations);
        }
        let replaced = match opened {
            Opened::Intact => None,
            Opened::Replaced(fault) => Some(fault),
        };
        let is_new = version.is_none() || replaced.is_some();
        let adopted = Slot::adopt(&mut bytes, &self.rules, now).ok_or(Unavailable)?;

        let (mut slot, _) = Slot::open(&mut bytes, &self.rules, now).ok_or(Unavailable)?;
        let mut changed = is_new || adopted.changed;
        let mut transitions: Vec<Transition> = adopted.transition.into_iter().collect();
        let merged = self.merge(&mut slot, &mut changed, &mut transitions);
        let effect = operation(&mut slot, &self.rules, now);
        changed |= effect.changed;
        transitions.extend(effect.transition);
        let (after, latest, refuses) = (slot.hint(), slot.latest(), slot.refuses());
        let breaks = changed && (is_new || was_refusing || before.is_some_and(|before| !before.holds(after)));
        if breaks {
            slot.mark_unrevoked();
        }

        if changed || unrevoked {
            let written = match version {
                None => store.create(&self.key, &bytes)?,
                Some(version) => store.compare_and_set(&self.key, &bytes, version)?,
            };
            if !written {
                return Ok(None);
            }
        }
        if breaks {
            revoke(&mut revocations);
        }
        let found = after.map(Found::Closed).or_else(|| refuses.then_some(Found::Refusing(bytes)));
        self.belief = found.zip(revocations).map(|(found, number)| Belief::new(found, number));
        let brought = self.deferred.iter().map(|end| end.at).fold(now, Mark::max);
        if changed && latest <= brought {
            self.own = latest.max(self.own);
        }
        self.latest = latest;
        Ok(Some(Update { answer: Some(effect.answer), transitions, merged, conflicts: 0, replaced }))
    }

    fn merge(
        &self,
        slot: &mut Slot<'_>,
        changed: &mut bool,
        transitions: &mut Vec<Transition>,
    ) -> Vec<Recorded> {
        let record = |end: &End| {
            let effect = end.record(slot, &self.rules);
            *changed |= effect.changed;
            transitions.extend(effect.transition);
            effect.answer
        };
        self.deferred.iter().map(record).collect()
    }
}
