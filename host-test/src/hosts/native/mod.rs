use std::fmt::Debug;

use anyhow::{Result, anyhow, ensure};
use breakerbox_core::{EventKind, Outcome, Receipt, Rejection, Settings, Snapshot};

use super::{At, Decision, Host, Session};
use crate::scenario::Control;

mod in_process;
mod shared;

use in_process::InProcess;
use shared::SharedSlot;

/// The core in this process, without wasm.
///
/// There are two ways to use it: a breaker that threads share, and workers on a slot in a store. Every scenario runs both
/// ways, and they must agree.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Host for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn open(&self, settings: &str, workers: usize) -> Result<Box<dyn Session>> {
        let rules = breakerbox_config::settings(settings, &Settings::default())
            .map_err(|problems| anyhow!("config: {problems}"))?;
        Ok(Box::new(Both {
            in_process: InProcess::new(rules.clone())?,
            shared: SharedSlot::new(&rules, workers)?,
            events: Vec::new(),
        }))
    }
}

struct Both {
    in_process: InProcess,
    shared: SharedSlot,
    events: Vec<EventKind>,
}

impl Both {
    fn agreed<T: Debug + PartialEq>(
        &mut self,
        mut operation: impl FnMut(&mut dyn Session) -> Result<T>,
    ) -> Result<T> {
        let in_process = operation(&mut self.in_process)?;
        let shared = operation(&mut self.shared)?;
        let events = self.in_process.take_events();
        let other_events = self.shared.take_events();
        ensure!(
            in_process == shared && events == other_events,
            "the core contradicts itself\n  in one process: {in_process:?}, events {events:?}\n  \
             on a shared slot: {shared:?}, events {other_events:?}"
        );
        self.events.extend(events);
        Ok(shared)
    }
}

impl Session for Both {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        self.agreed(|session| session.acquire(at, id))
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        self.agreed(|session| session.record(at, id, outcome))
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        self.agreed(|session| session.control(at, control))
    }

    fn restart(&mut self, at: At) -> Result<()> {
        self.agreed(|session| session.restart(at))
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        self.agreed(|session| session.snapshot(at))
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }
}

impl<T> From<Result<T, Rejection>> for Decision {
    fn from(answer: Result<T, Rejection>) -> Self {
        match answer {
            Ok(_) => Self::Admitted,
            Err(Rejection { reason, retry_after, .. }) => Self::Rejected { reason, retry_after },
        }
    }
}
