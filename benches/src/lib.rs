//! What the benches share: a mark that stands still, a loop on several threads at once, and guests that do nothing.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use breakerbox_core::{Breaker, Mark, Outcome, Settings};

/// Some mark. The calls of these benches last no time at all, so none is slow.
pub const NOW: Mark = Mark::from_millis(1_000_000_000);

/// The row of a group whose others guard the same call. What they take beyond it, the guard adds.
pub const UNGUARDED: &str = "the call, unguarded";

/// What rows begin with that guard no call.
pub const SCALE: &str = "scale: ";

/// The path of a proxy-wasm filter that does nothing.
pub const EMPTY_FILTER_WASM: &str = env!("EMPTY_FILTER_WASM");

/// The path of a component with breakerbox's exports that does nothing.
pub const EMPTY_COMPONENT_WASM: &str = env!("EMPTY_COMPONENT_WASM");

/// A breaker whose window is full of successes.
///
/// # Panics
/// If the settings have problems.
pub fn clean(settings: &Settings) -> Breaker {
    let breaker = Breaker::new(settings, NOW).expect("the settings of a bench are sound");
    for _ in 0..=settings.window_size {
        call(&breaker, Outcome::Success);
    }
    breaker
}

/// One guarded call.
#[inline]
pub fn call(breaker: &Breaker, outcome: Outcome) {
    if let Ok(permit) = breaker.acquire(NOW).answer {
        let _ = breaker.record(&permit, outcome, NOW);
    }
}

/// Keeps a result that nothing reads.
#[inline]
pub fn sink<T>(result: T) {
    let _ = black_box(result);
}

/// How the call with this number ends where one in ten fails.
#[inline]
pub fn one_in_ten_fails(number: u64) -> Outcome {
    if number.is_multiple_of(10) { Outcome::Failure } else { Outcome::Success }
}

/// Runs `work` as often as `iterations` says on each of `threads` threads at the same time, handing it the
/// iteration's number, and returns how long a thread took on average.
pub fn on_threads(threads: u32, iterations: u64, work: impl Fn(u64) + Sync) -> Duration {
    let barrier = Barrier::new(threads as usize);
    let run = || {
        barrier.wait();
        let start = Instant::now();
        for number in 0..iterations {
            work(number);
        }
        start.elapsed()
    };
    let total: Duration = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_default()).sum()
    });
    total / threads
}
