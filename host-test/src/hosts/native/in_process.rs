use std::collections::HashMap;
use std::mem::take;

use anyhow::{Context as _, Result, anyhow};
use breakerbox_core::{Breaker, Effect, EventKind, Outcome, Permit, Receipt, Rules, Snapshot};

use crate::hosts::{At, Decision, START, Session};
use crate::scenario::Control;

/// One breaker for all threads of a process: its workers are one.
pub(super) struct InProcess {
    rules: Rules,
    breaker: Breaker,
    permits: HashMap<String, Permit>,
    events: Vec<EventKind>,
}

impl InProcess {
    pub(super) fn new(rules: Rules) -> Result<Self> {
        let breaker = Breaker::new(rules.settings(), START).map_err(|problems| anyhow!("{problems:?}"))?;
        Ok(Self { rules, breaker, permits: HashMap::new(), events: Vec::new() })
    }

    fn answer<T>(&mut self, effect: Effect<T>) -> T {
        self.events.extend(effect.transition.map(|transition| transition.kind()));
        effect.answer
    }
}

impl Session for InProcess {
    fn acquire(&mut self, at: At, id: &str) -> Result<Decision> {
        let effect = self.breaker.acquire(at.now);
        let answer = self.answer(effect);
        self.permits.extend(answer.ok().map(|permit| (id.to_owned(), permit)));
        Ok(answer.into())
    }

    fn record(&mut self, at: At, id: &str, outcome: Outcome) -> Result<Receipt> {
        let permit = self.permits.get(id).with_context(|| format!("no permit for {id}"))?;
        let effect = self.breaker.record(permit, outcome, at.now);
        Ok(self.answer(effect))
    }

    fn control(&mut self, at: At, control: Control) -> Result<()> {
        let effect = match control {
            Control::ForceOpen => self.breaker.force_open(at.now),
            Control::Disable => self.breaker.disable(at.now),
            Control::Reset => self.breaker.reset(at.now),
        };
        self.answer(effect);
        Ok(())
    }

    fn restart(&mut self, at: At) -> Result<()> {
        let effect = Breaker::restore(self.rules.clone(), self.breaker.save(), at.now)?;
        self.breaker = self.answer(effect);
        Ok(())
    }

    fn snapshot(&mut self, at: At) -> Result<Snapshot> {
        Ok(self.breaker.snapshot(at.now))
    }

    fn take_events(&mut self) -> Vec<EventKind> {
        take(&mut self.events)
    }
}
