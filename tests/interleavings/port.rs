use std::cell::{Cell, RefCell};
use std::rc::Rc;

use breakerbox_core::{Loaded, Revocations, SlotStore, Unavailable};

/// A deliberate fault in the store or beside it, which the search must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sabotage {
    None,
    /// A compare-and-set that does not compare.
    SetWithoutComparing,
    /// A create that overwrites what another worker created.
    CreateOverwrites,
    /// A write that succeeds and is answered "conflict", so that it is done twice.
    WrittenAndDenied,
    /// Nothing is ever revoked.
    NeverRevoked,
    /// What was found is believed whatever was revoked since.
    DeafToRevocations,
    /// A refused write is answered "done": the outcome is lost.
    DeniedAndReported,
    /// A load answers what an earlier load answered, with the version of now.
    StaleLoad,
}

impl Sabotage {
    pub(crate) const FAULTS: [Self; 7] = [
        Self::SetWithoutComparing,
        Self::CreateOverwrites,
        Self::WrittenAndDenied,
        Self::NeverRevoked,
        Self::DeafToRevocations,
        Self::DeniedAndReported,
        Self::StaleLoad,
    ];
}

/// What the next step meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    Fair,
    Conflict,
    Unavailable,
}

/// One answer of the store or of what is beside it, remembered so that a call can be taken up where it was left.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Loaded(Result<Loaded<u64>, Unavailable>),
    Written(Result<bool, Unavailable>),
    Number(u64),
    Nothing,
}

/// The shared part: one slot and its revocations.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) slot: Option<(Vec<u8>, u64)>,
    pub(crate) previous: Option<Vec<u8>>,
    pub(crate) revocations: u64,
}

/// Store and revocations as one call of one worker sees them.
///
/// A call is a function of the answers that it gets. To make its next step it is run again from its start, is
/// given the answers that it had, then one new one; whatever it asks after that has no effect and its result is
/// thrown away. The call is over when it ends without asking more than it has been told.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) shared: RefCell<Stored>,
    sabotage: Sabotage,
    weather: Cell<Weather>,
    told: RefCell<Vec<Answer>>,
    position: Cell<usize>,
    fresh_step_left: Cell<bool>,
    starved: Cell<bool>,
    wrote: Cell<bool>,
}

impl Port {
    pub(crate) fn new(sabotage: Sabotage) -> Rc<Self> {
        Rc::new(Self {
            shared: RefCell::default(),
            sabotage,
            weather: Cell::new(Weather::Fair),
            told: RefCell::default(),
            position: Cell::new(0),
            fresh_step_left: Cell::new(false),
            starved: Cell::new(false),
            wrote: Cell::new(false),
        })
    }

    /// Runs a call with what it was told so far and one new answer. `None` if it needs yet another one.
    pub(crate) fn run<T>(
        &self,
        told: &mut Vec<Answer>,
        weather: Weather,
        call: impl FnOnce() -> T,
    ) -> (Option<T>, bool) {
        self.told.replace(std::mem::take(told));
        self.position.set(0);
        self.fresh_step_left.set(true);
        self.starved.set(false);
        self.wrote.set(false);
        self.weather.set(weather);
        let result = call();
        *told = self.told.take();
        ((!self.starved.get()).then_some(result), self.wrote.get())
    }

    /// The answer to what is asked now: remembered, new, or `None` where the call must wait for its next turn.
    fn answer(&self, new: impl FnOnce(&mut Stored, Weather) -> Answer) -> Option<Answer> {
        let position = self.position.get();
        self.position.set(position + 1);
        if let Some(known) = self.told.borrow().get(position) {
            return Some(known.clone());
        }
        if !self.fresh_step_left.replace(false) {
            self.starved.set(true);
            return None;
        }
        let answer = new(&mut self.shared.borrow_mut(), self.weather.get());
        self.told.borrow_mut().push(answer.clone());
        Some(answer)
    }

    fn write(&self, bytes: &[u8], expected: Option<u64>) -> Result<bool, Unavailable> {
        let answer = self.answer(|cell, weather| {
            if weather == Weather::Unavailable {
                return Answer::Written(Err(Unavailable));
            }
            let current = cell.slot.as_ref().map(|&(_, version)| version);
            let careless = match expected {
                Some(_) => self.sabotage == Sabotage::SetWithoutComparing,
                None => self.sabotage == Sabotage::CreateOverwrites,
            };
            if weather == Weather::Conflict || (current != expected && !careless) {
                return Answer::Written(Ok(self.sabotage == Sabotage::DeniedAndReported));
            }
            cell.previous = cell.slot.take().map(|(bytes, _)| bytes);
            cell.slot = Some((bytes.to_vec(), current.unwrap_or(0) + 1));
            self.wrote.set(true);
            let denied = self.sabotage == Sabotage::WrittenAndDenied && current.is_some_and(|it| it % 3 == 0);
            Answer::Written(Ok(!denied))
        });
        match answer {
            Some(Answer::Written(answer)) => answer,
            None => Err(Unavailable),
            Some(other) => unreachable!("asked to write, told {other:?}"),
        }
    }

    fn number(&self, read: impl FnOnce(&Stored) -> u64) -> u64 {
        match self.answer(|cell, _| Answer::Number(read(cell))) {
            Some(Answer::Number(number)) => number,
            None => 0,
            Some(other) => unreachable!("asked for a number, told {other:?}"),
        }
    }

    fn act(&self, act: impl FnOnce(&mut Stored)) {
        self.answer(|cell, _| {
            act(cell);
            Answer::Nothing
        });
    }
}

impl SlotStore for &Port {
    type Version = u64;

    fn load(&self, _: &[u8]) -> Result<Loaded<u64>, Unavailable> {
        let answer = self.answer(|cell, weather| {
            let stale = self.sabotage == Sabotage::StaleLoad && cell.revocations % 4 == 3;
            Answer::Loaded(match weather {
                Weather::Unavailable => Err(Unavailable),
                _ if stale => {
                    let old = cell.previous.clone();
                    Ok(cell.slot.clone().map(|(bytes, version)| (old.unwrap_or(bytes), version)))
                }
                _ => Ok(cell.slot.clone()),
            })
        });
        match answer {
            Some(Answer::Loaded(answer)) => answer,
            None => Err(Unavailable),
            Some(other) => unreachable!("asked to load, told {other:?}"),
        }
    }

    fn create(&self, _: &[u8], bytes: &[u8]) -> Result<bool, Unavailable> {
        self.write(bytes, None)
    }

    fn compare_and_set(&self, _: &[u8], bytes: &[u8], version: u64) -> Result<bool, Unavailable> {
        self.write(bytes, Some(version))
    }
}

/// A worker's handle on the revocations.
#[derive(Clone, Debug)]
pub(crate) struct RevocationsPort(pub(crate) Rc<Port>);

impl Revocations for RevocationsPort {
    fn number(&self) -> Option<u64> {
        let deaf = self.0.sabotage == Sabotage::DeafToRevocations;
        Some(self.0.number(|cell| if deaf { 0 } else { cell.revocations }))
    }

    fn revoke(&self) {
        let never = self.0.sabotage == Sabotage::NeverRevoked;
        self.0.act(|cell| cell.revocations += u64::from(!never));
    }
}
