//! No input traps the component. A trap would poison the store, and with it every breaker of the instance.

// What `bindgen!` writes has no documentation and its own style.
#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]

use anyhow::{Result, anyhow};
use breakerbox_host::guests::COMPONENT_WASM;
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Config, Engine, Store};

use exports::breakerbox::breaker::settings::{Backoff, HalfOpenPolicy, Settings, WindowType};
use exports::breakerbox::breaker::types::{Decision, Outcome, Permit};

wasmtime::component::bindgen!({ path: "../wit", world: "breakerbox" });

const ROUNDS: usize = 5_000;

/// One instance, and a source of surprises: splitmix64 from a fixed seed.
struct Bench {
    store: Store<()>,
    component: Breakerbox,
    seed: u64,
}

impl Bench {
    fn new() -> Result<Self> {
        let engine = Engine::new(Config::new().concurrency_support(false)).map_err(|it| anyhow!(it))?;
        let component = Component::from_file(&engine, COMPONENT_WASM).map_err(|it| anyhow!(it))?;
        let mut store = Store::new(&engine, ());
        let component = Breakerbox::instantiate(&mut store, &component, &Linker::new(&engine))
            .map_err(|it| anyhow!(it))?;
        Ok(Self { store, component, seed: 7 })
    }

    fn random(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.seed ^ (self.seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.random()).unwrap_or(usize::MAX) % limit
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A number from an edge, or any.
    fn number(&mut self) -> u64 {
        let any = self.random();
        self.one_of(&[
            0,
            1,
            2,
            3,
            10,
            1_000_000_000,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
            any,
            any >> 32,
        ])
    }

    fn small(&mut self) -> u32 {
        let any = u32::try_from(self.random() >> 32).unwrap_or_default();
        self.one_of(&[0, 1, 2, 3, 600, 601, 1_000, 10_000, 10_001, u32::MAX, any])
    }

    fn float(&mut self) -> f64 {
        let any = f64::from_bits(self.random());
        self.one_of(&[
            0.0,
            -0.0,
            0.01,
            1.0,
            1.01,
            33.33,
            33.333,
            50.0,
            100.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            any,
        ])
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) == 0).then(|| make(self))
    }

    fn settings(&mut self) -> Settings {
        Settings {
            window_type: self.maybe(|it| it.one_of(&[WindowType::Count, WindowType::Time])),
            window_size: self.maybe(Self::small),
            minimum_calls: self.maybe(Self::small),
            failure_rate_threshold: self.maybe(Self::float),
            slow_call_duration: self.maybe(Self::number),
            slow_call_rate_threshold: self.maybe(Self::float),
            consecutive_failures: self.maybe(Self::small),
            wait_in_open: self.maybe(Self::number),
            open_backoff: self.maybe(|it| Backoff { multiplier: it.float(), max: it.number() }),
            open_jitter: self.maybe(Self::float),
            half_open_calls: self.maybe(Self::small),
            half_open_policy: self
                .maybe(|it| it.one_of(&[HalfOpenPolicy::Rate, HalfOpenPolicy::AllMustSucceed])),
            max_wait_in_half_open: self.maybe(Self::number),
            enabled: self.maybe(|it| it.below(2) == 0),
        }
    }

    /// Calls everything that a breaker has, in any order.
    fn use_up(&mut self, breaker: ResourceAny) -> wasmtime::Result<()> {
        let mut permit =
            Permit { generation: self.number(), ticket: self.small(), admitted_at: self.number() };
        for _ in 0..self.below(30) {
            let (now, step) = (self.number(), self.below(12));
            let outcome = self.one_of(&[Outcome::Success, Outcome::Failure, Outcome::Ignored]);
            let Self { store, component, .. } = self;
            let breakers = component.breakerbox_breaker_breakers().breaker();
            match step {
                0 => drop(breakers.call_snapshot(store, breaker, now)?),
                1 => breakers.call_force_open(store, breaker, now)?,
                2 => breakers.call_disable(store, breaker, now)?,
                3 => breakers.call_reset(store, breaker, now)?,
                4 => drop(breakers.call_take_events(store, breaker)?),
                5..8 => drop(breakers.call_record(store, breaker, permit, outcome, now)?),
                _ => {
                    if let Decision::Admitted(issued) = breakers.call_acquire(store, breaker, now)? {
                        permit = issued;
                    }
                }
            }
        }
        Ok(())
    }

    /// Cuts, stretches or changes some bytes.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.below(4) {
            let any = self.random().to_le_bytes()[0];
            match (self.below(8), bytes.len()) {
                (0, length) => bytes.truncate(self.below(length + 1)),
                (1, _) => bytes.push(any),
                (_, 0) => {}
                (_, length) => {
                    let at = self.below(length);
                    bytes[at] = self.one_of(&[0, 1, 2, 3, 4, 5, 0x7f, 0xff, any]);
                }
            }
        }
    }
}

#[test]
fn any_settings_and_any_calls_are_answered() -> Result<()> {
    let mut bench = Bench::new()?;
    let mut accepted = 0;
    for round in 0..ROUNDS {
        let settings = bench.settings();
        let Bench { store, component, seed } = &mut bench;
        let breakers = component.breakerbox_breaker_breakers().breaker();
        if let Ok(breaker) = breakers
            .call_constructor(&mut *store, settings, *seed)
            .map_err(|trap| anyhow!("{round}: {trap:?}"))?
        {
            accepted += 1;
            bench.use_up(breaker).map_err(|trap| anyhow!("{round}: {trap:?}"))?;
            breaker.resource_drop(&mut bench.store).map_err(|it| anyhow!(it))?;
        }
    }
    assert!(accepted > ROUNDS / 100, "only {accepted} settings were sound");
    Ok(())
}

#[test]
fn any_bytes_are_restored_or_refused() -> Result<()> {
    let mut bench = Bench::new()?;
    let mut restored = 0;
    let json = r#"{"window_size": 8, "minimum_calls": 2, "wait_in_open": "1ns", "half_open_calls": 2}"#;
    let settings = bench.component.breakerbox_breaker_settings().call_parse_settings(&mut bench.store, json);
    let settings = settings.map_err(|it| anyhow!(it))?.map_err(|problems| anyhow!("{problems:?}"))?;
    let mut bytes = vec![];
    for round in 0..ROUNDS {
        bench.damage(&mut bytes);
        let now = bench.number();
        let Bench { store, component, .. } = &mut bench;
        let breakers = component.breakerbox_breaker_breakers().breaker();
        let answer = breakers
            .call_restore(&mut *store, settings, &bytes, now)
            .map_err(|trap| anyhow!("{round}, {bytes:?}: {trap:?}"))?;
        restored += usize::from(answer.is_ok());
        let breaker = match answer {
            Ok(breaker) => breaker,
            Err(_) => breakers
                .call_constructor(&mut *store, settings, now)
                .map_err(|it| anyhow!(it))?
                .map_err(|problems| anyhow!("{problems:?}"))?,
        };
        bench.use_up(breaker).map_err(|trap| anyhow!("{round}, {bytes:?}: {trap:?}"))?;
        let breakers = bench.component.breakerbox_breaker_breakers().breaker();
        bytes = breakers.call_save(&mut bench.store, breaker).map_err(|it| anyhow!(it))?;
        breaker.resource_drop(&mut bench.store).map_err(|it| anyhow!(it))?;
    }
    assert!((ROUNDS / 10..ROUNDS).contains(&restored), "{restored} of {ROUNDS} were restored");
    Ok(())
}

#[test]
fn any_text_is_read_or_refused() -> Result<()> {
    let mut bench = Bench::new()?;
    let sound =
        r#"{"windowSize": 8, "open_backoff": {"multiplier": 1.5, "max": "1h"}, "wait-in-open": "5s"}"#;
    let mut texts: Vec<String> =
        ["", "{", "[]", "null", "1e999", "{\"window_size\": 1e400}", "\"\\ud800\"", "{}{}"]
            .map(str::to_owned)
            .into();
    texts.push("[".repeat(100_000));
    texts.push("{\"open_backoff\":".repeat(100_000));
    texts.push(format!("{{\"{}\": \"{}\"}}", "w".repeat(100_000), "9".repeat(100_000)));
    for _ in 0..ROUNDS {
        let mut bytes = sound.as_bytes().to_vec();
        bench.damage(&mut bytes);
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    for text in texts {
        let settings = bench.component.breakerbox_breaker_settings();
        let answer = settings.call_parse_settings(&mut bench.store, &text);
        let answer = answer.map_err(|trap| anyhow!("{:.200}: {trap:?}", text))?;
        assert!(answer.map_or_else(|problems| !problems.is_empty(), |_| true), "{text}");
    }
    Ok(())
}
