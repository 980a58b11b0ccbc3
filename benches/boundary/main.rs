//! The same breaker behind a host's boundary, beside a guest that does nothing behind the same boundary: what is
//! left is what the breaker costs. `boundary figures` prints what is counted instead: memory, and conflicts.

mod component;
mod conflicts;
mod filter;
mod sizes;

use std::hint::black_box;
use std::time::Duration;

use breakerbox_benches::{EMPTY_COMPONENT_WASM, NOW, call, clean, one_in_ten_fails};
use breakerbox_core::{Breaker, Outcome, Settings};
use breakerbox_host::guests::{COMPONENT_WASM, FILTER_WASM};
use breakerbox_host::wit;
use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};

use component::Instance;
use filter::Guarded;

type Group<'a> = BenchmarkGroup<'a, WallTime>;

/// One thread, and a call that knows its number.
fn bench(group: &mut Group<'_>, name: &str, mut each: impl FnMut(u64)) {
    let mut number = 0_u64;
    group.bench_function(format!("{name}/1"), |b| {
        b.iter(|| {
            number += 1;
            each(number);
        });
    });
}

fn open() -> Breaker {
    let settings = Settings { consecutive_failures: Some(1), ..Settings::default() };
    let breaker = Breaker::new(&settings, NOW).expect("the settings of a bench are sound");
    call(&breaker, Outcome::Failure);
    breaker
}

/// A call is an acquire and a record, which are two calls of the component.
fn calls_of_the_component(c: &mut Criterion) {
    let mut group = c.benchmark_group("component");
    let mut empty = Instance::start(EMPTY_COMPONENT_WASM);
    let breaker = empty.breaker(wit::UNSET);
    bench(&mut group, "baseline: two calls of an empty component", |_| empty.call(breaker, Outcome::Success));

    let native = clean(&Settings::default());
    bench(&mut group, "native, all succeed", |_| call(black_box(&native), Outcome::Success));
    bench(&mut group, "native, one in ten fails", |n| call(black_box(&native), one_in_ten_fails(n)));

    let mut ours = Instance::start(COMPONENT_WASM);
    let breaker = ours.breaker(wit::UNSET);
    for _ in 0..100 {
        ours.call(breaker, Outcome::Success);
    }
    bench(&mut group, "all succeed", |_| ours.call(breaker, Outcome::Success));
    bench(&mut group, "one in ten fails", |number| ours.call(breaker, one_in_ten_fails(number)));
}

fn rejections_of_the_component(c: &mut Criterion) {
    let mut group = c.benchmark_group("component, rejected");
    let mut empty = Instance::start(EMPTY_COMPONENT_WASM);
    let breaker = empty.breaker(wit::UNSET);
    bench(&mut group, "baseline: one call of an empty component", |_| {
        black_box(empty.acquire(breaker));
    });

    let native = open();
    bench(&mut group, "native", |_| {
        black_box(&black_box(&native).acquire(black_box(NOW)).answer);
    });

    let mut ours = Instance::start(COMPONENT_WASM);
    let breaker = ours.breaker(wit::Settings { consecutive_failures: Some(1), ..wit::UNSET });
    ours.call(breaker, Outcome::Failure);
    bench(&mut group, "component", |_| {
        black_box(ours.acquire(breaker));
    });
}

/// A call is a request and its response. The harness' own work, which is more than Envoy's, is in every figure.
fn requests_of_the_filter(c: &mut Criterion) {
    let mut group = c.benchmark_group("filter in the harness");
    let empty = Guarded::empty();
    bench(&mut group, "baseline: a filter that does nothing", |_| empty.request(200));
    // So that a tenth of failures keeps it closed and its window unclean.
    let ours = Guarded::start(FILTER_WASM, r#"{"default": {"failure_rate_threshold": 90}}"#);
    for _ in 0..100 {
        ours.request(200);
    }
    bench(&mut group, "all succeed", |_| ours.request(200));
    bench(&mut group, "one in ten fails", |number| {
        ours.request(if number.is_multiple_of(10) { 500 } else { 200 });
    });
}

fn rejections_of_the_filter(c: &mut Criterion) {
    let mut group = c.benchmark_group("filter in the harness, rejected");
    let empty = Guarded::empty();
    bench(&mut group, "baseline: a filter that does nothing, and the upstream's 503", |_| empty.request(503));
    let ours =
        Guarded::start(FILTER_WASM, r#"{"default": {"consecutive_failures": 1, "wait_in_open": "24h"}}"#);
    ours.request(500);
    bench(&mut group, "filter", |_| ours.rejected());
}

fn main() {
    if std::env::args().any(|argument| argument == "figures") {
        sizes::print();
        conflicts::print();
        return;
    }
    let mut criterion = Criterion::default()
        .sample_size(20)
        .measurement_time(Duration::from_secs(1))
        .warm_up_time(Duration::from_millis(300))
        .configure_from_args();
    calls_of_the_component(&mut criterion);
    rejections_of_the_component(&mut criterion);
    requests_of_the_filter(&mut criterion);
    rejections_of_the_filter(&mut criterion);
    criterion.final_summary();
}
