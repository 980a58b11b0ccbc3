//! Any history of acquire, record and control, with clocks that step back, gives the answers of the naive model:
//! on a slot, in the breaker for threads, and through a shared slot.

mod model;

use std::time::Duration;

use breakerbox_core::{
    Backoff, Breaker, HalfOpenPolicy, Hundredths, Mark, MemoryRevocations, MemoryStore, Outcome, OwnedSlot,
    Permit, Rule, Rules, Settings, Shared, WindowType,
};
use model::Model;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Acquire,
    Record { which: prop::sample::Index, outcome: Outcome },
    Control(Rule),
}

fn steps() -> impl Strategy<Value = Vec<(i64, Step)>> {
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

fn settings() -> impl Strategy<Value = Settings> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn any_history_gives_the_answers_of_the_naive_model(settings in settings(), steps in steps()) {
        let mut millis = 1_000_000_000_i64;
        let mark = |millis: i64| Mark::from_millis(u64::try_from(millis).unwrap());
        let start = mark(millis);
        let rules = Rules::new(&settings).unwrap();
        let mut model = Model::new(&settings, start);
        let mut owned = OwnedSlot::fresh(&rules, start);
        let breaker = Breaker::new(&settings, start).unwrap();
        let (store, revocations) = (MemoryStore::default(), MemoryRevocations::default());
        let mut shared = Shared::new(rules.clone(), b"key".to_vec(), &revocations);
        let attached = shared.attach(&store, start);
        prop_assert!(attached.answer.is_some());

        let mut permits: Vec<Permit> = vec![];
        for (pause, step) in steps {
            millis += pause;
            let now = mark(millis);
            let moves_before = model.moves.len();
            let (of_slot, of_breaker, of_shared);
            match step {
                Step::Acquire => {
                    let expected = model.acquire(now);
                    let effect = owned.slot().acquire(&rules, now);
                    prop_assert_eq!(effect.answer, expected);
                    of_slot = effect.transition;
                    let effect = breaker.acquire(now);
                    prop_assert_eq!(effect.answer, expected);
                    of_breaker = effect.transition;
                    let update = shared.acquire(&store, now);
                    prop_assert_eq!(update.answer, Some(expected));
                    of_shared = update.transitions;
                    permits.extend(expected);
                }
                Step::Record { which, outcome } => {
                    if permits.is_empty() {
                        continue;
                    }
                    // Permits stay where they are, so that some are recorded twice and some late.
                    let permit = permits[which.index(permits.len())];
                    let expected = model.record(&permit, outcome, now);
                    let effect = owned.slot().record(&rules, &permit, outcome, now);
                    prop_assert_eq!(effect.answer, expected);
                    of_slot = effect.transition;
                    let effect = breaker.record(&permit, outcome, now);
                    prop_assert_eq!(effect.answer, expected);
                    of_breaker = effect.transition;
                    let update = shared.record(&store, &permit, outcome, now);
                    prop_assert_eq!(update.answer.map(|recorded| recorded.receipt), Some(expected));
                    of_shared = update.transitions;
                }
                Step::Control(rule) => {
                    model.control(rule, now);
                    let mut slot = owned.slot();
                    let (effect, other, update) = match rule {
                        Rule::ForceOpen => {
                            (slot.force_open(&rules, now), breaker.force_open(now), shared.force_open(&store, now))
                        }
                        Rule::Disable => {
                            (slot.disable(&rules, now), breaker.disable(now), shared.disable(&store, now))
                        }
                        _ => (slot.reset(&rules, now), breaker.reset(now), shared.reset(&store, now)),
                    };
                    prop_assert!(update.answer.is_some());
                    (of_slot, of_breaker, of_shared) = (effect.transition, other.transition, update.transitions);
                }
            }
            let moved: Vec<_> = of_slot.iter().map(|it| (it.from, it.to, it.rule)).collect();
            prop_assert_eq!(&moved[..], &model.moves[moves_before..]);
            prop_assert_eq!(of_breaker, of_slot);
            prop_assert_eq!(of_shared.first().copied(), of_slot);
            let seen = owned.slot().snapshot(&rules, now);
            model.assert_seen_as(&seen, now);
            prop_assert_eq!(&breaker.snapshot(now), &seen);
            prop_assert_eq!(shared.snapshot(&store, now), Some(seen));
            prop_assert_eq!(breaker.save(), owned.to_bytes());
        }
    }
}
