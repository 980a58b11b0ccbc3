use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::bindings::exports::breakerbox::breaker::breakers::{GuestBreaker, RestoreError, SlotFault};
use crate::bindings::exports::breakerbox::breaker::settings::{
    Backoff, HalfOpenPolicy, Settings, WindowType,
};
use crate::bindings::exports::breakerbox::breaker::types::{
    Decision, EventKind, Outcome, Permit, Reason, Receipt, Rejection, Rule, Snapshot, State,
};
use crate::breaker::Breaker;
use crate::events::Events;
use crate::settings;

const SECOND: u64 = 1_000_000_000;

/// Nothing set, so everything at its default.
fn unset() -> Settings {
    Settings {
        window_type: None,
        window_size: None,
        minimum_calls: None,
        failure_rate_threshold: None,
        slow_call_duration: None,
        slow_call_rate_threshold: None,
        consecutive_failures: None,
        wait_in_open: None,
        open_backoff: None,
        open_jitter: None,
        half_open_calls: None,
        half_open_policy: None,
        max_wait_in_half_open: None,
        enabled: None,
    }
}

/// Opens at the second failure, for five seconds, and asks for one probe.
fn small() -> Settings {
    Settings { window_size: Some(2), wait_in_open: Some(5 * SECOND), half_open_calls: Some(1), ..unset() }
}

fn breaker(settings: Settings) -> Breaker {
    Breaker::new(settings, SECOND).expect("the settings are sound")
}

fn admitted(decision: Decision) -> Permit {
    match decision {
        Decision::Admitted(permit) => permit,
        Decision::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

fn rejected(decision: Decision) -> Rejection {
    match decision {
        Decision::Admitted(permit) => panic!("{permit:?}"),
        Decision::Rejected(rejection) => rejection,
    }
}

fn call(breaker: &Breaker, outcome: Outcome, now: u64) -> Receipt {
    breaker.record(admitted(breaker.acquire(now)), outcome, now)
}

fn kinds(breaker: &Breaker) -> Vec<EventKind> {
    breaker.take_events().events.iter().map(|event| event.kind).collect()
}

fn keys(result: Result<breakerbox_core::Rules, Vec<crate::wit::Problem>>) -> Vec<(String, String)> {
    let problems = result.expect_err("the settings are wrong");
    problems.into_iter().map(|problem| (problem.code, problem.key)).collect()
}

#[test]
fn a_breaker_opens_rejects_probes_and_closes() {
    let breaker = breaker(small());
    let late = admitted(breaker.acquire(SECOND));
    assert_eq!(call(&breaker, Outcome::Failure, SECOND), Receipt::Counted);
    assert_eq!(call(&breaker, Outcome::Failure, 2 * SECOND), Receipt::Counted);

    let rejection = rejected(breaker.acquire(3 * SECOND));
    assert_eq!(rejection.reason, Reason::Open);
    assert_eq!(rejection.retry_after, Some(4 * SECOND));
    assert_eq!(rejection.open_since, Some(2 * SECOND));
    assert_eq!(breaker.record(late, Outcome::Success, 3 * SECOND), Receipt::Stale);

    let probe = admitted(breaker.acquire(7 * SECOND));
    assert_eq!(probe.ticket, 1);
    assert_eq!(rejected(breaker.acquire(7 * SECOND)).reason, Reason::HalfOpenFull);
    assert_eq!(breaker.record(probe, Outcome::Success, 8 * SECOND), Receipt::Counted);
    assert_eq!(breaker.snapshot(8 * SECOND).state, State::Closed);

    assert_eq!(kinds(&breaker), [EventKind::Opened, EventKind::HalfOpened, EventKind::Closed]);
    assert_eq!(kinds(&breaker), []);
}

#[test]
fn a_snapshot_says_what_happened_and_why() {
    let breaker = breaker(small());
    assert!(breaker.snapshot(SECOND).last.is_none());
    call(&breaker, Outcome::Success, SECOND);
    call(&breaker, Outcome::Failure, 2 * SECOND);

    let snapshot = breaker.snapshot(3 * SECOND);
    let Snapshot {
        state, generation, since, failure_rate, slow_call_rate, calls, failed, retry_after, ..
    } = &snapshot;
    assert_eq!((*state, *generation, *since), (State::Open, 2, 2 * SECOND));
    assert_eq!((*failure_rate, *slow_call_rate), (Some(50.0), None));
    assert_eq!((*calls, *failed, *retry_after), (2, 1, Some(4 * SECOND)));

    let last = snapshot.last.expect("it has moved");
    assert_eq!((last.from_state, last.to_state, last.rule), (State::Closed, State::Open, Rule::FailureRate));
    assert_eq!((last.threshold, last.wait, last.at), (Some(50.0), Some(5 * SECOND), 2 * SECOND));
    let why = "closed -> open: failure rate 50.00% reached 50.00% (1 of 2 calls failed); next probe in 5s"
        .to_string();
    assert_eq!(last.why, why);
}

#[test]
fn controls_move_a_breaker_by_hand() {
    let breaker = breaker(unset());
    breaker.force_open(SECOND);
    breaker.force_open(SECOND);
    let Rejection { reason, retry_after, open_since } = rejected(breaker.acquire(SECOND));
    assert_eq!((reason, retry_after, open_since), (Reason::ForcedOpen, None, None));
    breaker.disable(SECOND);
    assert_eq!(call(&breaker, Outcome::Failure, SECOND), Receipt::Ignored);
    breaker.reset(SECOND);
    assert_eq!(breaker.snapshot(SECOND).state, State::Closed);
    assert_eq!(kinds(&breaker), [EventKind::ForcedOpen, EventKind::Disabled, EventKind::Reset]);
}

#[test]
fn events_that_nobody_takes_are_bounded_and_counted() {
    let breaker = breaker(unset());
    let most = u64::try_from(Events::MOST).expect("a small number");
    for nth in 0..most + 3 {
        breaker.reset(nth * SECOND);
    }
    let batch = breaker.take_events();
    assert_eq!((batch.events.len(), batch.dropped), (Events::MOST, 3));
    assert_eq!(batch.events.last().map(|event| event.transition.at), Some((most + 2) * SECOND));
    breaker.disable(SECOND);
    let batch = breaker.take_events();
    assert_eq!((batch.events.len(), batch.dropped), (1, 0));
}

#[test]
fn a_saved_breaker_goes_on_where_it_was() {
    let before = breaker(small());
    call(&before, Outcome::Failure, SECOND);
    let permit = admitted(before.acquire(SECOND));

    let after = Breaker::restored(&small(), before.save(), 2 * SECOND).expect("saved a moment ago");
    assert_eq!(after.save(), before.save());
    assert_eq!(kinds(&after), []);
    assert_eq!(after.record(permit, Outcome::Failure, 2 * SECOND), Receipt::Counted);
    assert_eq!(after.snapshot(2 * SECOND).state, State::Open);
}

#[test]
fn a_breaker_restored_under_another_enabled_moves() {
    let bytes = breaker(small()).save();
    let after = Breaker::restored(&Settings { enabled: Some(false), ..small() }, bytes, 2 * SECOND)
        .expect("saved a moment ago");
    assert_eq!(after.snapshot(2 * SECOND).state, State::Disabled);
    assert_eq!(kinds(&after), [EventKind::Disabled]);
}

#[test]
fn a_restore_says_what_is_wrong() {
    let fault = |bytes| match Breaker::restored(&small(), bytes, SECOND).err() {
        Some(RestoreError::Slot(fault)) => fault,
        other => panic!("{other:?}"),
    };
    let bytes = breaker(small()).save();
    assert_eq!(fault(vec![]), SlotFault::Length);
    assert_eq!(fault(bytes[..bytes.len() - 1].to_vec()), SlotFault::Length);
    assert_eq!(fault(vec![0; bytes.len()]), SlotFault::Layout);
    let mut odd = bytes.clone();
    odd[4] = 9; // the state
    assert_eq!(fault(odd), SlotFault::Content);

    let wrong = Settings { window_size: Some(0), ..small() };
    let error = Breaker::restored(&wrong, bytes, SECOND).err();
    assert!(matches!(error, Some(RestoreError::Settings(problems)) if problems.len() == 1));
}

#[test]
fn saved_bytes_have_the_documented_sizes() {
    assert_eq!(breaker(unset()).save().len(), 152);
    let largest = Settings { window_type: Some(WindowType::Time), window_size: Some(600), ..unset() };
    assert_eq!(breaker(largest).save().len(), 7_312);
    let largest = Settings { window_size: Some(10_000), half_open_calls: Some(1_000), ..unset() };
    assert!(breaker(largest).save().len() < 7_312);
}

#[test]
fn settings_that_are_not_given_have_the_cores_defaults() {
    let rules = settings::rules(&unset()).expect("defaults are sound");
    assert_eq!(rules.settings(), &breakerbox_core::Settings::default());
}

#[test]
fn every_setting_reaches_the_core_and_comes_back() {
    let json = r#"{
        "window_type": "time", "window_size": 30, "minimum_calls": 7, "failure_rate_threshold": 12.5,
        "slow_call_duration": "250ms", "slow_call_rate_threshold": 80, "consecutive_failures": 4,
        "wait_in_open": "2s", "open_backoff": {"multiplier": 1.5, "max": "1m"}, "open_jitter": 0.25,
        "half_open_calls": 3, "half_open_policy": "all_must_succeed", "max_wait_in_half_open": "9s",
        "enabled": false
    }"#;
    let given = settings::parse(json).expect("the JSON is sound");
    let again = settings::rules(&given).expect("the settings are sound");
    let core = breakerbox_config::settings(json, &breakerbox_core::Settings::default());
    assert_eq!(again, core.expect("the JSON is sound"));
    assert_eq!(given.half_open_policy, Some(HalfOpenPolicy::AllMustSucceed));
    assert_eq!(given.slow_call_duration, Some(SECOND / 4));
}

#[test]
fn all_problems_come_at_once() {
    let wrong = Settings {
        window_size: Some(0),
        failure_rate_threshold: Some(33.333),
        slow_call_rate_threshold: Some(f64::NAN),
        open_backoff: Some(Backoff { multiplier: f64::INFINITY, max: 1 }),
        half_open_calls: Some(u32::MAX),
        wait_in_open: Some(u64::MAX),
        ..unset()
    };
    let expected = [
        ("bad_number", "failure_rate_threshold"),
        ("bad_number", "slow_call_rate_threshold"),
        ("out_of_range", "open_backoff.multiplier"),
        ("out_of_range", "window_size"),
        ("out_of_range", "half_open_calls"),
        ("out_of_range", "wait_in_open"),
        ("conflict", "open_backoff.max"),
    ];
    let expected = expected.map(|(code, key)| (code.to_string(), key.to_string()));
    assert_eq!(keys(settings::rules(&wrong)), expected);
}

#[test]
fn a_number_that_is_refused_is_named_with_what_its_key_takes() {
    let wrong = Settings { failure_rate_threshold: Some(33.333), open_jitter: Some(f64::NAN), ..unset() };
    let problems = settings::rules(&wrong).expect_err("the settings are wrong");
    let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "33.333 has more than two decimals: give a percentage above 0, up to 100, with at most two decimals",
            "NaN is not a number: give 0 to 1, with at most two decimals",
        ]
    );
}

#[test]
fn json_problems_carry_code_key_and_message() {
    let problems = settings::parse(r#"{"window_sise": 3, "wait_in_open": 5}"#).expect_err("both are wrong");
    let found: Vec<_> = problems.iter().map(|it| (it.code.as_str(), it.key.as_str())).collect();
    assert_eq!(found, [("unknown_key", "window_sise"), ("bad_duration", "wait_in_open")]);
    assert!(problems.iter().all(|problem| !problem.message.is_empty()));
    assert_eq!(settings::parse("{").expect_err("no JSON").len(), 1);
}
