use std::time::Duration;

use breakerbox_core::{Backoff, HalfOpenPolicy, Hundredths, Outcome, Rule, Settings};
use proptest::prelude::*;

/// What a worker starts when it is idle and its turn comes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Acquire,
    /// Records one of the permits that are out, whoever acquired it.
    Record {
        which: u8,
        outcome: Outcome,
    },
    Control(Rule),
    /// What a worker's timer does.
    Attach,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// The worker makes one step of what it is doing; if idle it starts `call` and makes its first step.
    Step {
        worker: u8,
        call: Call,
    },
    /// As `Step`, but a write that would succeed is answered "conflict", and nothing is written.
    Conflict {
        worker: u8,
        call: Call,
    },
    /// As `Step`, but the store does not answer.
    Unavailable {
        worker: u8,
        call: Call,
    },
    /// The worker is lost with all that it knew, and a new one takes its place.
    Lose {
        worker: u8,
    },
    Clock {
        millis: i16,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) settings: Settings,
    pub(crate) workers: u8,
    pub(crate) turns: Vec<Turn>,
}

pub(crate) const WAIT: Duration = Duration::from_millis(100);
pub(crate) const PROBES_LIMIT: Duration = Duration::from_millis(300);

pub(crate) fn histories() -> impl Strategy<Value = History> {
    (settings(), 2..5_u8).prop_flat_map(|(settings, workers)| {
        prop::collection::vec(turn(workers), 1..120).prop_map(move |turns| History {
            settings: settings.clone(),
            workers,
            turns,
        })
    })
}

fn turn(workers: u8) -> impl Strategy<Value = Turn> {
    let step = || (0..workers, call());
    prop_oneof![
        60 => step().prop_map(|(worker, call)| Turn::Step { worker, call }),
        3 => step().prop_map(|(worker, call)| Turn::Conflict { worker, call }),
        1 => step().prop_map(|(worker, call)| Turn::Unavailable { worker, call }),
        1 => (0..workers).prop_map(|worker| Turn::Lose { worker }),
        3 => (0..150_i16).prop_map(|millis| Turn::Clock { millis }),
        1 => (-60..0_i16).prop_map(|millis| Turn::Clock { millis }),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![
        5 => Just(Outcome::Success),
        3 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored)
    ];
    let control = prop_oneof![1 => Just(Rule::ForceOpen), 1 => Just(Rule::Disable), 2 => Just(Rule::Reset)];
    prop_oneof![
        20 => Just(Call::Acquire),
        20 => (any::<u8>(), outcome).prop_map(|(which, outcome)| Call::Record { which, outcome }),
        1 => control.prop_map(Call::Control),
        1 => Just(Call::Attach),
    ]
}

/// Tiny windows, so that they fill, get clean and open within a few calls; and large ones, whose counts show
/// every outcome there was.
fn settings() -> impl Strategy<Value = Settings> {
    let window = prop_oneof![1..4_u32, Just(1000)];
    (window, 1..4_u32, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(window_size, half_open_calls, strict, limited, backoff)| Settings {
            window_size,
            minimum_calls: window_size.min(2),
            // A large window's rate would hide in its many successes; failures in a row open it.
            failure_rate_threshold: Hundredths(if window_size > 3 { 10_000 } else { 5_000 }),
            consecutive_failures: (window_size > 3).then_some(3),
            wait_in_open: WAIT,
            open_backoff: backoff
                .then_some(Backoff { multiplier: Hundredths(200), max: Duration::from_millis(400) }),
            half_open_calls,
            half_open_policy: if strict { HalfOpenPolicy::AllMustSucceed } else { HalfOpenPolicy::Rate },
            max_wait_in_half_open: if limited { PROBES_LIMIT } else { Duration::ZERO },
            ..Settings::default()
        },
    )
}
