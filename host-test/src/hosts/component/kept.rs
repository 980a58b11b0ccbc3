use std::collections::HashMap;
use std::mem::take;

use anyhow::{Context as _, Result};
use breakerbox_core::{EventKind, Outcome, Permit, Receipt, Snapshot};

use super::instance::{Handle, Instance};
use crate::hosts::{At, Decision, START, Session};
use crate::scenario::Control;

/// One instance that keeps the breaker for all workers until it is restarted.
pub(super) struct Kept {
    settings: String,
    instance: Instance,
    breaker: Handle,
    permits: HashMap<String, Permit>,
    events: Vec<EventKind>,
}

impl Kept {
    pub(super) fn new(settings: &str) -> Result<Self> {
        let mut instance = Instance::start(settings)?;
        let breaker = instance.create(START)?;
        let settings = settings.to_owned();
        Ok(Self { settings, instance, breaker, permits: HashMap::new(), events: Vec::new() })
    }

    fn hear(&mut self) -> Result<()> {
        self.events.extend(self.instance.take_events(self.breaker)?);
        Ok(())
    }
}

impl Session for Kept {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        let answer = self.instance.acquire(self.breaker, at.now)?;
        self.permits.extend(answer.ok().map(|permit| (id.to_owned(), permit)));
        self.hear()?;
        Ok(answer.into())
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        let permit = *self.permits.get(id).with_context(|| format!("no permit for {id}"))?;
        let receipt = self.instance.record(self.breaker, permit, outcome, at.now)?;
        self.hear()?;
        Ok(receipt)
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        self.instance.control(self.breaker, control, at.now)?;
        self.hear()
    }

    fn restart(&mut self, at: At) -> Result<()> {
        let bytes = self.instance.save(self.breaker)?;
        self.instance = Instance::start(&self.settings)?;
        self.breaker = self.instance.restore(&bytes, at.now)?;
        self.hear()
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        self.instance.snapshot(self.breaker, at.now)
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        take(&mut self.events)
    }
}
