use std::collections::HashMap;
use std::mem::take;

use anyhow::{Context as _, Result, bail, ensure};
use breakerbox_core::{EventKind, Outcome, Reason, Receipt, Snapshot};
use serde::Deserialize;

use super::view::View;
use crate::hosts::{At, Decision, Session};
use crate::proxy::{Answer, Module, Plugin, Proxy, Reply, Request, Response, Stream, Worker};
use crate::scenario::Control;

/// The route of all requests, and so the breaker's id.
const ROUTE: &str = "scenario";
const ADMIN: &str = "admin";

/// One breaker of the filter.
pub(super) struct Guarded {
    proxy: Proxy,
    workers: Vec<Worker>,
    calls: HashMap<String, Stream>,
    generation: u64,
    events: Vec<EventKind>,
}

/// The body of a rejection.
#[derive(Deserialize)]
struct Rejected {
    breaker: String,
    reason: String,
    retry_after_ms: Option<u64>,
}

impl Guarded {
    pub(super) fn new(config: &str, workers: usize) -> Result<Self> {
        let (filter, admin) = (Plugin::new(config), Plugin::new(r#"{"role": "admin"}"#).named(ADMIN));
        let module = Module::filter()?;
        let proxy = Proxy::new();
        let start = |_| proxy.start(&module, &[&filter, &admin]);
        let workers = (0..workers).map(start).collect::<Result<Vec<_>>>()?;
        // The filter meets a breaker with its first request, so each worker gets one that says nothing.
        for worker in &workers {
            worker.request(request())?.into_stream()?.leave()?;
        }
        Ok(Self { proxy, workers, calls: HashMap::new(), generation: 1, events: Vec::new() })
    }

    /// The worker, at that time.
    fn worker(&self, at: At) -> Result<&Worker> {
        self.proxy.clock().set(at.now);
        self.workers.get(at.worker).context("no such worker")
    }

    fn ask(&self, at: At, request: Request) -> Result<Reply> {
        // What the admin asks of those who have no token, and of those who change something.
        let request = request.header(":authority", "localhost").header("x-breakerbox", "1");
        let reply = self.worker(at)?.request_to(ADMIN, request)?.into_reply()?;
        ensure!(reply.status == 200, "the admin answered {}: {}", reply.status, reply.text());
        Ok(reply)
    }

    fn look(&self, at: At) -> Result<Snapshot> {
        let reply = self.ask(at, Request::get(&format!("/breakers/{ROUTE}")))?;
        let view: View = serde_json::from_str(&reply.text())?;
        view.into_snapshot()
    }

    /// The wait is known to the client in whole milliseconds and seconds, rounded up; the breaker knows it exactly.
    fn rejection(&self, at: At, reply: &Reply) -> Result<Decision> {
        let Rejected { breaker, reason, retry_after_ms } = serde_json::from_str(&reply.text())
            .with_context(|| format!("a rejection says {}", reply.text()))?;
        let status = (reply.status, reply.details.as_str(), breaker.as_str());
        ensure!(status == (503, "circuit_breaker_open", ROUTE), "a rejection says {status:?}");
        let reason = Reason::ALL.into_iter().find(|known| known.name() == reason);
        let reason = reason.with_context(|| format!("a rejection says {}", reply.text()))?;
        let retry_after = self.look(at)?.retry_after;
        let rounded = retry_after.map(|wait| wait.as_nanos().div_ceil(1_000_000));
        ensure!(
            retry_after_ms.map(u128::from) == rounded,
            "{retry_after_ms:?} ms left instead of {retry_after:?}"
        );
        let seconds = retry_after.map(|wait| wait.as_nanos().div_ceil(1_000_000_000).to_string());
        let header = reply.header("retry-after");
        ensure!(header == seconds.as_deref(), "retry-after is {header:?} instead of {seconds:?}");
        Ok(Decision::Rejected { reason, retry_after })
    }

    /// How many outcomes the filter has counted, by what became of them.
    fn counted(&self) -> [(Receipt, u64); 3] {
        let calls = |kind| {
            let name = format!("breakerbox_calls[breaker={ROUTE}][kind={kind}]");
            self.proxy.metric(&name).unwrap_or(0)
        };
        [
            (Receipt::Counted, calls("successful") + calls("failed")),
            (Receipt::Ignored, calls("ignored")),
            (Receipt::Stale, calls("stale")),
        ]
    }

    /// Moves since the last look, which every worker counts and logs, but only one of them for each move.
    fn hear(&mut self, snapshot: &Snapshot) -> Result<()> {
        let metrics = self.proxy.metrics();
        let counted: u64 = metrics
            .iter()
            .filter(|(name, _)| name.starts_with("breakerbox_transitions["))
            .map(|(_, value)| value)
            .sum();
        ensure!(
            counted + 1 == snapshot.generation,
            "{counted} transitions were counted until generation {}",
            snapshot.generation
        );
        let (before, after) = (self.generation, snapshot.generation);
        self.generation = after;
        match (after - before, &snapshot.last) {
            (0, _) => {}
            (1, Some(last)) => self.events.push(last.kind()),
            (moves, _) => bail!("{moves} moves in one step"),
        }
        Ok(())
    }
}

impl Session for Guarded {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        match self.worker(at)?.request(request())? {
            Answer::Passed(stream) => {
                self.calls.insert(id.to_owned(), stream);
                Ok(Decision::Admitted)
            }
            Answer::Replied(reply) => self.rejection(at, &reply),
        }
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        // A request ends once, whatever a scenario says.
        let Some(stream) = self.calls.remove(id) else { return Ok(Receipt::Stale) };
        let before = self.counted();
        self.worker(at)?;
        match outcome {
            Outcome::Success => drop(stream.respond(Response::new(200))?),
            Outcome::Failure => drop(stream.respond(Response::new(500))?),
            Outcome::Ignored => stream.leave()?,
        }
        let counted = self.counted().into_iter().zip(before);
        let mut grown = counted.filter(|((_, after), (_, before))| after != before);
        match (grown.next(), grown.next()) {
            (Some(((receipt, _), _)), None) => Ok(receipt),
            (first, second) => bail!("one outcome was counted as {first:?} and {second:?}"),
        }
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        let name = match control {
            Control::ForceOpen => "force-open",
            Control::Disable => "disable",
            Control::Reset => "reset",
        };
        self.ask(at, Request::new("POST", &format!("/breakers/{ROUTE}/{name}")).header("x-breakerbox", "1"))?;
        Ok(())
    }

    /// The requests that the old VM has still end there: a proxy does not drop them, either, when it gets a new one.
    fn restart(&mut self, at: At) -> Result<()> {
        self.worker(at)?;
        self.workers.get_mut(at.worker).context("no such worker")?.replace()
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        let snapshot = self.look(at)?;
        self.hear(&snapshot)?;
        Ok(snapshot)
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        take(&mut self.events)
    }
}

fn request() -> Request {
    Request::get("/").route(ROUTE)
}
