//! A call on a breaker allocates nothing, whatever becomes of it.

use std::time::Duration;

use allocation_counter::measure;
use breakerbox_core::{Breaker, Mark, Outcome, Permit, Receipt, Rejection, Settings, State, WindowType};

const NOW: Mark = Mark::from_millis(1_000);
const LATER: Mark = Mark::from_millis(100_000);

fn kinds() -> [Settings; 3] {
    let count = Settings { window_size: 20, minimum_calls: 20, half_open_calls: 2, ..Settings::default() };
    let slow = Settings { slow_call_duration: Duration::from_secs(1), ..count.clone() };
    let time = Settings { window_type: WindowType::Time, ..count.clone() };
    [count, slow, time]
}

fn breaker(settings: &Settings) -> Breaker {
    Breaker::new(settings, NOW).expect("the settings are sound")
}

fn admitted(breaker: &Breaker, now: Mark) -> Permit {
    breaker.acquire(now).answer.expect("the call is admitted")
}

fn rejected(breaker: &Breaker, now: Mark) -> Rejection {
    breaker.acquire(now).answer.expect_err("the call is rejected")
}

fn end(breaker: &Breaker, outcome: Outcome, now: Mark) -> Receipt {
    let permit = admitted(breaker, now);
    breaker.record(&permit, outcome, now).answer
}

#[test]
fn calls_of_a_closed_breaker_allocate_nothing() {
    for settings in kinds() {
        let breaker = breaker(&settings);
        let counted = measure(|| {
            // Clean and through the atomics first, then through the slot; in the end across a time window's edge.
            for number in 0..1_000 {
                let outcome =
                    if number > 500 && number % 10 == 0 { Outcome::Failure } else { Outcome::Success };
                assert_eq!(end(&breaker, outcome, Mark::from_millis(1_000 + number)), Receipt::Counted);
            }
            assert_eq!(end(&breaker, Outcome::Failure, LATER), Receipt::Counted);
            assert_eq!(end(&breaker, Outcome::Ignored, LATER), Receipt::Ignored);
            assert_eq!(breaker.snapshot(LATER).state, State::Closed);
        });
        assert_eq!(counted.count_total, 0, "{settings:?}");
    }
}

#[test]
fn moves_and_rejections_allocate_nothing() {
    for settings in kinds() {
        let breaker = breaker(&settings);
        let counted = measure(|| {
            for _ in 0..20 {
                assert_eq!(end(&breaker, Outcome::Failure, NOW), Receipt::Counted);
            }
            assert!(rejected(&breaker, NOW).retry_after.is_some());
            let probes = [admitted(&breaker, LATER), admitted(&breaker, LATER)];
            rejected(&breaker, LATER);
            for probe in &probes {
                assert_eq!(breaker.record(probe, Outcome::Success, LATER).answer, Receipt::Counted);
            }
            assert_eq!(breaker.snapshot(LATER).state, State::Closed);
            assert!(breaker.force_open(LATER).changed);
            rejected(&breaker, LATER);
        });
        assert_eq!(counted.count_total, 0, "{settings:?}");
    }
}

#[test]
fn what_allocates_is_noticed() {
    let breaker = breaker(&Settings::default());
    assert!(measure(|| drop(breaker.save())).count_total > 0);
}
