//! Reading a large configuration: how long an Envoy's main thread is held up by one that names 1,000 breakers.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

fn configuration(breakers: usize) -> String {
    let breakers: Vec<String> = (0..breakers)
        .map(|number| {
            format!(r#""route-{number}": {{"window_size": {}, "wait_in_open": "15s"}}"#, number % 1000 + 1)
        })
        .collect();
    format!(
        r#"{{"per": "route", "default": {{"failure_rate_threshold": 25}}, "breakers": {{{}}}}}"#,
        breakers.join(",")
    )
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("configuration");
    let large = configuration(1_000);
    // Reading the text as JSON and nothing else.
    group.bench_function("baseline: serde_json/1", |b| {
        b.iter(|| serde_json::from_str::<serde_json::Value>(black_box(&large)));
    });
    for breakers in [1, 10, 100, 1_000] {
        let text = configuration(breakers);
        group.bench_function(format!("{breakers} breakers/1"), |b| {
            b.iter(|| breakerbox_config::filter(black_box(&text)).map_err(|problems| problems.to_string()));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = parse
}
criterion_main!(benches);
