//! Slots that somebody else has written into: they may say anything, and still lead to nothing but slots.

use breakerbox_core::{
    Fault, Hundredths, Mark, MemoryRevocations, MemoryStore, Outcome, Permit, Receipt, Rules, Settings,
    Shared, Slot, SlotStore, WindowType,
};

const GENERATION: usize = 20;
const FAILED: usize = 60;
/// Of a time window: how many calls of the second failed whose bucket comes first.
const FAILED_IN_FIRST_SECOND: usize = 112 + 4;

fn rules(window_type: WindowType) -> Rules {
    let settings = Settings {
        window_type,
        window_size: 2,
        minimum_calls: 100,
        failure_rate_threshold: Hundredths(10_000),
        ..Settings::default()
    };
    Rules::new(&settings).unwrap()
}

/// A slot that has seen two successes, one in each of two seconds.
fn two_calls(rules: &Rules) -> Vec<u8> {
    let mut bytes = Slot::fresh(rules, Mark::ZERO);
    for second in 0..2 {
        call(&mut bytes, rules, Outcome::Success, second);
    }
    bytes
}

fn call(bytes: &mut [u8], rules: &Rules, outcome: Outcome, second: u64) {
    let mut slot = Slot::parse(bytes).unwrap();
    let now = Mark::from_millis(second * 1_000);
    let permit = slot.acquire(rules, now).answer.unwrap();
    assert_eq!(slot.record(rules, &permit, outcome, now).answer, Receipt::Counted);
}

fn write(bytes: &mut [u8], at: usize, number: &[u8]) {
    bytes[at..at + number.len()].copy_from_slice(number);
}

#[test]
fn no_more_calls_have_failed_than_there_are_whatever_the_counts_say() {
    let rules = rules(WindowType::Time);
    let mut bytes = two_calls(&rules);
    write(&mut bytes, FAILED, &2_u32.to_le_bytes());
    // The first of the two, which the counts say has failed, leaves the window without having done so.
    call(&mut bytes, &rules, Outcome::Failure, 2);
    call(&mut bytes, &rules, Outcome::Failure, 3);
    Slot::parse(&mut bytes).unwrap();
}

#[test]
fn seconds_in_which_more_calls_failed_than_there_were_are_noticed() {
    let mut bytes = two_calls(&rules(WindowType::Time));
    write(&mut bytes, FAILED, &2_u32.to_le_bytes());
    write(&mut bytes, FAILED_IN_FIRST_SECOND, &2_u32.to_le_bytes());
    assert_eq!(Slot::parse(&mut bytes).unwrap().audit(), Err(Fault::Content));
}

#[test]
fn the_last_generation_is_followed_by_another() {
    let rules = rules(WindowType::Count);
    let mut bytes = two_calls(&rules);
    write(&mut bytes, GENERATION, &u64::MAX.to_le_bytes());
    let mut slot = Slot::parse(&mut bytes).unwrap();
    let late = Permit { generation: u64::MAX, ticket: 0, admitted_at: Mark::ZERO };
    let _ = slot.reset(&rules, Mark::ZERO);
    assert_eq!(slot.record(&rules, &late, Outcome::Failure, Mark::ZERO).answer, Receipt::Stale);
    Slot::parse(&mut bytes).unwrap();
}

#[test]
fn no_worker_goes_by_a_slot_that_another_had_to_replace() {
    let rules = rules(WindowType::Count);
    let (store, revocations) = (MemoryStore::default(), MemoryRevocations::default());
    let worker = || Shared::new(rules.clone(), b"key".to_vec(), &revocations);
    let (mut old, mut new) = (worker(), worker());
    for _ in 0..2 {
        let permit = old.acquire(&store, Mark::ZERO).answer.unwrap().unwrap();
        let _ = old.record(&store, &permit, Outcome::Success, Mark::ZERO);
    }
    let (_, version) = store.load(b"key").unwrap().unwrap();
    assert_eq!(store.compare_and_set(b"key", b"no slot", version), Ok(true));

    assert!(new.attach(&store, Mark::ZERO).replaced.is_some());
    let permit = old.acquire(&store, Mark::ZERO).answer.unwrap().unwrap();
    let _ = old.record(&store, &permit, Outcome::Success, Mark::ZERO);
    // It would have been taken for a success that a clean window need not hear of.
    assert_eq!(old.snapshot(&store, Mark::ZERO).unwrap().calls, 1);
}
