//! Any calls on the component, with any values: none traps, and its memory does not grow for ever.

mod any;
#[path = "component/input.rs"]
mod input;
mod probes;
mod slot_bytes;

use std::sync::LazyLock;

use breakerbox_core::{Mark, Permit, Receipt};
use breakerbox_host::guests::COMPONENT_WASM;
use breakerbox_host::wit::bindings::{Breakerbox, BreakerboxPre};
use breakerbox_host::wit::{UNSET, convert};
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Config, Engine, ResourceLimiter, Store};

use any::{AnyOutcome, Control};
use input::{Call, Calls, Deed};
use probes::Probes;

/// More than any call needs: a text of 600 KB makes a tree of it.
const MOST_MEMORY: usize = 64 << 20;

static COMPONENT: LazyLock<BreakerboxPre<Memory>> = LazyLock::new(|| {
    let engine = Engine::new(Config::new().concurrency_support(false)).expect("an engine");
    let component = Component::from_file(&engine, COMPONENT_WASM).expect("the component is built");
    let instance = Linker::new(&engine).instantiate_pre(&component).expect("it imports nothing");
    BreakerboxPre::new(instance).expect("it is what wit/ says")
});

#[test]
fn any_calls_are_answered() {
    bolero::check!(name = "component").with_type::<Calls>().with_iterations(3_000).for_each(|calls| {
        let mut host = Host::new();
        let mut grown = [0; 3];
        for memory in &mut grown {
            host.play(calls).expect("no trap");
            *memory = host.store.data().bytes;
        }
        // The first time it takes what it needs; then it has it.
        assert_eq!(grown[1], grown[2], "the same calls take more memory each time: {grown:?}");
    });
}

/// How much memory the component has.
#[derive(Default)]
struct Memory {
    bytes: usize,
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > MOST_MEMORY {
            return Err(wasmtime::Error::msg(format!("the component wants {desired} bytes")));
        }
        self.bytes = desired;
        Ok(true)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

struct Host {
    store: Store<Memory>,
    component: Breakerbox,
    breakers: Vec<Breaker>,
    /// What was saved last.
    saved: Vec<u8>,
}

struct Breaker {
    handle: ResourceAny,
    issued: Vec<Permit>,
    /// The probes that it has let out and not got back.
    out: Probes,
}

impl Host {
    fn new() -> Self {
        let mut store = Store::new(COMPONENT.engine(), Memory::default());
        store.limiter(|memory| memory);
        let component = COMPONENT.instantiate(&mut store).expect("it is instantiated");
        Self { store, component, breakers: Vec::new(), saved: Vec::new() }
    }

    fn play(&mut self, calls: &Calls) -> wasmtime::Result<()> {
        let mut now = Mark::from_millis(10_000);
        for (mark, call) in &calls.0 {
            now = mark.after(now);
            self.call(call, now.nanos())?;
        }
        self.saved.clear();
        for breaker in self.breakers.drain(..) {
            breaker.handle.resource_drop(&mut self.store)?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call, now: u64) -> wasmtime::Result<()> {
        let store = &mut self.store;
        let breakers = self.component.breakerbox_breaker_breakers().breaker();
        match call {
            Call::New(settings) => match breakers.call_constructor(&mut *store, settings.settings(), now)? {
                Ok(handle) => self.breakers.push(Breaker::of(handle)),
                Err(problems) => assert!(!problems.is_empty()),
            },
            Call::Parse(text) => {
                let text = text.text();
                let settings = self.component.breakerbox_breaker_settings();
                match settings.call_parse_settings(&mut *store, &text)? {
                    Ok(settings) => {
                        let handle = breakers.call_constructor(&mut *store, settings, now)?;
                        self.breakers.push(Breaker::of(handle.expect("settings that were read")));
                    }
                    Err(problems) => {
                        assert!(!problems.is_empty());
                        assert!(problems.iter().all(|it| !it.code.is_empty() && !it.message.is_empty()));
                    }
                }
            }
            Call::Restore(settings, damage) => {
                let bytes = damage.iter().fold(self.saved.clone(), |bytes, damage| damage.applied(bytes));
                if let Ok(handle) = breakers.call_restore(&mut *store, settings.settings(), &bytes, now)? {
                    self.breakers.push(Breaker::of(handle));
                }
            }
            Call::On(nth, deeds) => {
                let mut now = Mark::from_nanos(now);
                for (mark, deed) in deeds {
                    now = mark.after(now);
                    if let Some(nth) = usize::from(*nth).checked_rem(self.breakers.len()) {
                        self.on(nth, deed, now.nanos())?;
                    }
                }
            }
        }
        Ok(())
    }

    fn on(&mut self, nth: usize, deed: &Deed, now: u64) -> wasmtime::Result<()> {
        let store = &mut self.store;
        let breakers = self.component.breakerbox_breaker_breakers().breaker();
        let Breaker { handle, ref issued, .. } = self.breakers[nth];
        match deed {
            Deed::Acquire(calls) => {
                for _ in 0..*calls {
                    self.acquire(nth, now)?;
                }
            }
            Deed::Calls(calls, outcome) => {
                for _ in 0..*calls {
                    if let Some(permit) = self.acquire(nth, now)? {
                        self.record(nth, permit, outcome, now)?;
                    }
                }
            }
            Deed::Record(permit, outcome) => {
                let generation = breakers.call_snapshot(&mut *store, handle, now)?.generation;
                let permit = permit.permit(issued, generation);
                self.record(nth, permit, outcome, now)?;
            }
            Deed::Snapshot => drop(breakers.call_snapshot(&mut *store, handle, now)?),
            Deed::Control(Control::ForceOpen) => breakers.call_force_open(&mut *store, handle, now)?,
            Deed::Control(Control::Disable) => breakers.call_disable(&mut *store, handle, now)?,
            Deed::Control(Control::Reset) => breakers.call_reset(&mut *store, handle, now)?,
            Deed::TakeEvents => {
                let batch = breakers.call_take_events(&mut *store, handle)?;
                assert!(batch.events.len() <= 64);
            }
            Deed::Save => {
                let saved = breakers.call_save(&mut *store, handle)?;
                assert!(saved.len() <= slot_bytes::LONGEST, "{} bytes", saved.len());
                let restored = breakers.call_restore(&mut *store, UNSET, &saved, now)?;
                restored.expect("what was saved is a slot").resource_drop(&mut *store)?;
                self.saved = saved;
            }
            Deed::Drop => {
                handle.resource_drop(&mut *store)?;
                self.breakers.remove(nth);
            }
        }
        Ok(())
    }

    fn acquire(&mut self, nth: usize, now: u64) -> wasmtime::Result<Option<Permit>> {
        let store = &mut self.store;
        let breakers = self.component.breakerbox_breaker_breakers().breaker();
        let Breaker { handle, issued, out } = &mut self.breakers[nth];
        let Ok(permit) = convert::decision(breakers.call_acquire(&mut *store, *handle, now)?) else {
            return Ok(None);
        };
        issued.push(permit);
        if permit.ticket != 0 {
            out.let_out(permit, &breakers.call_save(&mut *store, *handle)?);
        }
        Ok(Some(permit))
    }

    fn record(&mut self, nth: usize, permit: Permit, outcome: &AnyOutcome, now: u64) -> wasmtime::Result<()> {
        let breakers = self.component.breakerbox_breaker_breakers().breaker();
        let Breaker { handle, out, .. } = &mut self.breakers[nth];
        let (given, outcome) = (convert::permit(permit), convert::outcome(outcome.outcome()));
        let receipt = breakers.call_record(&mut self.store, *handle, given, outcome, now)?;
        if convert::receipt(receipt) != Receipt::Stale {
            out.take_back(permit);
        }
        Ok(())
    }
}

impl Breaker {
    fn of(handle: ResourceAny) -> Self {
        Self { handle, issued: Vec::new(), out: Probes::default() }
    }
}
