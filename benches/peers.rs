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
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use breakerbox_benches::{NOW, call, clean, on_threads};
use breakerbox_core::{Breaker, Outcome, Settings};
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

fn ours(breaker: &Breaker, number: u64, work: Work) {
    let outcome = if black_box(work(number)).is_ok() { Outcome::Success } else { Outcome::Failure };
    call(black_box(breaker), outcome);
}

/// The same with the time read as most callers would.
fn ours_reading_a_clock(breaker: &Breaker, start: Instant, number: u64, work: Work) {
    let now = || NOW.after(start.elapsed());
    let breaker = black_box(breaker);
    if let Ok(permit) = breaker.acquire(now()).answer {
        let outcome = if black_box(work(number)).is_ok() { Outcome::Success } else { Outcome::Failure };
        let _ = breaker.record(&permit, outcome, now());
    }
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

fn bench(group: &mut Group<'_>, name: &str, each: impl Fn(u64) + Sync) {
    for threads in [1, 2] {
        group.bench_function(format!("{name}/{threads}"), |b| {
            b.iter_custom(|n| on_threads(threads, n, &each));
        });
    }
}

/// The peers with a synchronous call, prepared by `prepare` calls that fail.
fn peers(group: &mut Group<'_>, work: Work, prepare: u64) {
    let warm = |run: &dyn Fn(u64, Work)| (0..prepare).for_each(|number| run(number, fail));
    let breaker = clean(&Settings { wait_in_open: WAIT, ..Settings::default() });
    let run = |number, work| ours(&breaker, number, work);
    warm(&run);
    bench(group, "breakerbox (window of 100)", |number| run(number, work));
    let start = Instant::now();
    bench(group, "breakerbox (window of 100), reading a clock", |number| {
        ours_reading_a_clock(&breaker, start, number, work);
    });

    let breaker = recloser();
    let run = |number, work: Work| drop(black_box(breaker.call(|| work(number))));
    warm(&run);
    bench(group, "recloser (window of 100)", |number| run(number, work));

    let breaker = failsafe();
    let run = |number, work: Work| drop(black_box(breaker.call(|| work(number))));
    warm(&run);
    bench(group, "failsafe (failures in a row)", |number| run(number, work));

    let breaker = totals();
    let run = |number, work: Work| drop(black_box(breaker.call(|| work(number))));
    warm(&run);
    bench(group, "circuitbreaker-rs (totals)", |number| run(number, work));
}

/// One thread only: its service is called through `&mut`.
fn tower_resilience(group: &mut Group<'_>, work: Work, prepare: u64) {
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
        let _ =
            black_box(futures::executor::block_on(async { service.ready().await?.call(work(number)).await }));
    };
    (0..prepare).for_each(|number| run(number, fail));
    group.bench_function("tower-resilience (window of 100, async)/1", |b| {
        b.iter_custom(|n| {
            let start = Instant::now();
            (0..n).for_each(|number| run(number, work));
            start.elapsed()
        });
    });
}

fn scale(group: &mut Group<'_>) {
    let (word, lock) = (AtomicU64::new(1), Mutex::new(1_u64));
    bench(group, "baseline: relaxed load", |_| {
        black_box(word.load(Ordering::Relaxed));
    });
    bench(group, "a mutex", |_| *lock.lock().expect("nobody panics here") += 1);
    bench(group, "two clock reads", |_| {
        black_box(Instant::now());
        black_box(Instant::now());
    });
}

fn groups(c: &mut Criterion) {
    for (name, work, prepare) in [
        ("peers, all succeed", succeed as Work, 0),
        ("peers, one in ten fails", one_in_ten_fails as Work, 0),
        ("peers, rejected", succeed as Work, 1_000),
    ] {
        let mut group = c.benchmark_group(name);
        scale(&mut group);
        peers(&mut group, work, prepare);
        tower_resilience(&mut group, work, prepare);
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
