//! What workers are told that share a slot, while one of them has written and not yet revoked, or after a clock stepped back.

use std::cell::Cell;
use std::time::Duration;

use breakerbox_core::{
    Hundredths, Mark, MemoryStore, Outcome, Permit, Receipt, Recorded, Rejection, Revocations, Rules,
    Settings, Shared, Snapshot, State, Update, WindowType,
};

/// Revocations by one worker. If it is late they have not come when the test is over.
#[derive(Debug)]
struct Port<'a> {
    number: &'a Cell<u64>,
    is_late: bool,
}

impl Revocations for Port<'_> {
    fn number(&self) -> Option<u64> {
        Some(self.number.get())
    }

    fn revoke(&self) {
        if !self.is_late {
            self.number.set(self.number.get() + 1);
        }
    }
}

/// What the workers share.
#[derive(Default)]
struct Room {
    store: MemoryStore,
    number: Cell<u64>,
}

struct Worker<'a> {
    store: &'a MemoryStore,
    shared: Shared<Port<'a>>,
}

impl Room {
    /// A worker that has found the slot as it is.
    fn worker(&self, settings: &Settings, is_late: bool) -> Worker<'_> {
        let rules = Rules::new(settings).expect("the settings are sound");
        let port = Port { number: &self.number, is_late };
        let mut shared = Shared::new(rules, b"slot".to_vec(), port);
        assert!(shared.attach(&self.store, Mark::ZERO).answer.is_some());
        Worker { store: &self.store, shared }
    }
}

impl Worker<'_> {
    fn ask(&mut self, now: u64) -> Result<Permit, Rejection> {
        let update = self.shared.acquire(self.store, Mark::from_millis(now));
        update.answer.expect("the store answers")
    }

    fn acquire(&mut self, now: u64) -> Permit {
        self.ask(now).expect("the call is let through")
    }

    fn record(&mut self, permit: &Permit, outcome: Outcome, now: u64) -> Update<Recorded> {
        let update = self.shared.record(self.store, permit, outcome, Mark::from_millis(now));
        assert_eq!(update.answer.map(|recorded| recorded.receipt), Some(Receipt::Counted));
        update
    }

    fn snapshot(&self) -> Snapshot {
        self.shared.snapshot(self.store, Mark::ZERO).expect("there is a slot")
    }
}

#[test]
fn a_breaker_that_was_forced_open_rejects_though_an_earlier_move_is_not_revoked() {
    let (room, settings) = (Room::default(), Settings::default());
    let [mut late, mut operator, mut asked] = [true, false, false].map(|late| room.worker(&settings, late));
    assert!(asked.ask(1).is_ok());
    let _ = late.shared.disable(&room.store, Mark::ZERO);
    let moved = operator.shared.force_open(&room.store, Mark::ZERO);
    assert_eq!(moved.transitions.last().map(|last| last.to), Some(State::ForcedOpen));
    assert!(asked.ask(2).is_err());
}

#[test]
fn a_breaker_that_was_reset_lets_calls_through_though_an_earlier_move_is_not_revoked() {
    let (room, settings) = (Room::default(), Settings::default());
    let mut operator = room.worker(&settings, false);
    let _ = operator.shared.force_open(&room.store, Mark::ZERO);
    let [mut late, mut asked] = [true, false].map(|late| room.worker(&settings, late));
    assert!(asked.ask(1).is_err());
    let _ = late.shared.disable(&room.store, Mark::ZERO);
    let moved = operator.shared.reset(&room.store, Mark::ZERO);
    assert_eq!(moved.transitions.last().map(|last| last.to), Some(State::Closed));
    assert!(asked.ask(2).is_ok());
}

/// The success is written only by a worker that knows that the window is not clean any more.
#[test]
fn a_success_ends_a_row_of_failures_though_the_first_of_them_is_not_revoked() {
    let settings = Settings {
        window_size: 4,
        minimum_calls: 4,
        failure_rate_threshold: Hundredths(10_000),
        consecutive_failures: Some(3),
        ..Settings::default()
    };
    let room = Room::default();
    let mut first = room.worker(&settings, false);
    for _ in 0..4 {
        let permit = first.acquire(1);
        let _ = first.record(&permit, Outcome::Success, 1);
    }
    let [mut late, mut failing, mut other] = [true, false, false].map(|late| room.worker(&settings, late));
    let [of_late, of_failing, of_other] = [late.acquire(2), failing.acquire(2), other.acquire(2)];
    let _ = late.record(&of_late, Outcome::Failure, 3);
    let _ = failing.record(&of_failing, Outcome::Failure, 3);
    let _ = other.record(&of_other, Outcome::Success, 3);
    assert_eq!(other.snapshot().consecutive_failures, 0);
}

#[test]
fn no_call_is_slow_because_the_clock_stepped_back_before_it_began() {
    let settings = Settings {
        slow_call_duration: Duration::from_secs(1),
        window_type: WindowType::Time,
        window_size: 60,
        ..Settings::default()
    };
    let room = Room::default();
    let mut first = room.worker(&settings, false);
    let failed = first.acquire(100);
    let _ = first.record(&failed, Outcome::Failure, 100);

    let [mut before, mut after] = [room.worker(&settings, false), room.worker(&settings, false)];
    let permit = before.acquire(9_990);
    let _ = before.record(&permit, Outcome::Success, 10_000);
    let permit = after.acquire(5_000);
    let _ = after.record(&permit, Outcome::Success, 5_010);
    let seen = after.snapshot();
    assert_eq!((seen.calls, seen.slow), (3, 0));
}

#[test]
fn no_call_is_slow_because_its_worker_saw_a_later_mark_while_it_was_under_way() {
    let settings = Settings { slow_call_duration: Duration::from_secs(1), ..Settings::default() };
    let room = Room::default();
    let [mut before, mut after] = [room.worker(&settings, false), room.worker(&settings, false)];
    for (worker, now) in [(&mut before, 100), (&mut after, 40_000)] {
        let failed = worker.acquire(now);
        let _ = worker.record(&failed, Outcome::Failure, now);
    }
    let permit = before.acquire(200_000);
    let _ = before.record(&permit, Outcome::Failure, 200_000);
    // The clock has stepped back.
    let [first, second] = [after.acquire(50_000), after.acquire(50_000)];
    let _ = after.record(&first, Outcome::Success, 50_010);
    let _ = after.record(&second, Outcome::Success, 50_020);
    let seen = after.snapshot();
    assert_eq!((seen.calls, seen.slow), (5, 0));
}
