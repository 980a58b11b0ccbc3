use std::path::Path;

use breakerbox_core::{Mark, Rules, Settings, Slot, WindowType};
use breakerbox_host::guests::{COMPONENT_WASM, FILTER_WASM};
use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response, Worker};
use breakerbox_host::wit::UNSET;

use crate::component::Instance;

/// What the harness gives a filter's VM at most.
const VM_BYTES: usize = 128 << 20;

pub(crate) fn print() {
    println!("\n| window | bytes of a slot |\n|---|---|");
    let count = [10, 100, 1_000, 10_000].map(|size| (WindowType::Count, size, "calls"));
    let time = [10, 60, 600].map(|size| (WindowType::Time, size, "seconds"));
    for (window_type, window_size, unit) in count.into_iter().chain(time) {
        let settings = Settings { window_type, window_size, ..Settings::default() };
        println!("| {window_size} {unit} | {} |", slot_bytes(&settings));
    }
    println!("\n| memory of one breaker with default settings | bytes |\n|---|---|");
    println!("| component: of the instance's memory | {} |", in_the_component());
    println!("| filter: of each worker's VM | {} |", in_the_vm());
    println!("| filter: of shared data, keys included | {} |", in_shared_data());
}

fn slot_bytes(settings: &Settings) -> usize {
    let rules = Rules::new(settings).expect("the settings of a bench are sound");
    Slot::fresh(&rules, Mark::ZERO).len()
}

fn in_the_component() -> usize {
    const BREAKERS: usize = 10_000;
    let mut instance = Instance::start(COMPONENT_WASM);
    let before = instance.memory_bytes();
    for _ in 0..BREAKERS {
        instance.breaker(UNSET);
    }
    (instance.memory_bytes() - before) / BREAKERS
}

/// A VM does not tell how large it is, but breaks when it is full.
fn in_the_vm() -> usize {
    let (_, worker) = start();
    let mut breakers = 0;
    while meet(&worker, breakers).is_ok() {
        breakers += 1;
    }
    VM_BYTES / breakers
}

fn in_shared_data() -> usize {
    const BREAKERS: usize = 1_000;
    let (proxy, worker) = start();
    for number in 0..BREAKERS {
        meet(&worker, number).expect("a request that passes");
    }
    let data = proxy.shared_data();
    let bytes = |key: Vec<u8>| key.len() + data.get(&key).map_or(0, |value| value.len());
    data.keys().into_iter().map(bytes).sum::<usize>() / BREAKERS
}

fn start() -> (Proxy, Worker) {
    let proxy = Proxy::new();
    let module = Module::read(Path::new(FILTER_WASM)).expect("a filter that was built");
    let plugin = Plugin::new(r#"{"max_breakers": 100000}"#);
    let worker = proxy.start(&module, &[&plugin]).expect("a sound configuration");
    (proxy, worker)
}

/// The first request of a breaker.
fn meet(worker: &Worker, number: usize) -> anyhow::Result<()> {
    let request = Request::get("/").route(&format!("route-{number:05}"));
    worker.request(request)?.into_stream()?.respond(Response::new(500))?;
    Ok(())
}
