//! Calls of the component allocate nothing: its memory is full, and they are answered all the same.

use std::fs;

use anyhow::{Context as _, Result, anyhow};
use breakerbox_host::guests::COMPONENT_WASM;
use wasmparser::{Parser, Payload};
use wasmtime::{
    Caller, Engine, Instance, Linker, Memory, Module, Store, StoreLimits, StoreLimitsBuilder, TypedFunc,
    WasmParams, WasmResults,
};

const BREAKERS: &str = "breakerbox:breaker/breakers@0.1.0";
const NOW: u64 = 1_000_000_000;

/// Which case a variant is stands in its first byte; what comes after that may be anything.
const CASE: u32 = 0xff;

/// The module inside the component, which can be looked into and whose traps do not poison it.
struct Core {
    store: Store<StoreLimits>,
    instance: Instance,
    memory: Memory,
}

/// A breaker's address in the module.
#[derive(Clone, Copy)]
struct Breaker(u32);

/// A permit's generation, ticket and mark.
type Permit = (u64, u32, u64);

impl Core {
    fn start() -> Result<Self> {
        let engine = Engine::default();
        let module = done(Module::new(&engine, module_of(&fs::read(COMPONENT_WASM)?)?))?;
        let mut store = Store::new(&engine, StoreLimits::default());
        store.limiter(|limits| limits);
        let mut linker = Linker::new(&engine);
        let exported = format!("[export]{BREAKERS}");
        // A handle may be anything that the module can find the breaker by, so let it be its address.
        let new = |_: Caller<'_, StoreLimits>, address: u32| address;
        done(linker.func_wrap(&exported, "[resource-new]breaker", new).map(drop))?;
        done(linker.define_unknown_imports_as_traps(&module))?;
        let instance = done(linker.instantiate(&mut store, &module))?;
        let memory = instance.get_memory(&mut store, "memory").context("no memory")?;
        Ok(Self { store, instance, memory })
    }

    fn function<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> Result<TypedFunc<P, R>> {
        done(self.instance.get_typed_func(&mut self.store, name))
    }

    fn method<P: WasmParams, R: WasmResults>(&mut self, name: &str) -> Result<TypedFunc<P, R>> {
        self.function(&format!("{BREAKERS}#[method]breaker.{name}"))
    }

    fn allocate(&mut self, bytes: u32) -> Result<u32> {
        let realloc = self.function::<(u32, u32, u32, u32), u32>("cabi_realloc")?;
        done(realloc.call(&mut self.store, (0, 0, 8, bytes)))
    }

    /// A breaker with default settings: what is all zero says none everywhere.
    fn breaker(&mut self) -> Result<Breaker> {
        // As the canonical ABI lays them out; the module gives them back to its allocator by that size.
        const SETTINGS_AND_MARK: u32 = 184;
        let parameters = self.allocate(SETTINGS_AND_MARK)?;
        let zeros = [0; SETTINGS_AND_MARK as usize];
        self.memory.write(&mut self.store, usize::try_from(parameters)?, &zeros)?;
        let new = self.function::<u32, u32>(&format!("{BREAKERS}#[constructor]breaker"))?;
        let result = done(new.call(&mut self.store, parameters))?;
        let [case, address] = self.words(result)?;
        assert_eq!(case & CASE, 0, "the defaults were refused");
        Ok(Breaker(address))
    }

    fn words<const N: usize>(&self, address: u32) -> Result<[u32; N]> {
        let mut words = [0; N];
        for (word, at) in words.iter_mut().zip((usize::try_from(address)?..).step_by(4)) {
            let mut bytes = [0; 4];
            self.memory.read(&self.store, at, &mut bytes)?;
            *word = u32::from_le_bytes(bytes);
        }
        Ok(words)
    }

    /// The permit, or `None` if the call is rejected.
    fn acquire(&mut self, breaker: Breaker) -> Result<Option<Permit>> {
        let acquire = self.method::<(u32, u64), u32>("acquire")?;
        let decision = done(acquire.call(&mut self.store, (breaker.0, NOW)))?;
        let [case, _, low, high, ticket] = self.words(decision)?;
        Ok((case & CASE == 0).then_some((u64::from(high) << 32 | u64::from(low), ticket, NOW)))
    }

    fn record(&mut self, breaker: Breaker, permit: Permit, outcome: u32) -> Result<u32> {
        let record = self.method::<(u32, u64, u32, u64, u32, u64), u32>("record")?;
        let (generation, ticket, admitted_at) = permit;
        done(record.call(&mut self.store, (breaker.0, generation, ticket, admitted_at, outcome, NOW)))
    }

    fn force_open(&mut self, breaker: Breaker) -> Result<()> {
        let force_open = self.method::<(u32, u64), ()>("force-open")?;
        done(force_open.call(&mut self.store, (breaker.0, NOW)))
    }

    fn save(&mut self, breaker: Breaker) -> Result<u32> {
        let save = self.method::<u32, u32>("save")?;
        done(save.call(&mut self.store, breaker.0))
    }

    /// Lets the memory grow no more, and uses up what is left of it.
    fn fill(&mut self) {
        let size = self.memory.data_size(&self.store);
        *self.store.data_mut() = StoreLimitsBuilder::new().memory_size(size).build();
        for bytes in [16_384, 1_024, 64, 1] {
            while self.allocate(bytes).is_ok() {}
        }
    }
}

#[test]
fn calls_need_no_memory() -> Result<()> {
    const COUNTED: u32 = 0;
    const IGNORED: u32 = 1;
    let mut core = Core::start()?;
    let (closed, open, lost) = (core.breaker()?, core.breaker()?, core.breaker()?);
    core.force_open(open)?;
    core.save(lost)?;
    core.fill();
    assert!(core.save(lost).is_err(), "there is memory left, and calls might have used it");

    for number in 0..2_000 {
        // Through a window that is filled, clean, and full of a tenth of failures.
        let (outcome, receipt) = match number {
            1_000.. if number % 10 == 0 => (1, COUNTED),
            1_000.. if number % 10 == 1 => (2, IGNORED),
            _ => (0, COUNTED),
        };
        let permit = core.acquire(closed)?.context("a call was rejected")?;
        assert_eq!(core.record(closed, permit, outcome)?, receipt, "call {number}");
        assert_eq!(core.acquire(open)?, None);
    }
    Ok(())
}

/// The largest module of a component; the others only connect it.
fn module_of(component: &[u8]) -> Result<&[u8]> {
    let mut largest: &[u8] = &[];
    for payload in Parser::new(0).parse_all(component) {
        if let Payload::ModuleSection { unchecked_range, .. } = payload? {
            let range = usize::try_from(unchecked_range.start)?..usize::try_from(unchecked_range.end)?;
            let module = component.get(range).context("a module outside of its component")?;
            largest = if module.len() > largest.len() { module } else { largest };
        }
    }
    Ok(largest)
}

/// wasmtime's errors are a type of their own.
fn done<T>(result: wasmtime::Result<T>) -> Result<T> {
    result.map_err(|error| anyhow!("{error:#}"))
}
