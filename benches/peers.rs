//! Other breakers on the same work, one group for each kind of call. They do not all do the same for it:
//!
//! - breakerbox and recloser keep a true window of the last 100 calls. Neither reads a clock for a call that it
//!   admits, recloser reads one for a rejection, and breakerbox is told the time: `reading a clock` is the same
//!   breaker with a clock read before each acquire and each record;
//! - failsafe counts failures in a row, behind a mutex, and reads a clock for a rejection;
//! - circuitbreaker-rs keeps totals since its last change of state, behind a mutex for the time of the last call,
//!   and reads a clock three times for a call that it admits;
//! - tower-resilience keeps a window of 100 calls behind an async mutex, reads clocks, and a call is a future.

use std::cell::RefCell;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use breakerbox_benches::{NOW, SCALE, UNGUARDED, clean, on_threads, sink};
use breakerbox_core::{Breaker, Mark, Outcome, Settings};
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use failsafe::{CircuitBreaker as _, backoff, failure_policy};
use tower::{Layer, Service, ServiceExt};
use tower_resilience_circuitbreaker::CircuitBreakerLayer;

type Group<'a> = BenchmarkGroup<'a, WallTime>;
type Failsafe = failsafe::StateMachine<failure_policy::ConsecutiveFailures<backoff::Constant>, ()>;
type Totals = circuitbreaker_rs::CircuitBreaker<circuitbreaker_rs::DefaultPolicy, Failed>;

const WAIT: Duration = Duration::from_hours(1);

#[derive(Clone, Copy, Debug)]
struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

/// What the guarded operation answers in the call with this number.
type Work = fn(u64) -> Result<(), Failed>;

#[allow(clippy::unnecessary_wraps)] // it is a `Work`
fn succeed(_: u64) -> Result<(), Failed> {
    Ok(())
}

#[allow(clippy::unnecessary_wraps)]
fn fail(_: u64) -> Result<(), Failed> {
    Err(Failed)
}

fn one_in_ten_fails(number: u64) -> Result<(), Failed> {
    if number.is_multiple_of(10) { Err(Failed) } else { Ok(()) }
}

/// What the peers have as a method: the operation, if it may go.
#[inline]
fn guarded(
    breaker: &Breaker,
    now: impl Fn() -> Mark,
    operation: impl FnOnce() -> Result<(), Failed>,
) -> Result<(), Option<Failed>> {
    let Ok(permit) = breaker.acquire(now()).answer else { return Err(None) };
    let answer = operation();
    let outcome = if answer.is_ok() { Outcome::Success } else { Outcome::Failure };
    let _ = breaker.record(&permit, outcome, now());
    answer.map_err(Some)
}

fn recloser() -> recloser::Recloser {
    recloser::Recloser::custom().error_rate(0.5).closed_len(100).half_open_len(10).open_wait(WAIT).build()
}

fn failsafe() -> Failsafe {
    let policy = failure_policy::consecutive_failures(100, backoff::constant(WAIT));
    failsafe::Config::new().failure_policy(policy).build()
}

fn totals() -> Totals {
    Totals::builder()
        .with_error_type::<Failed>()
        .failure_threshold(0.5)
        .min_throughput(100)
        .cooldown(WAIT)
        .build()
}

/// What is called in a group, after so many calls that fail.
#[derive(Clone, Copy)]
struct Calls {
    work: Work,
    failed_before: u64,
}

/// Each breaker's code is there once, so that the compiler may put any of them into the loop.
fn bench(group: &mut Group<'_>, name: &str, calls: Calls, each: impl Fn(u64, Work) + Sync) {
    let run = |threads, number, work| on_threads(threads, number, |number| each(number, work));
    run(1, calls.failed_before, fail);
    for threads in [1, 2] {
        group.bench_function(format!("{name}/{threads}"), |b| {
            b.iter_custom(|n| run(threads, n, calls.work));
        });
    }
}

/// The peers with a synchronous call.
fn peers(group: &mut Group<'_>, calls: Calls) {
    let breaker = clean(&Settings { wait_in_open: WAIT, ..Settings::default() });
    bench(group, "breakerbox (window of 100)", calls, |number, work| {
        sink(guarded(&breaker, || NOW, || work(number)));
    });
    let start = Instant::now();
    bench(group, "breakerbox (window of 100), reading a clock", calls, |number, work| {
        sink(guarded(&breaker, || NOW.after(start.elapsed()), || work(number)));
    });
    let breaker = recloser();
    bench(group, "recloser (window of 100)", calls, |number, work| sink(breaker.call(|| work(number))));
    let breaker = failsafe();
    bench(group, "failsafe (failures in a row)", calls, |number, work| sink(breaker.call(|| work(number))));
    let breaker = totals();
    bench(group, "circuitbreaker-rs (totals)", calls, |number, work| sink(breaker.call(|| work(number))));
}

/// One thread only: its service is called through `&mut`.
fn tower_resilience(group: &mut Group<'_>, calls: Calls) {
    let layer = CircuitBreakerLayer::builder()
        .failure_rate_threshold(0.5)
        .sliding_window_size(100)
        .minimum_number_of_calls(100)
        .wait_duration_in_open(WAIT)
        .build()
        .expect("the settings of a bench are sound");
    let service =
        RefCell::new(layer.layer(tower::service_fn(|answer: Result<(), Failed>| async move { answer })));
    let run = |number, work: Work| {
        let service = &mut *service.borrow_mut();
        sink(futures::executor::block_on(async { service.ready().await?.call(work(number)).await }));
    };
    (0..calls.failed_before).for_each(|number| run(number, fail));
    group.bench_function("tower-resilience (window of 100, async)/1", |b| {
        b.iter_custom(|n| {
            let start = Instant::now();
            (0..n).for_each(|number| run(number, calls.work));
            start.elapsed()
        });
    });
}

fn scale(group: &mut Group<'_>, calls: Calls) {
    let (word, lock) = (AtomicU64::new(1), Mutex::new(1_u64));
    bench(group, "baseline: relaxed load", calls, |_, _| sink(word.load(Ordering::Relaxed)));
    bench(group, &format!("{SCALE}a mutex"), calls, |_, _| *lock.lock().expect("nobody panics here") += 1);
    bench(group, &format!("{SCALE}two clock reads"), calls, |_, _| sink((Instant::now(), Instant::now())));
    // A rejection spares the call.
    if calls.failed_before == 0 {
        bench(group, UNGUARDED, calls, |number, work| sink(work(number)));
    }
}

fn groups(c: &mut Criterion) {
    for (name, work, failed_before) in [
        ("peers, all succeed", succeed as Work, 0),
        ("peers, one in ten fails", one_in_ten_fails as Work, 0),
        ("peers, rejected", succeed as Work, 1_000),
    ] {
        let calls = Calls { work, failed_before };
        let mut group = c.benchmark_group(name);
        scale(&mut group, calls);
        peers(&mut group, calls);
        tower_resilience(&mut group, calls);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
    targets = groups
}
criterion_main!(benches);
