use alloc::vec::Vec;
use core::time::Duration;

use crate::header::Header;
use crate::window::Counts;
use crate::{
    Effect, Fault, HalfOpenPolicy, Hint, Mark, Outcome, OwnedSlot, Permit, Reason, Receipt, Rejection, Rule,
    Rules, Snapshot, State, WindowType, probes, window,
};

/// One breaker's state: a view of its bytes, on which every operation works in place.
///
/// Window shape and number of probes are the slot's own; thresholds, waits and policies are those of the
/// [`Rules`] that an operation brings along.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(crate) header: &'a mut Header,
    pub(crate) body: &'a mut [u8],
}

/// How a buffer was when a slot was made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A slot, left as it was.
    Intact,
    /// Not a slot: its bytes were replaced by a fresh one's.
    Replaced(Fault),
}

impl<'a> Slot<'a> {
    /// The bytes of a breaker that has seen nothing yet.
    pub fn fresh(rules: &Rules, now: Mark) -> Vec<u8> {
        OwnedSlot::fresh(rules, now).to_bytes()
    }

    /// Makes a slot of the buffer. Bytes that are no slot are replaced by a fresh one's; `Opened` says so.
    pub fn open(bytes: &'a mut Vec<u8>, rules: &Rules, now: Mark) -> Option<(Self, Opened)> {
        let opened = match Header::parse(bytes) {
            Ok(_) => Opened::Intact,
            Err(fault) => {
                *bytes = Self::fresh(rules, now);
                Opened::Replaced(fault)
            }
        };
        // Never `None`: a fresh slot is a slot. Saying so without a panic takes this `?`.
        let (header, body) = Header::parse(bytes).ok()?;
        Some((Slot { header, body }, opened))
    }

    /// Views the bytes as a slot.
    ///
    /// # Errors
    /// What is wrong with the bytes. Only checks that take the same time for any size are made; [`Slot::audit`]
    /// makes the others.
    pub fn parse(bytes: &'a mut [u8]) -> Result<Self, Fault> {
        Header::parse(bytes).map(|(header, body)| Slot { header, body })
    }

    /// Compares the running counts with the window, call by call: for bytes that come from outside.
    ///
    /// # Errors
    /// [`Fault::Content`] if they differ.
    pub fn audit(&self) -> Result<(), Fault> {
        let sound = self.header.state() != State::Closed || window::agrees(self.header, self.body);
        sound.then_some(()).ok_or(Fault::Content)
    }

    /// Asks for a permit.
    pub fn acquire(&mut self, rules: &Rules, now: Mark) -> Effect<Result<Permit, Rejection>> {
        let now = self.header.clamp(now);
        match self.header.state() {
            State::Closed | State::Disabled => Effect::nothing(Ok(self.permit(0, now))),
            State::ForcedOpen => Effect::nothing(Err(rejection(Reason::ForcedOpen))),
            State::Open if now.nanos() < self.header.open_until.get() => {
                Effect::nothing(Err(self.rejection_in_open(now)))
            }
            State::Open => {
                let transition = self.enter(rules, Rule::WaitElapsed, now);
                let ticket = probes::issue(self.header, self.body).unwrap_or(0);
                Effect::changed(Ok(self.permit(ticket, now)), transition)
            }
            State::HalfOpen => self.acquire_in_half_open(rules, now),
        }
    }

    fn acquire_in_half_open(&mut self, rules: &Rules, now: Mark) -> Effect<Result<Permit, Rejection>> {
        let max_wait = rules.settings().max_wait_in_half_open;
        let entered = Mark::from_nanos(self.header.entered_at.get());
        if !max_wait.is_zero() && now >= entered.after(max_wait) {
            let transition = self.enter(rules, Rule::MaxWait, now);
            return Effect::changed(Err(self.rejection_in_open(now)), transition);
        }
        match probes::issue(self.header, self.body) {
            Some(ticket) => {
                self.see(now);
                Effect::changed(Ok(self.permit(ticket, now)), None)
            }
            None => Effect::nothing(Err(rejection(Reason::HalfOpenFull))),
        }
    }

    /// Ends the call that a permit was issued for. It lasted from its admission until `now`.
    pub fn record(&mut self, rules: &Rules, permit: &Permit, outcome: Outcome, now: Mark) -> Effect<Receipt> {
        if permit.generation != self.header.generation.get() {
            return Effect::nothing(Receipt::Stale);
        }
        let now = self.header.clamp(now);
        let slow = rules.is_slow(permit.admitted_at, now);
        match (self.header.state(), outcome) {
            (State::Closed, Outcome::Ignored) | (State::Disabled, _) => Effect::nothing(Receipt::Ignored),
            (State::Closed, Outcome::Success) if !slow && self.is_clean() => {
                Effect::nothing(Receipt::Counted)
            }
            (State::Closed, _) => self.record_in_closed(rules, outcome == Outcome::Failure, slow, now),
            (State::HalfOpen, _) => self.record_probe(rules, permit, outcome, slow, now),
            (State::Open | State::ForcedOpen, _) => Effect::nothing(Receipt::Stale),
        }
    }

    fn record_in_closed(&mut self, rules: &Rules, failed: bool, slow: bool, now: Mark) -> Effect<Receipt> {
        self.see(now);
        window::add(self.header, self.body, failed, slow, now);
        let in_a_row = if failed { self.header.consecutive.get().saturating_add(1) } else { 0 };
        self.header.consecutive = in_a_row.into();
        match self.rule_reached(rules) {
            None => Effect::changed(Receipt::Counted, None),
            Some(rule) => Effect::changed(Receipt::Counted, self.enter(rules, rule, now)),
        }
    }

    /// Which rule opens the closed breaker now, if any.
    fn rule_reached(&self, rules: &Rules) -> Option<Rule> {
        let minimum = rules.minimum(self.header.window_type(), self.header.window_size.get());
        let in_a_row = self.header.consecutive.get();
        let counts = Counts::of(self.header);
        let judged = if counts.calls >= minimum { rate_reached(rules, counts) } else { None };
        judged.or_else(|| {
            let limit = rules.settings().consecutive_failures?;
            (in_a_row >= limit).then_some(Rule::ConsecutiveFailures)
        })
    }

    fn record_probe(
        &mut self,
        rules: &Rules,
        permit: &Permit,
        outcome: Outcome,
        slow: bool,
        now: Mark,
    ) -> Effect<Receipt> {
        if !probes::take_back(self.header, self.body, permit.ticket) {
            return Effect::nothing(Receipt::Stale);
        }
        self.see(now);
        if outcome == Outcome::Ignored {
            return Effect::changed(Receipt::Ignored, None);
        }
        let failed = outcome == Outcome::Failure;
        let counts = Counts::of(self.header).plus(Counts::one(failed, slow));
        counts.store(self.header);
        let all_ended = counts.calls >= self.header.half_open_calls.get();
        // All that have ended: rules that only asked for a rate may have let some of them pass.
        let has_bad = counts.failed > 0 || (rules.detects_slow_calls() && counts.slow > 0);
        let verdict = match rules.settings().half_open_policy {
            HalfOpenPolicy::AllMustSucceed if has_bad => Some(Rule::ProbeFailed),
            HalfOpenPolicy::Rate if all_ended => {
                Some(rate_reached(rules, counts).unwrap_or(Rule::ProbesSucceeded))
            }
            HalfOpenPolicy::AllMustSucceed if all_ended => Some(Rule::ProbesSucceeded),
            HalfOpenPolicy::Rate | HalfOpenPolicy::AllMustSucceed => None,
        };
        let transition = verdict.and_then(|rule| self.enter(rules, rule, now));
        Effect::changed(Receipt::Counted, transition)
    }

    /// Rejects every call until a reset.
    pub fn force_open(&mut self, rules: &Rules, now: Mark) -> Effect<()> {
        self.control(rules, Rule::ForceOpen, now)
    }

    /// Lets every call through and counts none, until a reset.
    pub fn disable(&mut self, rules: &Rules, now: Mark) -> Effect<()> {
        self.control(rules, Rule::Disable, now)
    }

    /// Back to the start with an empty window: closed, or disabled where the settings say so.
    pub fn reset(&mut self, rules: &Rules, now: Mark) -> Effect<()> {
        self.control(rules, Rule::Reset, now)
    }

    fn control(&mut self, rules: &Rules, rule: Rule, now: Mark) -> Effect<()> {
        let now = self.header.clamp(now);
        match self.enter(rules, rule, now) {
            None => Effect::nothing(()),
            transition => Effect::changed((), transition),
        }
    }

    /// What the breaker looks like; nothing changes.
    pub fn snapshot(&self, rules: &Rules, now: Mark) -> Snapshot {
        Snapshot::of(self.header, self.body, rules, now)
    }

    /// What a worker may go by without looking at the slot again: `None` unless it is closed.
    pub fn hint(&self) -> Option<Hint> {
        (self.header.state() == State::Closed)
            .then(|| Hint { generation: self.header.generation.get(), clean: self.is_clean() })
    }

    /// Whether calls are rejected whoever asks, until the slot is written again or the wait is over.
    pub(crate) fn refuses(&self) -> bool {
        matches!(self.header.state(), State::Open | State::ForcedOpen)
    }

    /// Takes off the mark of [`Slot::mark_unrevoked`]; whether it was there.
    pub(crate) fn take_unrevoked(&mut self) -> bool {
        core::mem::replace(&mut self.header.unrevoked, 0) != 0
    }

    /// Notes for whoever loads the slot that what was found in it before this write may still be believed.
    pub(crate) fn mark_unrevoked(&mut self) {
        self.header.unrevoked = 1;
    }

    /// The edition of the rules that the slot has the shape of, as far as it could be changed yet.
    pub fn revision(&self) -> u32 {
        self.header.revision.get()
    }

    /// The latest mark that the slot has written down.
    pub(crate) fn latest(&self) -> Mark {
        Mark::from_nanos(self.header.latest.get())
    }

    /// Whether a fast success would change nothing: a count window that is full and holds only such.
    pub(crate) fn is_clean(&self) -> bool {
        self.header.window_type == WindowType::Count as u8
            && self.header.calls == self.header.window_size
            && self.header.failed.get() == 0
            && self.header.slow.get() == 0
    }

    fn permit(&self, ticket: u32, admitted_at: Mark) -> Permit {
        Permit { generation: self.header.generation.get(), ticket, admitted_at }
    }

    fn rejection_in_open(&self, now: Mark) -> Rejection {
        let left = self.header.open_until.get().saturating_sub(now.nanos());
        Rejection {
            reason: Reason::Open,
            retry_after: Some(Duration::from_nanos(left)),
            open_since: Some(Mark::from_nanos(self.header.entered_at.get())),
        }
    }

    pub(crate) fn see(&mut self, now: Mark) {
        self.header.latest = now.nanos().into();
    }
}

/// Which of the two rates opens the breaker, if one does.
fn rate_reached(rules: &Rules, counts: Counts) -> Option<Rule> {
    let settings = rules.settings();
    if settings.failure_rate_threshold.reached(counts.failed, counts.calls) {
        Some(Rule::FailureRate)
    } else if rules.detects_slow_calls()
        && settings.slow_call_rate_threshold.reached(counts.slow, counts.calls)
    {
        Some(Rule::SlowCallRate)
    } else {
        None
    }
}

fn rejection(reason: Reason) -> Rejection {
    Rejection { reason, retry_after: None, open_since: None }
}
