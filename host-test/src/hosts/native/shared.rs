use std::collections::HashMap;
use std::mem::take;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use breakerbox_core::{
    EventKind, MemoryRevocations, MemoryStore, Outcome, Permit, Receipt, Revocations, Rules, Shared,
    Snapshot, Update,
};

use crate::hosts::{At, Decision, START, Session};
use crate::scenario::Control;

/// Workers on one slot in a store.
pub(super) struct SharedSlot {
    store: MemoryStore,
    revocations: Counted,
    workers: Vec<Shared<Counted>>,
    permits: HashMap<String, Permit>,
    events: Vec<EventKind>,
}

/// The revocations, which each worker holds on to.
#[derive(Clone, Default)]
struct Counted(Rc<MemoryRevocations>);

impl Revocations for Counted {
    fn number(&self) -> Option<u64> {
        (&*self.0).number()
    }
    fn revoke(&self) {
        (&*self.0).revoke();
    }
}

impl SharedSlot {
    pub(super) fn new(rules: &Rules, workers: usize) -> Result<Self> {
        let revocations = Counted::default();
        let worker = || Shared::new(rules.clone(), b"scenario".to_vec(), revocations.clone());
        let mut session = Self {
            store: MemoryStore::default(),
            workers: (0..workers).map(|_| worker()).collect(),
            revocations,
            permits: HashMap::new(),
            events: Vec::new(),
        };
        for worker in 0..workers {
            session.update(At { worker, now: START }, |worker, store, at| worker.attach(store, at.now))?;
        }
        Ok(session)
    }

    fn update<T>(
        &mut self,
        at: At,
        operation: impl FnOnce(&mut Shared<Counted>, &MemoryStore, At) -> Update<T>,
    ) -> Result<T> {
        let worker = self.workers.get_mut(at.worker).context("no such worker")?;
        let update = operation(worker, &self.store, at);
        ensure!(update.conflicts == 0, "a conflict without a second writer");
        self.events.extend(update.transitions.iter().map(|transition| transition.kind()));
        update.answer.context("a store in memory did not answer")
    }
}

impl Session for SharedSlot {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        let answer = self.update(at, |worker, store, at| worker.acquire(store, at.now))?;
        self.permits.extend(answer.ok().map(|permit| (id.to_owned(), permit)));
        Ok(answer.into())
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        let permit = *self.permits.get(id).with_context(|| format!("no permit for {id}"))?;
        let recorded = self.update(at, |worker, store, at| worker.record(store, &permit, outcome, at.now))?;
        Ok(recorded.receipt)
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        self.update(at, |worker, store, at| match control {
            Control::ForceOpen => worker.force_open(store, at.now),
            Control::Disable => worker.disable(store, at.now),
            Control::Reset => worker.reset(store, at.now),
        })
    }

    fn restart(&mut self, at: At) -> Result<()> {
        let worker = self.workers.get_mut(at.worker).context("no such worker")?;
        *worker = Shared::new(worker.rules().clone(), worker.key().to_vec(), self.revocations.clone());
        self.update(at, |worker, store, at| worker.attach(store, at.now))?;
        Ok(())
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        let worker = self.workers.get(at.worker).context("no such worker")?;
        worker.snapshot(&self.store, at.now).context("no slot in the store")
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        take(&mut self.events)
    }
}
