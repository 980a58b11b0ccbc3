use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::word::Word;
use crate::{
    Effect, Fault, Mark, Outcome, OwnedSlot, Permit, Problem, Reason, Receipt, Rejection, Rules, Settings,
    Slot, Snapshot, State, WindowType,
};

/// A breaker for the threads of one process.
///
/// The slot stands behind a lock. Beside it stand a few atomics that say what most calls need to know: a call that
/// a closed breaker admits, a fast success that a clean one would not remember, and a call that an open breaker
/// rejects touch no lock and write nothing.
///
/// All else is written under the lock, but for one thing. Where the count window is full and not clean, the word
/// also lends: so many of the calls that the window forgets next were fast successes, and one more of these in
/// place of each leaves every count, and so every verdict, as it is. Such a success is left in the word by a
/// compare-and-set, which answers for state, generation and loan at once. Whoever takes the lock takes the loan
/// back before anything else, again in one step, and moves the window on by as many successes as were left. So
/// each of them is in the window once, before whatever the lock's holder does, and none is left in a generation
/// that has ended.
///
/// The latest mark only ever rises. It is raised before a success is left, so whoever finds the success finds the
/// mark; if the breaker moves in between, the mark of an outcome that turns out to be stale may stay.
#[derive(Debug)]
pub struct Breaker {
    rules: Rules,
    word: AtomicU64,
    latest: AtomicU64,
    entered_at: AtomicU64,
    open_until: AtomicU64,
    held: Apart<Mutex<Held>>,
}

/// How many turns to wait after losing a compare-and-set: about as many as the standard library's mutex spins.
const BACK_OFF: u32 = 100;

/// Begins a cache line of its own: who takes the lock disturbs nobody who only reads what stands beside it.
#[derive(Debug)]
#[repr(align(64))]
struct Apart<T>(T);

/// What the lock guards.
#[derive(Debug)]
struct Held {
    slot: OwnedSlot,
    /// What the word was given to lend and is still out.
    lent: u32,
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
        let view = slot.slot();
        Self {
            rules,
            // Nothing is lent yet: these rules may never have judged what the slot holds.
            word: AtomicU64::new(Word::of(&view, false).0),
            latest: AtomicU64::new(view.header.latest.get()),
            entered_at: AtomicU64::new(view.header.entered_at.get()),
            open_until: AtomicU64::new(view.header.open_until.get()),
            held: Apart(Mutex::new(Held { slot, lent: 0 })),
        }
    }

    /// The slot's bytes: everything the breaker knows.
    pub fn save(&self) -> Vec<u8> {
        self.hold().slot.to_bytes()
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
        if let Some(rejection) = self.reject_by_word(word, now) {
            return Effect::nothing(Err(rejection));
        }
        // Put together anew, or the permit of the first answer would have to pass through memory, too.
        let Effect { answer, changed, transition } = self.acquire_from_slot(now);
        #[allow(clippy::map_identity)]
        let answer = answer.map(|Permit { generation, ticket, admitted_at }| Permit {
            generation,
            ticket,
            admitted_at,
        });
        Effect { answer, changed, transition }
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
        self.locked(|slot, rules| slot.acquire(rules, now))
    }

    /// Ends the call that a permit was issued for. It lasted from its admission until `now`.
    #[inline]
    pub fn record(&self, permit: &Permit, outcome: Outcome, now: Mark) -> Effect<Receipt> {
        let word = self.word();
        if outcome == Outcome::Success && !self.is_slow(permit, now) {
            if word.is_clean_in(permit.generation) {
                return Effect::nothing(Receipt::Counted);
            }
            if word.lends_in(permit.generation)
                && (self.leave_success(word, now) || self.leave_success_late(*permit, now))
            {
                return Effect { answer: Receipt::Counted, changed: true, transition: None };
            }
        }
        self.record_in_slot(*permit, outcome, now)
    }

    /// Leaves a fast success in a word that lends, if it is still what it was.
    #[inline]
    fn leave_success(&self, word: Word, now: Mark) -> bool {
        self.see(now);
        // `Release` takes the mark along.
        self.word
            .compare_exchange(word.0, word.with_one_left().0, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// The same where somebody else is at the word. Threads that take turns pass it to and fro less often.
    #[cold]
    #[inline(never)]
    fn leave_success_late(&self, permit: Permit, now: Mark) -> bool {
        loop {
            (0..BACK_OFF).for_each(|_| core::hint::spin_loop());
            let word = self.word();
            // How long it took is asked anew each turn: whoever came first may have brought a later mark.
            if !word.lends_in(permit.generation) || self.is_slow(&permit, now) {
                return false;
            }
            if self.leave_success(word, now) {
                return true;
            }
        }
    }

    #[inline(never)]
    fn record_in_slot(&self, permit: Permit, outcome: Outcome, now: Mark) -> Effect<Receipt> {
        self.locked(|slot, rules| slot.record(rules, &permit, outcome, now))
    }

    /// What the breaker looks like; nothing changes.
    pub fn snapshot(&self, now: Mark) -> Snapshot {
        self.hold().slot.slot().snapshot(&self.rules, now)
    }

    /// Rejects every call until a reset.
    pub fn force_open(&self, now: Mark) -> Effect<()> {
        self.locked(|slot, rules| slot.force_open(rules, now))
    }

    /// Lets every call through and counts none, until a reset.
    pub fn disable(&self, now: Mark) -> Effect<()> {
        self.locked(|slot, rules| slot.disable(rules, now))
    }

    /// Back to the start: closed, or disabled where the settings say so.
    pub fn reset(&self, now: Mark) -> Effect<()> {
        self.locked(|slot, rules| slot.reset(rules, now))
    }

    #[inline]
    fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    #[inline]
    fn clamp(&self, now: Mark) -> Mark {
        now.max(Mark::from_nanos(self.latest.load(Ordering::Relaxed)))
    }

    #[inline]
    fn is_slow(&self, permit: &Permit, now: Mark) -> bool {
        self.rules.detects_slow_calls() && self.rules.is_slow(permit.admitted_at, self.clamp(now))
    }

    #[inline]
    fn see(&self, now: Mark) {
        if self.latest.load(Ordering::Relaxed) < now.nanos() {
            self.raise_latest(now);
        }
    }

    // Apart, as it is a loop on most machines.
    #[inline(never)]
    fn raise_latest(&self, now: Mark) {
        self.latest.fetch_max(now.nanos(), Ordering::Relaxed);
    }

    /// Takes the lock, and back what is lent: the slot knows of every outcome that was counted until now.
    fn hold(&self) -> MutexGuard<'_, Held> {
        // No operation leaves the slot half-written, so what a panicking thread held is still sound.
        let mut held = self.held.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.lent > 0 {
            // All else in the word is the lock's holder's to change, so a swap leaves it as it is.
            let word = Word(self.word.swap(self.word().with_nothing_lent().0, Ordering::AcqRel));
            let left = held.lent.saturating_sub(word.lent());
            held.lent = 0;
            if left > 0 {
                let latest = Mark::from_nanos(self.latest.load(Ordering::Relaxed));
                held.slot.slot().pass_fast_successes(left, latest);
            }
        }
        held
    }

    fn locked<T>(&self, operation: impl FnOnce(&mut Slot<'_>, &Rules) -> Effect<T>) -> Effect<T> {
        let mut held = self.hold();
        let mut slot = held.slot.slot();
        let effect = operation(&mut slot, &self.rules);
        if effect.changed {
            let lent = self.publish(&slot, effect.transition.is_some());
            held.lent = lent;
        }
        effect
    }

    /// Under the lock. The word comes last: whoever sees it sees what belongs to it. Returns what it lends.
    ///
    /// What changes a closed slot without a move is an outcome that was judged and reached no rule, so nothing
    /// is lent on counts that would still open the breaker.
    fn publish(&self, slot: &Slot<'_>, moved: bool) -> u32 {
        self.see(slot.latest());
        if moved {
            self.entered_at.store(slot.header.entered_at.get(), Ordering::Release);
            self.open_until.store(slot.header.open_until.get(), Ordering::Release);
        }
        if !moved && slot.header.window_type != WindowType::Count as u8 {
            // The word says nothing of what a time window holds.
            return 0;
        }
        let word = Word::of(slot, !moved);
        if self.word() != word {
            self.word.store(word.0, Ordering::Release);
        }
        word.lent()
    }
}
