//! A breaker in a Rust host: it opens, rejects, probes and closes.

// What `bindgen!` writes has no documentation and its own style.
#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]

use breakerbox_host::guests::COMPONENT_WASM;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Result, Store};

use crate::exports::breakerbox::breaker::types::{Decision, EventKind, Outcome, Reason, Receipt, State};

wasmtime::component::bindgen!({ path: "../wit", world: "breakerbox" });

const SECOND: u64 = 1_000_000_000; // marks and durations are nanoseconds

fn main() -> Result<()> {
    // Where the async features of wasmtime are compiled in, calls are several times slower unless this is off.
    let engine = Engine::new(Config::new().concurrency_support(false))?;
    let component = Component::from_file(&engine, COMPONENT_WASM)?;
    let mut store = Store::new(&engine, ());
    let exports = Breakerbox::instantiate(&mut store, &component, &Linker::new(&engine))?;
    let breakers = exports.breakerbox_breaker_breakers().breaker();

    let json = r#"{"window_size": 2, "wait_in_open": "5s", "half_open_calls": 1}"#;
    let settings = exports.breakerbox_breaker_settings().call_parse_settings(&mut store, json)?;
    let settings = settings.expect("the settings are sound");
    let now = 100 * SECOND;
    let breaker = breakers.call_constructor(&mut store, settings, now)?.expect("the settings are sound");

    for _ in 0..2 {
        let Decision::Admitted(permit) = breakers.call_acquire(&mut store, breaker, now)? else { panic!() };
        // Here the call is made, and fails.
        let receipt = breakers.call_record(&mut store, breaker, permit, Outcome::Failure, now)?;
        assert_eq!(receipt, Receipt::Counted);
    }
    assert_eq!(breakers.call_snapshot(&mut store, breaker, now)?.state, State::Open);

    let decision = breakers.call_acquire(&mut store, breaker, now + SECOND)?;
    let Decision::Rejected(rejection) = decision else { panic!("{decision:?}") };
    assert_eq!((rejection.reason, rejection.retry_after), (Reason::Open, Some(4 * SECOND)));

    let now = now + 5 * SECOND;
    let decision = breakers.call_acquire(&mut store, breaker, now)?;
    let Decision::Admitted(probe) = decision else { panic!("{decision:?}") };
    assert_eq!(probe.ticket, 1);
    breakers.call_record(&mut store, breaker, probe, Outcome::Success, now)?;
    assert_eq!(breakers.call_snapshot(&mut store, breaker, now)?.state, State::Closed);

    let events = breakers.call_take_events(&mut store, breaker)?.events;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Opened, EventKind::HalfOpened, EventKind::Closed]);
    breaker.resource_drop(&mut store)?;
    println!("opened, rejected, probed, closed");
    Ok(())
}
