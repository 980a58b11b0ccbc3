use std::time::Duration;

use breakerbox_core::{Backoff, HalfOpenPolicy, Hundredths, Outcome, Rule, Settings, WindowType};
use proptest::prelude::*;

/// What happens to a breaker.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Acquire,
    Record { which: prop::sample::Index, outcome: Outcome },
    Control(Rule),
}

/// So many of them, each with the milliseconds before it.
pub(crate) fn steps() -> impl Strategy<Value = Vec<(i64, Step)>> {
    let outcome = prop_oneof![
        4 => Just(Outcome::Success),
        4 => Just(Outcome::Failure),
        1 => Just(Outcome::Ignored)
    ];
    let control = prop_oneof![1 => Just(Rule::ForceOpen), 1 => Just(Rule::Disable), 3 => Just(Rule::Reset)];
    let step = prop_oneof![
        10 => Just(Step::Acquire),
        10 => (any::<prop::sample::Index>(), outcome).prop_map(|(which, outcome)| Step::Record { which, outcome }),
        1 => control.prop_map(Step::Control),
    ];
    // Milliseconds between steps: mostly none or few, at times a jump over a window or a wait, at times backwards.
    let pause = prop_oneof![6 => 0..30_i64, 2 => 100..1500_i64, 1 => 3000..9000_i64, 1 => -2500..0_i64];
    prop::collection::vec((pause, step), 0..250)
}

/// Any settings with small numbers.
pub(crate) fn settings() -> impl Strategy<Value = Settings> {
    let window = prop_oneof![
        (1..12_u32).prop_map(|size| (WindowType::Count, size)),
        (1..5_u32).prop_map(|size| (WindowType::Time, size))
    ];
    let rates = (1..=10_000_u32, 1..=10_000_u32);
    let slow = prop_oneof![Just(0), 1..400_u64];
    let in_a_row = prop::option::of(1..5_u32);
    let backoff = prop::option::of((100..400_u32, 5000..20_000_u64));
    let half_open = (1..5_u32, any::<bool>(), prop_oneof![Just(0), 1..3000_u64]);
    (window, 1..8_u32, rates, slow, in_a_row, 0..3000_u64, backoff, half_open, prop::bool::weighted(0.9))
        .prop_map(
            |(
                (window_type, window_size),
                minimum_calls,
                rates,
                slow,
                in_a_row,
                wait,
                backoff,
                half_open,
                enabled,
            )| {
                Settings {
                    window_type,
                    window_size,
                    minimum_calls,
                    failure_rate_threshold: Hundredths(rates.0),
                    slow_call_duration: Duration::from_millis(slow),
                    slow_call_rate_threshold: Hundredths(rates.1),
                    consecutive_failures: in_a_row,
                    wait_in_open: Duration::from_millis(wait),
                    open_backoff: backoff.map(|(multiplier, max)| Backoff {
                        multiplier: Hundredths(multiplier),
                        max: Duration::from_millis(max),
                    }),
                    open_jitter: Hundredths(0),
                    half_open_calls: half_open.0,
                    half_open_policy: if half_open.1 {
                        HalfOpenPolicy::Rate
                    } else {
                        HalfOpenPolicy::AllMustSucceed
                    },
                    max_wait_in_half_open: Duration::from_millis(half_open.2),
                    enabled,
                }
            },
        )
}
