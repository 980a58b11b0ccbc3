use std::fmt::Debug;
use std::mem::take;

use anyhow::{Result, ensure};
use breakerbox_core::{EventKind, Outcome, Receipt, Snapshot};

use super::{At, Decision, Session};
use crate::scenario::Control;

/// Two ways to use a breaker in one host, which must agree in every answer.
pub(super) struct Agreeing<A, B> {
    first: Way<A>,
    second: Way<B>,
    events: Vec<EventKind>,
}

/// One of them, and what to call it.
struct Way<S> {
    name: &'static str,
    session: S,
}

impl<A: Session, B: Session> Agreeing<A, B> {
    pub(super) fn new(first: (&'static str, A), second: (&'static str, B)) -> Self {
        let first = Way { name: first.0, session: first.1 };
        let second = Way { name: second.0, session: second.1 };
        Self { first, second, events: Vec::new() }
    }

    fn agreed<T: Debug + PartialEq>(
        &mut self,
        mut operation: impl FnMut(&mut dyn Session) -> Result<T>,
    ) -> Result<T> {
        let Self { first, second, .. } = self;
        let answer = operation(&mut first.session)?;
        let other_answer = operation(&mut second.session)?;
        let (events, other_events) = (first.session.take_events(), second.session.take_events());
        ensure!(
            answer == other_answer && events == other_events,
            "two ways to use the breaker differ\n  {}: {answer:?}, events {events:?}\n  {}: {other_answer:?}, events \
             {other_events:?}",
            first.name,
            second.name
        );
        self.events.extend(events);
        Ok(answer)
    }
}

impl<A: Session, B: Session> Session for Agreeing<A, B> {
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
        take(&mut self.events)
    }
}
