use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use breakerbox_host::guests::FILTER_WASM;
use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response};

const CALLS: u32 = 40_000;

/// Never opens, so that every call writes.
const SETTINGS: &str = r#"{"default": {"window_size": 100, "failure_rate_threshold": 100}}"#;

/// Workers that all write one breaker's slot, call after call, on a thread each.
pub(crate) fn print() {
    println!(
        "\n| workers on one failing breaker | calls a second | retries a call | given up |\n|---|---|---|---|"
    );
    for workers in [1, 2, 8] {
        let proxy = Proxy::new();
        let took = hammer(&proxy, workers);
        let metric = |name: &str| proxy.metric(&format!("breakerbox_{name}[breaker=bench]")).unwrap_or(0);
        let retries = metric("store_conflicts");
        println!(
            "| {workers} | {:.0} | {:.4} | {} |",
            f64::from(CALLS) / took.as_secs_f64(),
            f64::from(u32::try_from(retries).unwrap_or(u32::MAX)) / f64::from(CALLS),
            metric("store_give_ups"),
        );
    }
}

fn hammer(proxy: &Proxy, workers: u32) -> Duration {
    let module = Module::read(Path::new(FILTER_WASM)).expect("a filter that was built");
    let barrier = Barrier::new(workers as usize + 1);
    let run = || {
        let worker = proxy.start(&module, &[&Plugin::new(SETTINGS)]).expect("a sound configuration");
        barrier.wait();
        for number in 0..CALLS / workers {
            let answer = worker.request(Request::get("/").route("bench")).expect("no trap");
            // A success now and then, or it would open.
            let status = if number.is_multiple_of(10) { 200 } else { 500 };
            let stream = answer.into_stream().expect("a request that passes");
            stream.respond(Response::new(status)).expect("no trap");
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(run)).collect();
        barrier.wait();
        let start = Instant::now();
        for thread in running {
            thread.join().expect("a thread that ends well");
        }
        start.elapsed()
    })
}
