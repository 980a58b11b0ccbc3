use std::hint::black_box;

use breakerbox_benches::NOW;
use breakerbox_core::Outcome;
use breakerbox_host::wit::bindings::Breakerbox;
use breakerbox_host::wit::bindings::exports::breakerbox::breaker::types::Decision;
use breakerbox_host::wit::{Settings, convert};
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Config, Engine, ResourceLimiter, Store};

/// An instance of a component with breakerbox's exports, and the size of its memory.
pub(crate) struct Instance {
    store: Store<Memory>,
    exports: Breakerbox,
}

#[derive(Default)]
struct Memory {
    bytes: usize,
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        self.bytes = desired;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

impl Instance {
    pub(crate) fn start(wasm: &str) -> Self {
        // As README tells hosts to.
        let engine = Engine::new(Config::new().concurrency_support(false)).expect("an engine");
        let component = Component::from_file(&engine, wasm).expect("a component that was built");
        let mut store = Store::new(&engine, Memory::default());
        store.limiter(|memory| memory);
        let exports = Breakerbox::instantiate(&mut store, &component, &Linker::new(&engine))
            .expect("a component without imports");
        Self { store, exports }
    }

    pub(crate) fn breaker(&mut self, settings: Settings) -> ResourceAny {
        let breakers = self.exports.breakerbox_breaker_breakers().breaker();
        let breaker = breakers.call_constructor(&mut self.store, settings, NOW.nanos()).expect("no trap");
        breaker.expect("the settings of a bench are sound")
    }

    pub(crate) fn acquire(&mut self, breaker: ResourceAny) -> Decision {
        let breakers = self.exports.breakerbox_breaker_breakers().breaker();
        breakers.call_acquire(&mut self.store, breaker, black_box(NOW.nanos())).expect("no trap")
    }

    /// One guarded call.
    pub(crate) fn call(&mut self, breaker: ResourceAny, outcome: Outcome) {
        let outcome = convert::outcome(outcome);
        if let Decision::Admitted(permit) = self.acquire(breaker) {
            let breakers = self.exports.breakerbox_breaker_breakers().breaker();
            let receipt =
                breakers.call_record(&mut self.store, breaker, permit, outcome, black_box(NOW.nanos()));
            black_box(receipt.expect("no trap"));
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.store.data().bytes
    }
}
