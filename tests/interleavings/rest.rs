//! What holds once every call has ended, and what has to come of it.

use std::time::Duration;

use breakerbox_core::{Hint, Outcome, Receipt, Rule, Shared, State};

use super::{Checked, World};
use crate::history::Call;
use crate::port::{RevocationsPort, Weather};

impl World {
    pub(super) fn come_to_rest(&mut self) -> Checked {
        for worker in 0..self.workers.len() {
            while self.workers[worker].busy.is_some() {
                self.step(worker, Call::Attach, Weather::Fair)?;
            }
        }
        self.go_by_what_is_true()?;
        for worker in 0..self.workers.len() {
            self.whole(worker, Call::Attach)?;
        }
        Ok(())
    }

    /// Once every call has ended, workers go by what is true. Should one have been lost before it could revoke, another
    /// finds that out within a number of calls, and then none goes by it any more.
    fn go_by_what_is_true(&mut self) -> Checked {
        let Some(worker) = self.misled() else { return Ok(()) };
        if !self.lost {
            return Err(format!(
                "worker {worker} goes at rest by what the slot does not say: {:?}",
                self.hint()
            ));
        }
        for _ in 0..=256 {
            self.workers[worker].shared = self.acquire_unrecorded(&self.workers[worker].shared);
        }
        match self.misled() {
            Some(worker) => Err(format!("worker {worker} stays misled")),
            None => Ok(()),
        }
    }

    /// A call from its first step to its last.
    fn whole(&mut self, worker: usize, call: Call) -> Checked {
        self.step(worker, call, Weather::Fair)?;
        while self.workers[worker].busy.is_some() {
            self.step(worker, call, Weather::Fair)?;
        }
        Ok(())
    }

    /// At rest, with no worker lost, every outcome that was answered "counted" is in the slot or in the reason
    /// of the move that ended its generation, once; and every move was reported.
    pub(super) fn check_the_books(&mut self) -> Checked {
        let now = self.snapshot().ok_or("no slot at rest")?;
        if self.lost {
            return Ok(());
        }
        if let Some(missing) = (2..=now.generation).find(|generation| !self.reported.contains_key(generation))
        {
            return Err(format!("nobody reported the move to generation {missing}"));
        }
        let counted = |generation| self.counted.get(&generation).copied().unwrap_or(0);
        let large = self.rules.settings().window_size == 1000;
        let books = self
            .reported
            .values()
            .filter(|it| it.from == State::HalfOpen || large && it.from == State::Closed);
        for ended in books {
            if counted(ended.generation - 1) != ended.calls {
                let generation = ended.generation - 1;
                return Err(format!(
                    "{} counted in generation {generation}, not so: {ended:?}",
                    counted(generation)
                ));
            }
        }
        let open_book = now.state == State::HalfOpen || large && now.state == State::Closed;
        if open_book && counted(now.generation) != now.calls {
            return Err(format!("{} counted at rest, not so: {now:?}", counted(now.generation)));
        }
        Ok(())
    }

    /// From any state, with time passing and calls arriving, a healthy upstream closes the breaker.
    pub(super) fn recover(&mut self) -> Checked {
        if self.snapshot().is_some_and(|it| matches!(it.state, State::ForcedOpen | State::Disabled)) {
            self.whole(0, Call::Control(Rule::Reset))?;
        }
        // Probes that were admitted end well; those that a lost worker took along only a limit can end.
        for permit in std::mem::take(&mut self.permits) {
            self.permits = vec![permit];
            self.whole(0, Call::Record { which: 0, outcome: Outcome::Success })?;
        }
        let stuck_by_design = self.lost && self.rules.settings().max_wait_in_half_open.is_zero();
        let mut rounds = 0;
        while self.snapshot().is_some_and(|it| it.state != State::Closed) && !stuck_by_design {
            rounds += 1;
            if rounds > 100 {
                return Err(format!("stuck: {:?}", self.snapshot()));
            }
            self.now = self.now.after(Duration::from_millis(60));
            self.permits.clear();
            self.whole(rounds % self.workers.len(), Call::Acquire)?;
            if !self.permits.is_empty() {
                self.whole(
                    (rounds + 1) % self.workers.len(),
                    Call::Record { which: 0, outcome: Outcome::Success },
                )?;
            }
        }
        match self.misled() {
            Some(worker) => Err(format!("worker {worker} is misled after recovery")),
            None => Ok(()),
        }
    }

    /// A worker that would say more of the slot, without asking the store, than the slot does.
    fn misled(&self) -> Option<usize> {
        let claims_too_much = |shared| self.claim(shared).is_some_and(|claim| !claim.holds(self.hint()));
        self.workers.iter().position(|worker| claims_too_much(&worker.shared))
    }

    fn claim(&self, shared: &Shared<RevocationsPort>) -> Option<Hint> {
        // One answer is enough to ask how often something was revoked, and not for more.
        let answered = |call: &mut dyn FnMut(&mut Shared<RevocationsPort>) -> bool| {
            let mut shared = shared.clone();
            self.port.run(&mut vec![], Weather::Fair, || call(&mut shared)).0 == Some(true)
        };
        let store = &&*self.port;
        let mut permit = None;
        let admitted = answered(&mut |shared| {
            permit = shared.acquire(store, self.now).answer.and_then(Result::ok);
            permit.is_some()
        });
        let permit = permit.filter(|_| admitted)?;
        let clean = answered(&mut |shared| {
            let update = shared.record(store, &permit, Outcome::Success, self.now);
            update.answer.is_some_and(|recorded| recorded.receipt == Receipt::Counted)
        });
        Some(Hint { generation: permit.generation, clean })
    }

    /// A call of a worker that only wants to know; its steps come one after the other.
    fn acquire_unrecorded(&self, shared: &Shared<RevocationsPort>) -> Shared<RevocationsPort> {
        let mut told = vec![];
        loop {
            let mut next = shared.clone();
            let (done, _) = self.port.run(&mut told, Weather::Fair, || next.acquire(&&*self.port, self.now));
            if done.is_some() {
                return next;
            }
        }
    }
}
