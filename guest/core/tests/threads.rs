//! Threads that share a breaker lose no outcome and count none twice, while successes are left beside the lock.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use breakerbox_core::{Breaker, Hundredths, Mark, Outcome, Receipt, Rule, Rules, Settings, State};

const THREADS: u64 = 3;
/// Where the header has it.
const GENERATION: std::ops::Range<usize> = 20..28;
const NOW: Mark = Mark::from_millis(1_000);

fn breaker(settings: &Settings) -> Breaker {
    Breaker::new(settings, NOW).expect("the settings are sound")
}

fn end(breaker: &Breaker, outcome: Outcome, now: Mark) -> Receipt {
    let permit = breaker.acquire(now).answer.expect("the call is admitted");
    breaker.record(&permit, outcome, now).answer
}

fn on_threads(work: impl Fn(u64) + Sync) {
    let barrier = Barrier::new(usize::try_from(THREADS).expect("few threads"));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(thread);
            });
        }
    });
}

/// Were a success lost or counted twice, the failures that came before would leave the window late or early.
#[test]
fn so_many_successes_of_several_threads_move_the_window_on_by_so_many_calls() {
    for round in 0..2_000_u64 {
        let size = 40 + u32::try_from(round % 60).expect("a small number");
        let each = 5 + round % 13;
        let breaker = breaker(&Settings { window_size: size, minimum_calls: size, ..Settings::default() });
        for _ in 0..size {
            assert_eq!(end(&breaker, Outcome::Success, NOW), Receipt::Counted);
        }
        assert_eq!(end(&breaker, Outcome::Failure, NOW), Receipt::Counted);
        on_threads(|thread| {
            for call in 0..each {
                let now = Mark::from_millis(1_000 + 10 * call + thread);
                assert_eq!(end(&breaker, Outcome::Success, now), Receipt::Counted);
                if (call + thread).is_multiple_of(4) {
                    let seen = breaker.snapshot(now);
                    assert_eq!((seen.calls, seen.consecutive_failures <= 1), (size, true));
                }
            }
        });
        // One call before the failure is forgotten, and then the one that forgets it.
        let since = u32::try_from(each * THREADS).expect("a small number");
        let failed = |breaker: &Breaker| breaker.snapshot(NOW).failed;
        if since < size {
            // The latest mark that anyone brought is known.
            let latest = Mark::from_millis(1_000 + 10 * (each - 1) + THREADS - 1);
            assert_eq!(breaker.acquire(NOW).answer.map(|permit| permit.admitted_at), Ok(latest));
            for _ in since + 1..size {
                assert_eq!(failed(&breaker), 1, "round {round}");
                let _ = end(&breaker, Outcome::Success, NOW);
            }
            assert_eq!(failed(&breaker), 1, "round {round}");
            let _ = end(&breaker, Outcome::Success, NOW);
        }
        assert_eq!(failed(&breaker), 0, "round {round}");
    }
}

/// A look takes the loan back, so this is about a success that is left in the very instant in which that happens.
#[test]
fn looks_at_the_breaker_lose_no_success_and_add_none() {
    const SIZE: u32 = 10_000;
    let settings = Settings { window_size: SIZE, ..Settings::default() };
    for round in 0..20 {
        let breaker = breaker(&settings);
        for call in 0..SIZE {
            let outcome = if call == 0 { Outcome::Failure } else { Outcome::Success };
            assert_eq!(end(&breaker, outcome, NOW), Receipt::Counted);
        }
        assert_eq!(end(&breaker, Outcome::Failure, NOW), Receipt::Counted);
        let working = AtomicU32::new(2);
        on_threads(|thread| {
            if thread == 0 {
                while working.load(Ordering::Relaxed) > 0 {
                    assert_eq!(breaker.snapshot(NOW).failed, 1);
                }
                return;
            }
            for _ in 0..(SIZE - 2) / 2 {
                assert_eq!(end(&breaker, Outcome::Success, NOW), Receipt::Counted);
            }
            working.fetch_sub(1, Ordering::Relaxed);
        });
        for failed in [1, 1, 0] {
            assert_eq!(breaker.snapshot(NOW).failed, failed, "round {round}");
            assert_eq!(end(&breaker, Outcome::Success, NOW), Receipt::Counted);
        }
    }
}

/// What was counted before the breaker moved is in the counts that it moved with, and nothing else is: the rest is
/// stale, and the next window starts without it.
#[test]
fn a_move_finds_every_success_that_was_counted_before_it_and_no_other() {
    const SIZE: u32 = 16;
    let settings = Settings { window_size: SIZE, minimum_calls: SIZE, ..Settings::default() };
    for round in 0..4_000_u32 {
        let breaker = breaker(&settings);
        for call in 0..SIZE {
            let outcome = if call == 0 { Outcome::Failure } else { Outcome::Success };
            assert_eq!(end(&breaker, outcome, NOW), Receipt::Counted);
        }
        // Takes the other's place, and is forgotten by the 16th success from here.
        assert_eq!(end(&breaker, Outcome::Failure, NOW), Receipt::Counted);
        let before = round % SIZE;
        for _ in 0..before {
            assert_eq!(end(&breaker, Outcome::Success, NOW), Receipt::Counted);
        }
        let permits: Vec<_> = (0..SIZE).map(|_| breaker.acquire(NOW).answer.expect("admitted")).collect();
        let (counted, failed) = (AtomicU32::new(before), AtomicU32::new(u32::MAX));
        on_threads(|thread| {
            if thread == 0 {
                for _ in 0..round % 50 {
                    std::hint::spin_loop();
                }
                let moved = breaker.force_open(NOW).transition.expect("closed until now");
                assert_eq!((moved.from, moved.rule, moved.calls), (State::Closed, Rule::ForceOpen, SIZE));
                failed.store(moved.failed, Ordering::Relaxed);
                assert!(breaker.reset(NOW).changed);
                return;
            }
            for permit in permits.iter().skip(usize::from(thread == 2)).step_by(2) {
                match breaker.record(permit, Outcome::Success, NOW).answer {
                    Receipt::Counted => drop(counted.fetch_add(1, Ordering::Relaxed)),
                    other => assert_eq!(other, Receipt::Stale),
                }
            }
        });
        let still_there = u32::from(counted.into_inner() < SIZE);
        assert_eq!(failed.into_inner(), still_there, "round {round}");
        let seen = breaker.snapshot(NOW);
        assert_eq!((seen.state, seen.generation, seen.calls), (State::Closed, 3, 0), "round {round}");
    }
}

/// What a breaker with other settings saved may be past these settings' thresholds: the next success opens.
#[test]
fn nothing_is_left_beside_the_lock_on_counts_that_were_not_judged() {
    let lenient =
        Settings { window_size: 4, failure_rate_threshold: Hundredths(10_000), ..Settings::default() };
    let before = breaker(&lenient);
    for outcome in [Outcome::Success, Outcome::Success, Outcome::Success, Outcome::Failure] {
        assert_eq!(end(&before, outcome, NOW), Receipt::Counted);
    }
    let strict = Rules::new(&Settings { failure_rate_threshold: Hundredths(2_500), ..lenient });
    let restored = Breaker::restore(strict.expect("sound"), before.save(), NOW).expect("a slot").answer;
    assert_eq!(end(&restored, Outcome::Success, NOW), Receipt::Counted);
    assert_eq!(restored.snapshot(NOW).state, State::Open);
}

/// There is no room for all of it beside the lock.
#[test]
fn a_generation_of_64_bits_is_counted_as_any_other() {
    let settings = Settings { window_size: 4, ..Settings::default() };
    let mut bytes = breaker(&settings).save();
    let first = breaker(&settings).acquire(NOW).answer.expect("admitted").generation;
    assert_eq!(bytes.get(GENERATION), Some(&first.to_le_bytes()[..]));
    bytes.get_mut(GENERATION).expect("a header").copy_from_slice(&(u64::MAX - 1).to_le_bytes());
    let rules = Rules::new(&settings).expect("sound");
    let restored = Breaker::restore(rules, bytes, NOW).expect("a slot").answer;
    for outcome in [Outcome::Success, Outcome::Success, Outcome::Failure, Outcome::Success, Outcome::Success]
    {
        assert_eq!(end(&restored, outcome, NOW), Receipt::Counted);
    }
    let seen = restored.snapshot(NOW);
    assert_eq!((seen.generation, seen.calls, seen.failed), (u64::MAX - 1, 4, 1));
}
