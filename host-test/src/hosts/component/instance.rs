use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, ensure};
use breakerbox_core::{EventKind, Mark, Outcome, Permit, Receipt, Rejection, Snapshot};
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Config, Engine, Store};

use crate::guests::COMPONENT_WASM;
use crate::scenario::Control;
use crate::wit::bindings::exports::breakerbox::breaker::breakers::Guest;
use crate::wit::bindings::exports::breakerbox::breaker::settings::Problem;
use crate::wit::bindings::{Breakerbox, BreakerboxPre};
use crate::wit::{Settings, convert};

/// One instance of the component, and the settings of the breakers in it.
pub(super) struct Instance {
    store: Store<()>,
    exports: Breakerbox,
    settings: Settings,
}

/// A breaker of an instance.
#[derive(Clone, Copy)]
pub(super) struct Handle(ResourceAny);

impl Instance {
    /// A new instance, for breakers with these settings (JSON).
    pub(super) fn start(settings: &str) -> Result<Self> {
        let component = component()?;
        let mut store = Store::new(component.engine(), ());
        let exports = done(component.instantiate(&mut store))?;
        let parsed = exports.breakerbox_breaker_settings().call_parse_settings(&mut store, settings);
        let settings = done(parsed)?.map_err(|problems| refused(&problems))?;
        Ok(Self { store, exports, settings })
    }

    pub(super) fn create(&mut self, now: Mark) -> Result<Handle> {
        let settings = self.settings;
        let created =
            self.call(|breakers, store| breakers.breaker().call_constructor(store, settings, now.nanos()))?;
        created.map(Handle).map_err(|problems| refused(&problems))
    }

    pub(super) fn restore(&mut self, bytes: &[u8], now: Mark) -> Result<Handle> {
        let settings = self.settings;
        let restored = self
            .call(|breakers, store| breakers.breaker().call_restore(store, settings, bytes, now.nanos()))?;
        restored.map(Handle).map_err(|error| anyhow!("the slot was refused: {error:?}"))
    }

    pub(super) fn save(&mut self, breaker: Handle) -> Result<Vec<u8>> {
        self.call(|breakers, store| breakers.breaker().call_save(store, breaker.0))
    }

    pub(super) fn acquire(&mut self, breaker: Handle, now: Mark) -> Result<Result<Permit, Rejection>> {
        let decision =
            self.call(|breakers, store| breakers.breaker().call_acquire(store, breaker.0, now.nanos()))?;
        Ok(convert::decision(decision))
    }

    pub(super) fn record(
        &mut self,
        breaker: Handle,
        permit: Permit,
        outcome: Outcome,
        now: Mark,
    ) -> Result<Receipt> {
        let (permit, outcome) = (convert::permit(permit), convert::outcome(outcome));
        let receipt = self.call(|breakers, store| {
            breakers.breaker().call_record(store, breaker.0, permit, outcome, now.nanos())
        })?;
        Ok(convert::receipt(receipt))
    }

    pub(super) fn control(&mut self, breaker: Handle, control: Control, now: Mark) -> Result<()> {
        let now = now.nanos();
        self.call(|breakers, store| match control {
            Control::ForceOpen => breakers.breaker().call_force_open(store, breaker.0, now),
            Control::Disable => breakers.breaker().call_disable(store, breaker.0, now),
            Control::Reset => breakers.breaker().call_reset(store, breaker.0, now),
        })
    }

    pub(super) fn snapshot(&mut self, breaker: Handle, now: Mark) -> Result<Snapshot> {
        let look =
            self.call(|breakers, store| breakers.breaker().call_snapshot(store, breaker.0, now.nanos()))?;
        convert::snapshot(&look)
    }

    pub(super) fn take_events(&mut self, breaker: Handle) -> Result<Vec<EventKind>> {
        let batch = self.call(|breakers, store| breakers.breaker().call_take_events(store, breaker.0))?;
        ensure!(batch.dropped == 0, "{} events were dropped", batch.dropped);
        Ok(batch.events.iter().map(|event| convert::event_kind(event.kind)).collect())
    }

    pub(super) fn close(&mut self, breaker: Handle) -> Result<()> {
        done(breaker.0.resource_drop(&mut self.store))
    }

    fn call<T>(&mut self, call: impl FnOnce(&Guest, &mut Store<()>) -> wasmtime::Result<T>) -> Result<T> {
        done(call(self.exports.breakerbox_breaker_breakers(), &mut self.store))
    }
}

/// The component, compiled once in a process and ready to be instantiated.
fn component() -> Result<&'static BreakerboxPre<()>> {
    static COMPONENT: OnceLock<BreakerboxPre<()>> = OnceLock::new();
    if let Some(component) = COMPONENT.get() {
        return Ok(component);
    }
    let mut config = Config::new();
    // No async calls are made, and support for them makes all others several times as dear.
    config.concurrency_support(false);
    let engine = done(Engine::new(&config))?;
    let component = done(Component::from_file(&engine, COMPONENT_WASM))
        .with_context(|| format!("{COMPONENT_WASM} is no component"))?;
    let component = done(Linker::new(&engine).instantiate_pre(&component))?;
    let component = done(BreakerboxPre::new(component))?;
    Ok(COMPONENT.get_or_init(|| component))
}

/// wasmtime's errors are a type of their own.
fn done<T>(result: wasmtime::Result<T>) -> Result<T> {
    result.map_err(|error| anyhow!("{error:#}"))
}

fn refused(problems: &[Problem]) -> anyhow::Error {
    let lines: Vec<_> =
        problems.iter().map(|Problem { key, message, .. }| format!("{key}: {message}")).collect();
    anyhow!("config: {}", lines.join("\n"))
}
