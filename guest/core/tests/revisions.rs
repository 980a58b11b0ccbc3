//! Workers that have different editions of the settings answer by one slot as the slot itself would, whatever each knew before.

mod history;

use std::time::Duration;

use breakerbox_core::{
    HalfOpenPolicy, Hundredths, Loaded, Mark, MemoryRevocations, MemoryStore, Outcome, Permit, Rule, Rules,
    Settings, Shared, Slot, SlotStore, Snapshot,
};
use history::{Step, settings, steps};
use proptest::prelude::*;

const KEY: &[u8] = b"slot";
const EDITIONS: usize = 3;
const WORKERS: usize = 4;

/// What the slot would be for a worker that looks.
fn bytes(store: &MemoryStore, rules: &Rules, now: Mark) -> Vec<u8> {
    let stored: Loaded<_> = store.load(KEY).unwrap();
    let mut bytes = stored.map_or_else(|| Slot::fresh(rules, now), |(bytes, _)| bytes);
    let _ = Slot::adopt(&mut bytes, rules, now).unwrap();
    bytes
}

fn snapshot(bytes: &mut [u8], rules: &Rules, now: Mark) -> Snapshot {
    Slot::parse(bytes).unwrap().snapshot(rules, now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn a_worker_answers_as_the_slot_does(
        settings in prop::collection::vec(settings(), EDITIONS),
        steps in steps(),
        at_work in prop::collection::vec(0..WORKERS, 250),
    ) {
        let (store, revocations) = (MemoryStore::default(), MemoryRevocations::default());
        let editions: Vec<_> =
            (0..).zip(&settings).map(|(revision, it)| Rules::new(it).unwrap().at_revision(revision)).collect();
        let mut workers: Vec<_> = (0..WORKERS)
            .map(|worker| Shared::new(editions[worker % EDITIONS].clone(), KEY.to_vec(), &revocations))
            .collect();
        let mut permits: Vec<(usize, Permit)> = vec![];
        let mut millis = 1_000_000_000_i64;
        for ((pause, step), worker) in steps.into_iter().zip(at_work) {
            // Where the clock steps back each judges by its own view of it whether a call was slow.
            millis += pause.max(0);
            let now = Mark::from_millis(u64::try_from(millis).unwrap());
            // A call's end is told to the worker that let it through.
            let ending = match &step {
                Step::Record { which, .. } if !permits.is_empty() => Some(permits[which.index(permits.len())]),
                _ => None,
            };
            let number = ending.map_or(worker, |(number, _)| number);
            let (worker, rules) = (&mut workers[number], &editions[number % EDITIONS]);
            let mut expected = bytes(&store, rules, now);
            match step {
                Step::Acquire => {
                    let answer = Slot::parse(&mut expected).unwrap().acquire(rules, now).answer;
                    let told = worker.acquire(&store, now).answer.unwrap();
                    let of = |permit: Permit| (permit.generation, permit.ticket);
                    prop_assert_eq!(told.map(of), answer.map(of));
                    permits.extend(told.map(|permit| (number, permit)));
                }
                Step::Record { outcome, .. } => {
                    let Some((_, permit)) = ending else { continue };
                    let effect = Slot::parse(&mut expected).unwrap().record(rules, &permit, outcome, now);
                    let told = worker.record(&store, &permit, outcome, now).answer.unwrap();
                    prop_assert_eq!(told.receipt, effect.answer);
                    // What changes nothing is not written, nor then what this edition would make of the slot.
                    if effect.changed {
                        let mut stored = store.load(KEY).unwrap().unwrap().0;
                        prop_assert_eq!(snapshot(&mut stored, rules, now), snapshot(&mut expected, rules, now));
                    }
                }
                Step::Control(rule) => {
                    let update = match rule {
                        Rule::ForceOpen => worker.force_open(&store, now),
                        Rule::Disable => worker.disable(&store, now),
                        _ => worker.reset(&store, now),
                    };
                    prop_assert!(update.answer.is_some());
                }
            }
        }
    }
}

#[test]
fn another_number_of_probes_leaves_the_window_as_it_is() {
    let settings = Settings { window_size: 20, ..Settings::default() };
    let (old, now) = (Rules::new(&settings).unwrap(), Mark::from_millis(1));
    for half_open_calls in [1, 200] {
        let mut bytes = Slot::fresh(&old, now);
        let mut slot = Slot::parse(&mut bytes).unwrap();
        for _ in 0..3 {
            let permit = slot.acquire(&old, now).answer.unwrap();
            let _ = slot.record(&old, &permit, Outcome::Failure, now);
        }
        let new = Rules::new(&Settings { half_open_calls, ..settings.clone() }).unwrap().at_revision(1);
        let _ = Slot::adopt(&mut bytes, &new, now).unwrap();
        let slot = Slot::parse(&mut bytes).unwrap();
        assert_eq!(slot.audit(), Ok(()));
        let seen = slot.snapshot(&new, now);
        assert_eq!((seen.calls, seen.failed), (3, 3));
    }
}

#[test]
fn where_all_must_succeed_no_probe_has_failed_that_an_earlier_edition_let_pass() {
    let settings = Settings {
        failure_rate_threshold: Hundredths(10_000),
        consecutive_failures: Some(1),
        half_open_calls: 2,
        wait_in_open: Duration::ZERO,
        ..Settings::default()
    };
    let strict = Settings { half_open_policy: HalfOpenPolicy::AllMustSucceed, ..settings.clone() };
    let (old, new) = (Rules::new(&settings).unwrap(), Rules::new(&strict).unwrap().at_revision(1));
    let mut bytes = Slot::fresh(&old, Mark::ZERO);
    let mut slot = Slot::parse(&mut bytes).unwrap();
    let failing = slot.acquire(&old, Mark::ZERO).answer.unwrap();
    let _ = slot.record(&old, &failing, Outcome::Failure, Mark::ZERO);
    let [first, last] = [(); 2].map(|()| slot.acquire(&old, Mark::ZERO).answer.unwrap());
    let _ = slot.record(&old, &first, Outcome::Failure, Mark::ZERO);
    let moved = slot.record(&new, &last, Outcome::Success, Mark::ZERO).transition;
    assert_eq!(moved.map(|moved| moved.rule), Some(Rule::ProbeFailed));
}
