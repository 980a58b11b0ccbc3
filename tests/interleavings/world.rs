mod rest;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use breakerbox_core::{
    Hint, Mark, Outcome, Permit, Receipt, Recorded, Rejection, Rule, Rules, Shared, Slot, Snapshot, State,
    Transition, Update,
};

use crate::history::{Call, History, Turn};
use crate::port::{Answer, Port, RevocationsPort, Sabotage, Weather};

type Checked = Result<(), String>;

/// A call that is under way.
struct Busy {
    id: u64,
    call: Started,
    now: Mark,
    told: Vec<Answer>,
    started: u64,
}

#[derive(Clone, Copy, Debug)]
enum Started {
    Acquire,
    Record(Permit, Outcome),
    Control(Rule),
    Attach,
}

enum Finished {
    Acquired(Update<Result<Permit, Rejection>>),
    Recorded(Update<Recorded>),
    Controlled(Update<()>),
    Attached(Update<Snapshot>),
}

struct Worker {
    shared: Shared<RevocationsPort>,
    busy: Option<Busy>,
    deferred: VecDeque<Permit>,
}

/// What the slot allowed to be said of it from one write to the next.
struct Truth {
    from: u64,
    hint: Option<Hint>,
    state: State,
    /// The call whose write made it so.
    writer: u64,
}

/// All workers, their store, and a ledger of what they were answered.
pub(crate) struct World {
    port: Rc<Port>,
    rules: Rules,
    workers: Vec<Worker>,
    now: Mark,
    step: u64,
    calls: u64,
    truths: Vec<Truth>,
    ended: BTreeMap<u64, u64>,
    permits: Vec<Permit>,
    tickets: BTreeSet<(u64, u32)>,
    counted: BTreeMap<u64, u32>,
    reported: BTreeMap<u64, Transition>,
    lost: bool,
}

const START: Mark = Mark::from_millis(1_000_000_000);

impl World {
    pub(crate) fn run(history: &History, sabotage: Sabotage) -> Checked {
        let rules = Rules::new(&history.settings).map_err(|problems| format!("{problems:?}"))?;
        let mut world = Self {
            port: Port::new(sabotage),
            rules,
            workers: vec![],
            now: START,
            step: 0,
            calls: 0,
            truths: vec![],
            ended: BTreeMap::new(),
            permits: vec![],
            tickets: BTreeSet::new(),
            counted: BTreeMap::new(),
            reported: BTreeMap::new(),
            lost: false,
        };
        world.workers = (0..history.workers).map(|_| world.new_worker()).collect();
        for turn in &history.turns {
            world.take(*turn)?;
        }
        world.come_to_rest()?;
        world.check_the_books()?;
        world.recover()
    }

    fn new_worker(&self) -> Worker {
        let shared = Shared::new(self.rules.clone(), vec![], RevocationsPort(Rc::clone(&self.port)));
        Worker { shared, busy: None, deferred: VecDeque::new() }
    }

    fn take(&mut self, turn: Turn) -> Checked {
        match turn {
            Turn::Step { worker, call } => self.step(worker.into(), call, Weather::Fair),
            Turn::Conflict { worker, call } => self.step(worker.into(), call, Weather::Conflict),
            Turn::Unavailable { worker, call } => self.step(worker.into(), call, Weather::Unavailable),
            Turn::Lose { worker } => {
                self.lost = true;
                self.workers[usize::from(worker)] = self.new_worker();
                Ok(())
            }
            Turn::Clock { millis } => {
                let millis = i64::from(millis) * 1_000_000;
                self.now = Mark::from_nanos(self.now.nanos().saturating_add_signed(millis));
                Ok(())
            }
        }
    }

    fn start(&mut self, worker: usize, call: Call) {
        let call = match call {
            Call::Acquire => Started::Acquire,
            Call::Control(rule) => Started::Control(rule),
            Call::Attach => Started::Attach,
            Call::Record { .. } if self.permits.is_empty() => Started::Acquire,
            Call::Record { which, outcome } => {
                Started::Record(self.permits[usize::from(which) % self.permits.len()], outcome)
            }
        };
        self.calls += 1;
        let busy = Busy { id: self.calls, call, now: self.now, told: vec![], started: self.step };
        self.workers[worker].busy = Some(busy);
    }

    fn step(&mut self, worker: usize, call: Call, weather: Weather) -> Checked {
        self.step += 1;
        if self.workers[worker].busy.is_none() {
            self.start(worker, call);
        }
        let Some(mut busy) = self.workers[worker].busy.take() else { return Ok(()) };
        let mut shared = self.workers[worker].shared.clone();
        let before = self.snapshot();
        let store = &&*self.port;
        let (result, wrote) = self.port.run(&mut busy.told, weather, || match busy.call {
            Started::Acquire => Finished::Acquired(shared.acquire(store, busy.now)),
            Started::Record(permit, outcome) => {
                Finished::Recorded(shared.record(store, &permit, outcome, busy.now))
            }
            Started::Control(Rule::ForceOpen) => Finished::Controlled(shared.force_open(store, busy.now)),
            Started::Control(Rule::Disable) => Finished::Controlled(shared.disable(store, busy.now)),
            Started::Control(_) => Finished::Controlled(shared.reset(store, busy.now)),
            Started::Attach => Finished::Attached(shared.attach(store, busy.now)),
        });
        if wrote {
            self.check_write(before, busy.id, self.workers[worker].deferred.is_empty())?;
        }
        match result {
            None => self.workers[worker].busy = Some(busy),
            Some(finished) => {
                self.workers[worker].shared = shared;
                self.ended.insert(busy.id, self.step);
                self.finish(worker, &busy, finished)?;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Option<Snapshot> {
        let (mut bytes, _) = self.port.shared.borrow().slot.clone()?;
        Some(Slot::parse(&mut bytes).ok()?.snapshot(&self.rules, self.now))
    }

    fn hint(&self) -> Option<Hint> {
        let (mut bytes, _) = self.port.shared.borrow().slot.clone()?;
        Slot::parse(&mut bytes).ok()?.hint()
    }

    /// A slot moves only along the table, and never holds more probes than it may.
    fn check_write(&mut self, before: Option<Snapshot>, writer: u64, alone: bool) -> Checked {
        let after = self.snapshot().ok_or("a write left bytes that are no slot")?;
        self.truths.push(Truth { from: self.step, hint: self.hint(), state: after.state, writer });
        let k = self.rules.settings().half_open_calls;
        if after.state == State::HalfOpen && after.calls + after.probes_out > k {
            return Err(format!("{} probes ended and {} are out of {k}", after.calls, after.probes_out));
        }
        let Some(before) = before else { return Ok(()) };
        match after.generation.checked_sub(before.generation) {
            Some(0) if before.state == after.state => Ok(()),
            Some(1)
                if after.last.is_some_and(|last| before.state.next(last.rule, true) == Some(after.state)) =>
            {
                Ok(())
            }
            Some(2..) if !alone => Ok(()),
            _ => Err(format!(
                "generation {} ({:?}) became generation {} ({:?})",
                before.generation, before.state, after.generation, after.state
            )),
        }
    }

    fn finish(&mut self, worker: usize, busy: &Busy, finished: Finished) -> Checked {
        let asked_the_store = busy.told.iter().any(|answer| matches!(answer, Answer::Loaded(_)));
        match finished {
            Finished::Acquired(update) => {
                self.settle(worker, update.answer.is_some(), &update.transitions, &update.merged)?;
                let permit = match update.answer {
                    Some(Ok(permit)) => permit,
                    Some(Err(_)) if !asked_the_store => {
                        return self.justify(busy, "rejected", |truth| {
                            matches!(truth.state, State::Open | State::ForcedOpen)
                        });
                    }
                    _ => return Ok(()),
                };
                if !asked_the_store {
                    let claim = Hint { generation: permit.generation, clean: false };
                    self.justify(busy, "admitted", |truth| claim.holds(truth.hint))?;
                }
                if permit.ticket != 0 && !self.tickets.insert((permit.generation, permit.ticket)) {
                    return Err(format!("{permit:?} was issued twice"));
                }
                self.permits.push(permit);
            }
            Finished::Recorded(update) => {
                self.settle(worker, update.answer.is_some(), &update.transitions, &update.merged)?;
                let Started::Record(permit, _) = busy.call else { return Ok(()) };
                match update.answer.map(|recorded| recorded.receipt) {
                    None => self.workers[worker].deferred.push_back(permit),
                    Some(Receipt::Stale) => {}
                    Some(receipt) if asked_the_store => self.count(permit, receipt),
                    Some(receipt) => {
                        let claim =
                            Hint { generation: permit.generation, clean: receipt == Receipt::Counted };
                        self.justify(busy, "recorded", |truth| claim.holds(truth.hint))?;
                    }
                }
            }
            Finished::Controlled(update) => {
                self.settle(worker, update.answer.is_some(), &update.transitions, &update.merged)?;
            }
            Finished::Attached(update) => {
                self.settle(worker, update.answer.is_some(), &update.transitions, &update.merged)?;
            }
        }
        Ok(())
    }

    /// Books what an update reported beside its answer.
    fn settle(&mut self, worker: usize, done: bool, moves: &[Transition], merged: &[Recorded]) -> Checked {
        for transition in moves {
            if self.reported.insert(transition.generation, *transition).is_some() {
                return Err(format!("two workers reported the move to generation {}", transition.generation));
            }
        }
        for deferred in merged {
            let permit = self.workers[worker].deferred.pop_front().ok_or("merged what was never deferred")?;
            self.count(permit, deferred.receipt);
        }
        if done && !self.workers[worker].deferred.is_empty() {
            return Err("an update left outcomes waiting".into());
        }
        Ok(())
    }

    fn count(&mut self, permit: Permit, receipt: Receipt) {
        if receipt == Receipt::Counted {
            *self.counted.entry(permit.generation).or_default() += 1;
        }
    }

    /// What was answered without the store must have been true at some moment of the call, or have become untrue by
    /// a write of a call that was not over when this one began: then this one comes first.
    fn justify(&self, busy: &Busy, answer: &str, is_true: impl Fn(&Truth) -> bool) -> Checked {
        let justified = self.truths.iter().enumerate().any(|(at, truth)| {
            let is_over =
                |later: &Truth| self.ended.get(&later.writer).is_some_and(|&ended| ended < busy.started);
            is_true(truth) && truth.from <= self.step && !self.truths[at + 1..].iter().any(is_over)
        });
        let what = busy.call;
        justified
            .then_some(())
            .ok_or_else(|| format!("{what:?} was {answer} without the store, by what was no longer true"))
    }
}
