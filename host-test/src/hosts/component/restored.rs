use std::collections::HashMap;
use std::mem::take;

use anyhow::{Context as _, Result, ensure};
use breakerbox_core::{EventKind, MemoryStore, Outcome, Permit, Receipt, SlotStore as _, Snapshot};

use super::instance::{Handle, Instance};
use crate::hosts::{At, Decision, START, Session};
use crate::scenario::Control;

const KEY: &[u8] = b"scenario";

/// An instance a worker, each of which restores the breaker from a store for every call and writes it back.
pub(super) struct Restored {
    settings: String,
    store: MemoryStore,
    workers: Vec<Instance>,
    permits: HashMap<String, Permit>,
    events: Vec<EventKind>,
}

impl Restored {
    pub(super) fn new(settings: &str, workers: usize) -> Result<Self> {
        let mut workers = (0..workers).map(|_| Instance::start(settings)).collect::<Result<Vec<_>>>()?;
        let first = workers.first_mut().context("no worker")?;
        let breaker = first.create(START)?;
        let store = MemoryStore::default();
        store.create(KEY, &first.save(breaker)?)?;
        first.close(breaker)?;
        let (permits, events) = (HashMap::new(), Vec::new());
        Ok(Self { settings: settings.to_owned(), store, workers, permits, events })
    }

    fn with<T>(&mut self, at: At, operation: impl FnOnce(&mut Instance, Handle) -> Result<T>) -> Result<T> {
        let (bytes, version) = self.store.load(KEY)?.context("no slot in the store")?;
        let instance = self.workers.get_mut(at.worker).context("no such worker")?;
        let breaker = instance.restore(&bytes, at.now)?;
        let answer = operation(instance, breaker)?;
        let after = instance.save(breaker)?;
        self.events.extend(instance.take_events(breaker)?);
        instance.close(breaker)?;
        if after != bytes {
            let written = self.store.compare_and_set(KEY, &after, version)?;
            ensure!(written, "a conflict without a second writer");
        }
        Ok(answer)
    }
}

impl Session for Restored {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        let answer = self.with(at, |instance, breaker| instance.acquire(breaker, at.now))?;
        self.permits.extend(answer.ok().map(|permit| (id.to_owned(), permit)));
        Ok(answer.into())
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        let permit = *self.permits.get(id).with_context(|| format!("no permit for {id}"))?;
        self.with(at, |instance, breaker| instance.record(breaker, permit, outcome, at.now))
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        self.with(at, |instance, breaker| instance.control(breaker, control, at.now))
    }

    fn restart(&mut self, at: At) -> Result<()> {
        let instance = self.workers.get_mut(at.worker).context("no such worker")?;
        *instance = Instance::start(&self.settings)?;
        Ok(())
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        let before = self.store.load(KEY)?;
        let snapshot = self.with(at, |instance, breaker| instance.snapshot(breaker, at.now))?;
        ensure!(self.store.load(KEY)? == before, "looking changed the slot");
        Ok(snapshot)
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        take(&mut self.events)
    }
}
