//! Workers that share a slot, taken apart into single steps and put together in any order.
//!
//! Each load, create, compare-and-set, hint read and hint write is a step of its own. A history says whose turn it
//! is at each step, where the store refuses or conflicts, where a worker is lost, and how the clock moves. Histories
//! are drawn from a seed and shrunk: a failure prints the smallest one.

#[path = "interleavings/history.rs"]
mod history;
#[path = "interleavings/port.rs"]
mod port;
#[path = "interleavings/world.rs"]
mod world;

use history::{History, histories};
use port::Sabotage;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use world::World;

/// `INTERLEAVINGS=5000000` for a longer search.
fn cases() -> u32 {
    std::env::var("INTERLEAVINGS").ok().and_then(|number| number.parse().ok()).unwrap_or(100_000)
}

fn search(sabotage: Sabotage, cases: u32) -> Result<(), String> {
    // A fault that was put in needs no small example.
    let max_shrink_iters = if sabotage == Sabotage::None { 2_000 } else { 0 };
    let config = Config { cases, failure_persistence: None, max_shrink_iters, ..Config::default() };
    TestRunner::new(config)
        .run(&histories(), |history: History| World::run(&history, sabotage).map_err(TestCaseError::fail))
        .map_err(|failure| failure.to_string())
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
