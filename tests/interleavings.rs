//! Workers that share a slot, taken apart into single steps and put together in any order.
//!
//! Each load, create, compare-and-set, revocation and look at their number is a step of its own. A history says whose turn it
//! is at each step, where the store refuses or conflicts, where a worker is lost, and how the clock moves. Histories
//! are drawn from a seed and shrunk: a failure prints the smallest one.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

#[path = "interleavings/history.rs"]
mod history;
#[path = "interleavings/port.rs"]
mod port;
#[path = "interleavings/world.rs"]
mod world;

use history::{History, histories};
use port::Sabotage;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use world::World;

/// `INTERLEAVINGS=5000000` for a longer search.
fn cases() -> u32 {
    number("INTERLEAVINGS").and_then(|cases| cases.try_into().ok()).unwrap_or(100_000)
}

/// `INTERLEAVINGS_SEED` repeats a search that failed.
fn seed() -> u64 {
    number("INTERLEAVINGS_SEED").unwrap_or_else(rand_seed)
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Another one for every search, without a crate for it: hashers are seeded by the system.
fn rand_seed() -> u64 {
    RandomState::new().hash_one(())
}

fn search(sabotage: Sabotage, cases: u32) -> Result<(), String> {
    // A fault that was put in needs no small example.
    let max_shrink_iters = if sabotage == Sabotage::None { 2_000 } else { 0 };
    let seed = seed();
    let rng_seed = RngSeed::Fixed(seed);
    let config = Config { cases, failure_persistence: None, max_shrink_iters, rng_seed, ..Config::default() };
    TestRunner::new(config)
        .run(&histories(), |history: History| World::run(&history, sabotage).map_err(TestCaseError::fail))
        .map_err(|failure| format!("INTERLEAVINGS_SEED={seed}: {failure}"))
}

#[test]
fn no_interleaving_breaks_a_promise() {
    if let Err(failure) = search(Sabotage::None, cases()) {
        panic!("{failure}");
    }
}

/// The search must be able to fail: each of these breaks the protocol in one place, and must be found.
#[test]
fn every_deliberate_fault_is_found() {
    let survivors: Vec<_> =
        Sabotage::FAULTS.into_iter().filter(|&fault| search(fault, 60_000).is_ok()).collect();
    assert!(survivors.is_empty(), "not found: {survivors:?}");
}
