//! What holds once every call has ended, and what has to come of it.

use std::rc::Rc;
use std::time::Duration;

use breakerbox_core::{Hint, Outcome, Rule, Shared, State};

use super::{Checked, World};
use crate::history::Call;
use crate::port::{HintPort, Weather};

impl World {
    pub(super) fn come_to_rest(&mut self) -> Checked {
        for worker in 0..self.workers.len() {
            while self.workers[worker].busy.is_some() {
                self.step(worker, Call::Attach, Weather::Fair)?;
            }
        }
        for worker in 0..self.workers.len() {
            self.whole(worker, Call::Attach)?;
        }
        Ok(())
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
        if let Some(hint) = Hint::read(&HintPort(Rc::clone(&self.port)))
            && !self.lost
            && !hint.holds(self.hint())
        {
            return Err(format!("at rest the hint says {hint:?} of {:?}", self.hint()));
        }
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

    /// From any state, with time passing and calls arriving, a healthy upstream closes the breaker, and a hint
    /// that a lost worker left wrong is put right.
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
        let cell = HintPort(Rc::clone(&self.port));
        let wrong = |world: &Self| Hint::read(&cell).is_some_and(|hint| !hint.holds(world.hint()));
        if wrong(self) {
            if !self.lost {
                return Err("the hint is wrong after recovery".into());
            }
            let mut shared = self.workers[0].shared.clone();
            for _ in 0..=256 {
                shared = self.acquire_unrecorded(&shared);
            }
            if wrong(self) {
                return Err("the hint stays wrong".into());
            }
        }
        Ok(())
    }

    /// A call of a worker that only wants to know; its steps come one after the other.
    fn acquire_unrecorded(&self, shared: &Shared<HintPort>) -> Shared<HintPort> {
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
