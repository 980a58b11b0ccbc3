//! Any requests, endings, faults and foreign writes: the filter never breaks, keeps to its bounds, and lets out no more
//! probes than it may.

mod any;
#[path = "filter/input.rs"]
mod input;
mod slot_bytes;

use anyhow::{Context as _, Result, ensure};
use breakerbox_core::{Mark, Rules, Settings, Slot, State};
use breakerbox_host::proxy::{Answer, Module, Plugin, Proxy, Request, Stream, Worker};
use serde_json::Value;

use input::{CONFIGURATIONS, Fault, IDS, SOUND, STRICT, Step, Traffic, plain_request};

/// Twice what the filter takes by itself, and far more than a request of 60 KB needs.
const MOST_MEMORY: usize = 8 << 20;

/// The most metrics that one breaker has, each way to move counted.
const MOST_METRICS: usize = 100;

/// The most keys beside the slots: 64 parts of the index, their number, the revisions, and what was said once.
const MOST_KEYS: usize = 64 + 2 + 8;

/// Where the slot lies that the strict configurations have.
const STRICT_SLOT: &[u8] = b"breakerbox/slot/all";

const FILTER: &str = "filter";
const ADMIN: &str = "admin";

#[test]
fn any_traffic_is_survived() {
    bolero::check!(name = "filter").with_type::<Traffic>().with_iterations(2_000).for_each(|traffic| {
        World::new(traffic)
            .and_then(|mut world| world.play(traffic))
            .unwrap_or_else(|error| panic!("{error:?}"));
    });
}

struct World {
    proxy: Proxy,
    workers: Vec<Worker>,
    begun: Vec<Begun>,
    /// Whether shared data did not answer once, or holds what the filter did not write: then it may forget breakers that
    /// it made, and make as many again in each of its lives.
    is_disturbed: bool,
    lives: usize,
    /// The most breakers that a configuration has allowed so far.
    most_breakers: usize,
    /// Whether each worker rejects whatever the breaker `all` rejects.
    is_strict: [bool; 2],
}

/// A request that passed.
struct Begun {
    stream: Stream,
    worker: usize,
    /// If it is a probe: of this slot's generation.
    probe_of: Option<(Vec<u8>, u64)>,
}

impl World {
    fn new(traffic: &Traffic) -> Result<Self> {
        let proxy = Proxy::new();
        let module = Module::filter()?.with_memory(MOST_MEMORY);
        // What is refused would leave nothing to test.
        let nth = usize::from(traffic.configuration) % SOUND;
        let sound = CONFIGURATIONS[nth];
        let plugins = [Plugin::new(sound).named(FILTER), Plugin::new(r#"{"role": "admin"}"#).named(ADMIN)];
        let start = || proxy.start(&module, &plugins.each_ref());
        let workers = vec![start()?, start()?];
        Ok(Self {
            proxy,
            workers,
            begun: Vec::new(),
            is_disturbed: false,
            lives: 2,
            most_breakers: most_breakers(sound),
            is_strict: [nth < STRICT; 2],
        })
    }

    fn play(&mut self, traffic: &Traffic) -> Result<()> {
        for (nth, mark, step) in &traffic.steps {
            self.proxy.clock().set(mark.after(self.proxy.clock().now()));
            self.step(usize::from(*nth), step).with_context(|| format!("{step:?}\n{}", self.proxy.log()))?;
            self.check()?;
        }
        Ok(())
    }

    fn step(&mut self, nth: usize, step: &Step) -> Result<()> {
        match step {
            Step::Begin(request) => self.begin(nth, request.request())?,
            Step::Respond(begun, response) => {
                if let Some(begun) = self.take(*begun) {
                    begun.stream.respond(response.response())?;
                }
            }
            Step::Leave(begun) => {
                if let Some(begun) = self.take(*begun) {
                    begun.stream.leave()?;
                }
            }
            Step::Forget(begun) => drop(self.take(*begun)),
            Step::Callbacks(to_admin, request, response, callbacks) => {
                let plugin = if *to_admin { ADMIN } else { FILTER };
                let callbacks: Vec<_> = callbacks.iter().map(|it| it.callback()).collect();
                self.workers[nth].callbacks(plugin, request.request(), response.response(), &callbacks)?;
            }
            Step::Ask(question) => {
                let reply = self.workers[nth].request_to(ADMIN, question.request())?.into_reply()?;
                if reply.header("content-type") == Some("application/json") {
                    serde_json::from_slice::<Value>(&reply.body)?;
                }
                ensure!(reply.body.len() < 1 << 20, "{} bytes of an answer", reply.body.len());
            }
            Step::Tick => self.workers[nth].tick()?,
            Step::Rush(requests) => {
                for _ in 0..*requests {
                    self.begin(nth, plain_request())?;
                }
            }
            Step::Calls(requests, response) => {
                for _ in 0..*requests {
                    let begun = self.begun.len();
                    self.begin(nth, plain_request())?;
                    for begun in self.begun.drain(begun..) {
                        begun.stream.respond(response.response())?;
                    }
                }
            }
            Step::Fault(fault) => self.fault(nth, fault)?,
        }
        Ok(())
    }

    fn fault(&mut self, nth: usize, fault: &Fault) -> Result<()> {
        match fault {
            Fault::Crash => {
                // Its requests are never heard of again.
                self.begun.retain(|begun| begun.worker != nth);
                self.lives += 1;
                self.workers[nth].crash()?;
            }
            Fault::Replace => {
                self.lives += 1;
                self.workers[nth].replace()?;
            }
            Fault::Conflict(writes) => {
                // More than the filter puts up with are as if shared data did not answer.
                self.is_disturbed |= *writes >= 32;
                self.proxy.shared_data().conflict((*writes).into());
            }
            Fault::Withhold(accesses) => {
                self.is_disturbed = true;
                self.proxy.shared_data().withhold((*accesses).into());
            }
            Fault::Write(key, bytes) => {
                self.disturb();
                self.proxy.shared_data().set(&key.key(), &bytes.bytes());
            }
            Fault::Damage(nth_key, damage) => {
                self.disturb();
                let data = self.proxy.shared_data();
                let keys = data.keys();
                let Some(key) = usize::from(*nth_key).checked_rem(keys.len()).map(|nth| &keys[nth]) else {
                    return Ok(());
                };
                data.set(key, &damage.applied(data.get(key).unwrap_or_default()));
            }
            Fault::Configure(configuration) => {
                let configured = usize::from(*configuration) % CONFIGURATIONS.len();
                self.configure(nth, CONFIGURATIONS[configured], configured < STRICT)?;
            }
            Fault::ConfigureAny(configuration) => self.configure(nth, &configuration.bytes(), false)?,
        }
        Ok(())
    }

    fn begin(&mut self, nth: usize, request: Request) -> Result<()> {
        let unguarded = || self.proxy.metric("breakerbox_unguarded_calls");
        let (before, unguarded_before) = (self.slots(), unguarded());
        let Answer::Passed(stream) = self.workers[nth].request_to(FILTER, request)? else { return Ok(()) };
        let is_unguarded = unguarded() != unguarded_before;
        let mut probe_of = None;
        for (key, slot) in self.slots() {
            let out_before = before.iter().find(|(known, _)| *known == key).map_or(0, |(_, before)| {
                if before.generation == slot.generation { before.probes_out } else { 0 }
            });
            if slot.probes_out > out_before {
                let probe = (key, slot.generation);
                let out =
                    self.begun.iter().filter(|begun| begun.probe_of.as_ref() == Some(&probe)).count() + 1;
                ensure!(out <= slot.half_open_calls, "{out} of {} probes are out", slot.half_open_calls);
                probe_of = Some(probe);
            } else if slot.state == State::HalfOpen
                && key == STRICT_SLOT
                && self.is_strict[nth]
                && !self.is_disturbed
            {
                ensure!(is_unguarded, "a request passed a half-open breaker, and is no probe");
            }
        }
        self.begun.push(Begun { stream, worker: nth, probe_of });
        Ok(())
    }

    fn take(&mut self, nth: u8) -> Option<Begun> {
        let nth = usize::from(nth).checked_rem(self.begun.len())?;
        Some(self.begun.swap_remove(nth))
    }

    /// What shared data holds is another's from now on.
    fn disturb(&mut self) {
        self.is_disturbed = true;
        self.begun.iter_mut().for_each(|begun| begun.probe_of = None);
    }

    fn configure(&mut self, nth: usize, configuration: &[u8], is_strict: bool) -> Result<()> {
        self.lives += 1;
        if self.workers[nth].configure(&Plugin::new(configuration).named(FILTER))? {
            self.most_breakers = self.most_breakers.max(most_breakers(configuration));
            self.is_strict[nth] = is_strict;
        }
        Ok(())
    }

    fn slots(&self) -> Vec<(Vec<u8>, Seen)> {
        let data = self.proxy.shared_data();
        let keys = data.keys().into_iter().filter(|key| key.starts_with(b"breakerbox/slot/"));
        keys.filter_map(|key| Some((data.get(&key)?, key)))
            .filter_map(|(bytes, key)| Some((key, Seen::of(bytes)?)))
            .collect()
    }

    /// Nothing grows for ever.
    fn check(&self) -> Result<()> {
        let data = self.proxy.shared_data();
        let (slots, others): (Vec<_>, Vec<_>) = data
            .keys()
            .into_iter()
            .filter(|key| key.starts_with(b"breakerbox/"))
            .partition(|key| key.starts_with(b"breakerbox/slot/"));
        let breakers =
            if self.is_disturbed { self.most_breakers * self.lives + IDS.len() } else { self.most_breakers };
        ensure!(slots.len() <= breakers, "{} slots, where {breakers} may be", slots.len());
        ensure!(others.len() <= MOST_KEYS, "{} keys beside the slots", others.len());
        let metrics = self.proxy.metrics().len();
        ensure!(metrics <= 1 + MOST_METRICS * breakers.max(slots.len()), "{metrics} metrics");
        if !self.is_disturbed {
            let longest = slots.iter().filter_map(|key| data.get(key)).map(|bytes| bytes.len()).max();
            ensure!(longest.unwrap_or(0) <= slot_bytes::LONGEST, "a slot of {longest:?} bytes");
        }
        Ok(())
    }
}

/// What matters of a slot here.
struct Seen {
    state: State,
    generation: u64,
    probes_out: u32,
    half_open_calls: usize,
}

impl Seen {
    fn of(mut bytes: Vec<u8>) -> Option<Self> {
        let half_open_calls = slot_bytes::half_open_calls(&bytes);
        let rules = Rules::new(&Settings::default()).ok()?;
        let snapshot = Slot::parse(&mut bytes).ok()?.snapshot(&rules, Mark::ZERO);
        Some(Self {
            state: snapshot.state,
            generation: snapshot.generation,
            probes_out: snapshot.probes_out,
            half_open_calls,
        })
    }
}

fn most_breakers(configuration: &[u8]) -> usize {
    let config = str::from_utf8(configuration).ok().and_then(|text| breakerbox_config::filter(text).ok());
    config.map_or(1_000, |config| config.max_breakers as usize)
}
