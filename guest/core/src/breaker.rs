use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use crate::{
    Effect, Fault, Mark, Outcome, OwnedSlot, Permit, Problem, Reason, Receipt, Rejection, Rules, Settings,
    Slot, Snapshot, State,
};

/// A breaker for the threads of one process.
///
/// The slot stands behind a lock. Beside it, and written under that lock, stand a few atomics that say what most
/// calls need to know: a call that a clean closed breaker admits, a fast success that it would not remember, and
/// a call that an open breaker rejects touch no lock and write nothing.
#[derive(Debug)]
pub struct Breaker {
    rules: Rules,
    word: AtomicU64,
    latest: AtomicU64,
    entered_at: AtomicU64,
    open_until: AtomicU64,
    slot: Mutex<OwnedSlot>,
}

/// State, what follows from it for most calls, and generation in one word.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Word(u64);

impl Word {
    const CLEAN: u64 = 1 << 3;
    const ADMITS_ALL: u64 = 1 << 4;

    fn of(slot: &Slot<'_>) -> Self {
        let clean = if slot.hint().is_some_and(|hint| hint.clean) { Self::CLEAN } else { 0 };
        let admits = match slot.header.state() {
            State::Closed | State::Disabled => Self::ADMITS_ALL,
            State::Open | State::HalfOpen | State::ForcedOpen => 0,
        };
        Self(slot.header.generation.get() << 5 | admits | clean | u64::from(slot.header.state))
    }

    fn generation(self) -> u64 {
        self.0 >> 5
    }

    fn admits_all(self) -> bool {
        self.0 & Self::ADMITS_ALL != 0
    }

    fn is(self, state: State) -> bool {
        self.0 & 7 == state as u64
    }

    /// Only closed breakers are clean.
    fn is_clean(self) -> bool {
        self.0 & Self::CLEAN != 0
    }
}

impl Breaker {
    /// A breaker that has seen nothing yet.
    ///
    /// # Errors
    /// All problems of the settings.
    pub fn new(settings: &Settings, now: Mark) -> Result<Self, Vec<Problem>> {
        let rules = Rules::new(settings)?;
        let slot = OwnedSlot::fresh(&rules, now);
        Ok(Self::with_slot(rules, slot))
    }

    /// A breaker made of what [`Breaker::save`] gave, by this breaker or another, here or elsewhere. Its clock
    /// must be the same.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn restore(rules: Rules, bytes: Vec<u8>, now: Mark) -> Result<Effect<Self>, Fault> {
        let (slot, effect) = OwnedSlot::restore(bytes, &rules, now)?;
        let Effect { changed, transition, .. } = effect;
        Ok(Effect { answer: Self::with_slot(rules, slot), changed, transition })
    }

    fn with_slot(rules: Rules, mut slot: OwnedSlot) -> Self {
        let word = Word::of(&slot.slot());
        let breaker = Self {
            rules,
            word: AtomicU64::new(word.0),
            latest: AtomicU64::new(0),
            entered_at: AtomicU64::new(0),
            open_until: AtomicU64::new(0),
            slot: Mutex::new(slot.clone()),
        };
        breaker.publish(&slot.slot());
        breaker
    }

    /// The slot's bytes: everything the breaker knows.
    pub fn save(&self) -> Vec<u8> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner).to_bytes()
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.rules.settings()
    }

    /// Asks for a permit.
    #[inline]
    pub fn acquire(&self, now: Mark) -> Effect<Result<Permit, Rejection>> {
        let word = self.word();
        if word.admits_all() {
            let generation = word.generation();
            return Effect::nothing(Ok(Permit { generation, ticket: 0, admitted_at: self.clamp(now) }));
        }
        match self.reject_by_word(word, now) {
            Some(rejection) => Effect::nothing(Err(rejection)),
            None => self.acquire_from_slot(now),
        }
    }

    #[inline]
    fn reject_by_word(&self, word: Word, now: Mark) -> Option<Rejection> {
        if word.is(State::ForcedOpen) {
            return Some(Rejection { reason: Reason::ForcedOpen, retry_after: None, open_since: None });
        }
        if !word.is(State::Open) {
            return None;
        }
        let left = self.open_until.load(Ordering::Acquire).saturating_sub(self.clamp(now).nanos());
        let since = self.entered_at.load(Ordering::Acquire);
        // The word again: had the breaker moved in between, the two marks might belong to different openings.
        (left > 0 && self.word() == word).then(|| Rejection {
            reason: Reason::Open,
            retry_after: Some(Duration::from_nanos(left)),
            open_since: Some(Mark::from_nanos(since)),
        })
    }

    // Apart, so that what most calls need is small enough to be compiled into them.
    #[inline(never)]
    fn acquire_from_slot(&self, now: Mark) -> Effect<Result<Permit, Rejection>> {
        self.locked(now, |slot, rules, now| slot.acquire(rules, now))
    }

    /// Ends the call that a permit was issued for. It lasted from its admission until `now`.
    #[inline]
    pub fn record(&self, permit: &Permit, outcome: Outcome, now: Mark) -> Effect<Receipt> {
        let word = self.word();
        if word.is_clean() && outcome == Outcome::Success && word.generation() == permit.generation {
            let slow =
                self.rules.detects_slow_calls() && self.rules.is_slow(permit.admitted_at, self.clamp(now));
            if !slow {
                return Effect::nothing(Receipt::Counted);
            }
        }
        self.record_in_slot(permit, outcome, now)
    }

    #[inline(never)]
    fn record_in_slot(&self, permit: &Permit, outcome: Outcome, now: Mark) -> Effect<Receipt> {
        self.locked(now, |slot, rules, now| slot.record(rules, permit, outcome, now))
    }

    /// What the breaker looks like; nothing changes.
    pub fn snapshot(&self, now: Mark) -> Snapshot {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.slot().snapshot(&self.rules, now)
    }

    /// Rejects every call until a reset.
    pub fn force_open(&self, now: Mark) -> Effect<()> {
        self.locked(now, |slot, rules, now| slot.force_open(rules, now))
    }

    /// Lets every call through and counts none, until a reset.
    pub fn disable(&self, now: Mark) -> Effect<()> {
        self.locked(now, |slot, rules, now| slot.disable(rules, now))
    }

    /// Back to the start: closed, or disabled where the settings say so.
    pub fn reset(&self, now: Mark) -> Effect<()> {
        self.locked(now, |slot, rules, now| slot.reset(rules, now))
    }

    #[inline]
    fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    #[inline]
    fn clamp(&self, now: Mark) -> Mark {
        now.max(Mark::from_nanos(self.latest.load(Ordering::Relaxed)))
    }

    fn locked<T>(
        &self,
        now: Mark,
        operation: impl FnOnce(&mut Slot<'_>, &Rules, Mark) -> Effect<T>,
    ) -> Effect<T> {
        // No operation leaves the slot half-written, so what a panicking thread held is still sound.
        let mut owned = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let mut slot = owned.slot();
        let effect = operation(&mut slot, &self.rules, now);
        if effect.changed {
            self.publish(&slot);
        }
        effect
    }

    /// Under the lock. The word comes last: whoever sees it sees what belongs to it.
    fn publish(&self, slot: &Slot<'_>) {
        self.latest.store(slot.header.latest.get(), Ordering::Release);
        self.entered_at.store(slot.header.entered_at.get(), Ordering::Release);
        self.open_until.store(slot.header.open_until.get(), Ordering::Release);
        let word = Word::of(slot);
        if self.word() != word {
            self.word.store(word.0, Ordering::Release);
        }
    }
}
