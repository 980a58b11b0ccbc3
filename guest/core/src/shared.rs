use alloc::vec::Vec;

use crate::refusal::Refusal;
use crate::{
    Clock, Effect, Fault, Hint, HintCell, Mark, Opened, Outcome, Permit, Receipt, Rejection, Rules, Slot,
    SlotStore, Snapshot, Transition, Unavailable,
};

/// How often an operation is tried before it gives up. Of the workers that meet one succeeds each time, so this
/// many misses in a row mean that the store is in trouble, not that it is busy.
const ATTEMPTS: u32 = 32;

/// Calls that a worker answers without looking at the slot before it looks again: a worker that died between a
/// write and its revocation leaves the others believing what is wrong, and this bounds how long.
const BELIEVED: u32 = 256;

/// Outcomes that a worker keeps when the store does not take them. A count window remembers no more calls.
const DEFERRED: usize = crate::Settings::MAX_WINDOW_CALLS as usize;

/// One worker's access to a breaker whose slot is shared with other workers.
///
/// Every operation is: load, apply, compare-and-set, again on conflict, with a bound. Where the hint says that
/// a closed breaker would not change, the slot is not even read; nor is it while it was found open and nothing
/// was revoked since.
#[derive(Clone, Debug)]
pub struct Shared<H> {
    rules: Rules,
    key: Vec<u8>,
    hint: H,
    refusal: Option<Refusal>,
    believed: u32,
    latest: Mark,
    deferred: Vec<Deferral>,
}

#[derive(Clone, Copy, Debug)]
struct Deferral {
    permit: Permit,
    outcome: Outcome,
    at: Mark,
}

/// An outcome that waited with its worker and has been merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// How its call ended.
    pub outcome: Outcome,
    /// Whether the call was slow.
    pub slow: bool,
    /// What became of it.
    pub receipt: Receipt,
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
    pub merged: Vec<Deferred>,
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

impl<H: HintCell> Shared<H> {
    /// Access to the slot at `key`. Call [`Shared::attach`] before the first call is guarded.
    pub fn new(rules: Rules, key: Vec<u8>, hint: H) -> Self {
        Self { rules, key, hint, refusal: None, believed: 0, latest: Mark::ZERO, deferred: Vec::new() }
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

    /// Creates the slot if there is none, takes it over if these rules are a later edition, merges what waits,
    /// and sets the hint right. A worker does this when it starts, and may do it at any time.
    pub fn attach(&mut self, store: &impl SlotStore, now: Mark) -> Update<Snapshot> {
        self.update(store, now, |slot, rules, now| Effect::nothing(slot.snapshot(rules, now)))
    }

    /// Asks for a permit. If the operation gives up the call is let through: the permit belongs to no
    /// generation, `answer` is `None` and its outcome will be stale.
    ///
    /// While the hint says closed only the call's duration needs the time: a clock is not read then unless slow
    /// calls are looked for, and the permit holds the latest mark that is known.
    pub fn acquire(
        &mut self,
        store: &impl SlotStore,
        clock: impl Clock,
    ) -> Update<Result<Permit, Rejection>> {
        let believes = self.believed < BELIEVED && self.deferred.is_empty();
        if believes
            && self.refusal.is_none()
            && let Some(hint) = Hint::read(&self.hint)
        {
            self.believed = self.believed.saturating_add(1);
            let now = clock.now_if(self.rules.detects_slow_calls());
            let admitted_at = now.unwrap_or(self.latest).max(self.latest);
            return Update::of(Some(Ok(Permit { generation: hint.generation, ticket: 0, admitted_at })));
        }
        let now = clock.now();
        if believes
            && let Some(refusal) = &mut self.refusal
            && let Some(rejection) = refusal.answer(&self.hint, &self.rules, now)
        {
            self.believed = self.believed.saturating_add(1);
            return Update::of(Some(Err(rejection)));
        }
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
    ) -> Update<Receipt> {
        let hint = self.hint_for(permit, outcome);
        if hint.is_some() && outcome == Outcome::Ignored {
            return Update::of(Some(Receipt::Ignored));
        }
        let is_clean = hint.is_some_and(|hint| hint.clean);
        if is_clean && !self.rules.detects_slow_calls() {
            return Update::of(Some(Receipt::Counted));
        }
        let now = clock.now();
        if is_clean && !self.rules.is_slow(permit.admitted_at, now.max(self.latest)) {
            return Update::of(Some(Receipt::Counted));
        }
        let update = self.update(store, now, |slot, rules, now| slot.record(rules, permit, outcome, now));
        if update.answer.is_none() {
            if self.deferred.len() >= DEFERRED {
                self.deferred.remove(0);
            }
            self.deferred.push(Deferral { permit: *permit, outcome, at: now });
        }
        update
    }

    /// The hint, if it may answer for the slot when this permit's call ends so.
    fn hint_for(&self, permit: &Permit, outcome: Outcome) -> Option<Hint> {
        if outcome == Outcome::Failure || permit.ticket != 0 || !self.deferred.is_empty() {
            return None;
        }
        Hint::read(&self.hint).filter(|hint| hint.generation == permit.generation)
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
                    self.believed = 0;
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
        self.refusal = None;
        // Before the load, so that what is believed of what is loaded ends with any revocation that comes after.
        let revocations = self.hint.revocations();
        let loaded = store.load(&self.key)?;
        let version = loaded.as_ref().map(|&(_, version)| version);
        let mut bytes = loaded.map_or_else(|| Slot::fresh(&self.rules, now), |(bytes, _)| bytes);

        let (slot, opened) = Slot::open(&mut bytes, &self.rules, now).ok_or(Unavailable)?;
        let (before, was_refusing) = (slot.hint(), slot.refuses());
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

        if changed {
            let written = match version {
                None => store.create(&self.key, &bytes)?,
                Some(version) => store.compare_and_set(&self.key, &bytes, version)?,
            };
            if !written {
                return Ok(None);
            }
        }
        let broken = was_refusing || before.is_some_and(|before| !before.holds(after));
        self.announce(after, changed && (is_new || broken), revocations);
        self.latest = latest;
        self.refusal =
            revocations.filter(|_| refuses && !changed).map(|revocations| Refusal::new(bytes, revocations));
        Ok(Some(Update { answer: Some(effect.answer), transitions, merged, conflicts: 0, replaced }))
    }

    fn merge(
        &self,
        slot: &mut Slot<'_>,
        changed: &mut bool,
        transitions: &mut Vec<Transition>,
    ) -> Vec<Deferred> {
        let record = |&Deferral { permit, outcome, at }: &Deferral| {
            let effect = slot.record(&self.rules, &permit, outcome, at);
            *changed |= effect.changed;
            transitions.extend(effect.transition);
            Deferred { outcome, slow: self.rules.is_slow(permit.admitted_at, at), receipt: effect.answer }
        };
        self.deferred.iter().map(record).collect()
    }

    /// Brings the hint in line with the slot as it was loaded or written. Only a write that `broke` what others
    /// may believe must revoke; a grant that is found to say too much is revoked by whoever finds it.
    fn announce(&self, slot: Option<Hint>, broke: bool, revocations: Option<u64>) {
        let says_too_much = || Hint::read(&self.hint).is_some_and(|hint| !hint.holds(slot));
        let mut epoch = revocations;
        if broke || says_too_much() {
            self.hint.revoke();
            epoch = epoch.map(|number| number.wrapping_add(1));
        }
        if let (Some(hint), Some(epoch)) = (slot, epoch) {
            let word = hint.word(epoch);
            if self.hint.granted() != word {
                self.hint.grant(word);
            }
        }
    }
}
