//! The native breaker by window, state and threads, beside what the same machine takes for a plain load.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use breakerbox_benches::{NOW, call, clean, on_threads, one_in_ten_fails, sink};
use breakerbox_core::{Breaker, Hundredths, Outcome, Settings, WindowType};
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};

/// What every other figure of the group is a multiple of. Like the breakers, the word may be anywhere for all that the
/// compiler knows.
fn baseline(group: &mut BenchmarkGroup<'_, WallTime>) {
    let word = AtomicU64::new(1);
    for threads in [1, 2] {
        group.bench_function(format!("baseline: relaxed load/{threads}"), |b| {
            b.iter_custom(|n| on_threads(threads, n, |_| sink(black_box(&word).load(Ordering::Relaxed))));
        });
    }
}

fn scale(c: &mut Criterion) {
    let mut group = c.benchmark_group("scale");
    baseline(&mut group);
    let (word, lock) = (AtomicU64::new(1), Mutex::new(1_u64));
    for threads in [1, 2] {
        group.bench_function(format!("fetch_add/{threads}"), |b| {
            b.iter_custom(|n| on_threads(threads, n, |_| sink(word.fetch_add(1, Ordering::Relaxed))));
        });
        group.bench_function(format!("mutex/{threads}"), |b| {
            b.iter_custom(|n| on_threads(threads, n, |_| *lock.lock().expect("nobody panics here") += 1));
        });
    }
}

fn closed(c: &mut Criterion) {
    let count = Settings::default();
    let slow = Settings { slow_call_duration: Duration::from_secs(1), ..count.clone() };
    let time = Settings { window_type: WindowType::Time, window_size: 60, ..count.clone() };
    let mut group = c.benchmark_group("closed");
    baseline(&mut group);
    for (name, settings) in [("count", &count), ("count, slow calls", &slow), ("time", &time)] {
        for threads in [1, 2] {
            let breaker = clean(settings);
            group.bench_function(format!("{name}, all succeed/{threads}"), |b| {
                b.iter_custom(|n| on_threads(threads, n, |_| call(black_box(&breaker), Outcome::Success)));
            });
            let breaker = clean(settings);
            group.bench_function(format!("{name}, one in ten fails/{threads}"), |b| {
                b.iter_custom(|n| on_threads(threads, n, |i| call(black_box(&breaker), one_in_ten_fails(i))));
            });
        }
    }
}

/// Failures and successes in turn, in a window of an odd number of calls: each pushes out one of the other kind, so all of them
/// are counted under the lock.
fn slot_path(c: &mut Criterion) {
    let never_opens =
        Settings { window_size: 101, failure_rate_threshold: Hundredths(10_000), ..Settings::default() };
    let time = Settings { window_type: WindowType::Time, window_size: 60, ..never_opens.clone() };
    let mut group = c.benchmark_group("slot, one in two fails");
    baseline(&mut group);
    for (name, settings) in [("count", &never_opens), ("time", &time)] {
        let breaker = clean(settings);
        group.bench_function(format!("{name}/1"), |b| {
            b.iter_custom(|n| {
                on_threads(1, n, |i| {
                    let outcome = if i.is_multiple_of(2) { Outcome::Failure } else { Outcome::Success };
                    call(black_box(&breaker), outcome);
                })
            });
        });
    }
}

fn window_sizes(c: &mut Criterion) {
    let mut group = c.benchmark_group("window size, one in ten fails");
    baseline(&mut group);
    let sizes = [10, 100, 1_000, 10_000].map(|size| (WindowType::Count, size));
    for (window_type, window_size) in sizes.into_iter().chain([10, 600].map(|size| (WindowType::Time, size)))
    {
        let breaker = clean(&Settings { window_type, window_size, ..Settings::default() });
        group.bench_function(format!("{} {window_size}/1", window_type.name()), |b| {
            b.iter_custom(|n| on_threads(1, n, |i| call(black_box(&breaker), one_in_ten_fails(i))));
        });
    }
}

/// Calls go to one breaker after the other, so that many breakers share the processor's caches.
fn numbers_of_breakers(c: &mut Criterion) {
    let mut group = c.benchmark_group("breakers");
    baseline(&mut group);
    // Powers of two, which make the breaker's number cheap to find.
    for bits in [0, 5, 10] {
        let breakers: Vec<Breaker> = (0..1 << bits).map(|_| clean(&Settings::default())).collect();
        let which =
            |number: u64| &breakers[usize::try_from(number).unwrap_or_default() & (breakers.len() - 1)];
        group.bench_function(format!("{}, all succeed/1", breakers.len()), |b| {
            b.iter_custom(|n| on_threads(1, n, |i| call(black_box(which(i)), Outcome::Success)));
        });
        group.bench_function(format!("{}, one in ten fails/1", breakers.len()), |b| {
            b.iter_custom(|n| on_threads(1, n, |i| call(black_box(which(i)), one_in_ten_fails(i >> bits))));
        });
    }
}

fn rejected(c: &mut Criterion) {
    let mut group = c.benchmark_group("rejected");
    baseline(&mut group);
    let open = Breaker::new(&Settings { consecutive_failures: Some(1), ..Settings::default() }, NOW)
        .expect("sound settings");
    call(&open, Outcome::Failure);
    let forced = clean(&Settings::default());
    let _ = forced.force_open(NOW);
    for (name, breaker) in [("open", &open), ("forced_open", &forced)] {
        for threads in [1, 2] {
            group.bench_function(format!("{name}/{threads}"), |b| {
                b.iter_custom(|n| {
                    on_threads(threads, n, |_| {
                        // Looked at where it is: a copy of all its fields would cost more than the rejection.
                        black_box(&black_box(breaker).acquire(black_box(NOW)).answer);
                    })
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    targets = scale, closed, slot_path, window_sizes, numbers_of_breakers, rejected
}
criterion_main!(benches);
