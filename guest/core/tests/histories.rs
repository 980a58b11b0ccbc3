//! Any history of acquire, record and control, with clocks that step back, gives the answers of the naive model:
//! on a slot, in the breaker for threads, and through a shared slot.

mod history;
mod model;

use breakerbox_core::{
    Breaker, Mark, MemoryRevocations, MemoryStore, OwnedSlot, Permit, Rule, Rules, Shared,
};
use history::{Step, settings, steps};
use model::Model;
use proptest::prelude::*;

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
