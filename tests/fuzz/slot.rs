//! Any bytes where a slot should be, and any calls on them: whatever comes of it is a slot.

mod any;
#[path = "slot/input.rs"]
mod input;
mod probes;
mod slot_bytes;

use breakerbox_core::{
    Mark, MemoryRevocations, MemoryStore, OwnedSlot, Permit, Receipt, Shared, Slot, SlotStore, Update,
};

use any::{AnyOutcome, Control};
use input::{Foreign, History, Step};
use probes::Probes;
use slot_bytes::LONGEST;

const KEY: &[u8] = b"breaker";

#[test]
fn any_calls_on_any_bytes_leave_a_slot() {
    bolero::check!(name = "slot").with_type::<History>().with_iterations(100_000).for_each(|history| {
        let revocations = MemoryRevocations::default();
        let mut world = World::new(history, &revocations);
        for (second, mark, step) in &history.steps {
            world.now = mark.after(world.now);
            world.step(usize::from(*second), step);
        }
    });
}

/// Two workers at one slot.
struct World<'a> {
    store: MemoryStore,
    workers: [Shared<&'a MemoryRevocations>; 2],
    now: Mark,
    issued: Vec<Permit>,
    /// The probes that were let out since the slot was last written by somebody else, and have not come back.
    out: Probes,
}

impl<'a> World<'a> {
    fn new(history: &History, revocations: &'a MemoryRevocations) -> Self {
        Self {
            store: MemoryStore::default(),
            workers: history
                .rules
                .each_ref()
                .map(|rules| Shared::new(rules.rules(), KEY.to_vec(), revocations)),
            now: Mark::from_millis(10_000),
            issued: Vec::new(),
            out: Probes::default(),
        }
    }

    fn step(&mut self, nth: usize, step: &Step) {
        let before = self.bytes();
        let (store, worker, now) = (&self.store, &mut self.workers[nth], self.now);
        match step {
            Step::Acquire => self.acquire(nth),
            Step::Record(permit, outcome) => {
                let generation = worker.snapshot(store, now).map_or(0, |snapshot| snapshot.generation);
                let permit = permit.permit(&self.issued, generation);
                self.record(nth, permit, outcome);
            }
            Step::Calls(calls, outcome) => {
                for _ in 0..*calls {
                    let issued = self.issued.len();
                    self.acquire(nth);
                    if let Some(permit) = self.issued.get(issued).copied() {
                        self.record(nth, permit, outcome);
                    }
                }
            }
            Step::Control(Control::ForceOpen) => answer(worker.force_open(store, now)),
            Step::Control(Control::Disable) => answer(worker.disable(store, now)),
            Step::Control(Control::Reset) => answer(worker.reset(store, now)),
            Step::Attach => drop(answer(worker.attach(store, now))),
            Step::Look => drop(worker.snapshot(store, now)),
            Step::Restore => self.restore(nth),
            Step::Foreign(foreign) => {
                let bytes = match foreign {
                    Foreign::Write(bytes) => bytes.clone(),
                    Foreign::Damage(damage) => damage.applied(before.unwrap_or_default()),
                };
                self.out = Probes::default();
                return self.write(&bytes);
            }
        }
        self.check(before);
    }

    fn acquire(&mut self, nth: usize) {
        let Ok(permit) = answer(self.workers[nth].acquire(&self.store, self.now)) else { return };
        self.issued.push(permit);
        if permit.ticket != 0 {
            let slot = self.bytes().expect("whoever has a permit has stored a slot");
            self.out.let_out(permit, &slot);
        }
    }

    fn record(&mut self, nth: usize, permit: Permit, outcome: &AnyOutcome) {
        let update = self.workers[nth].record(&self.store, &permit, outcome.outcome(), self.now);
        if answer(update).receipt != Receipt::Stale {
            self.out.take_back(permit);
        }
    }

    /// An owner takes the bytes and gives them back.
    fn restore(&mut self, nth: usize) {
        let Some(bytes) = self.bytes() else { return };
        if let Ok((owned, _)) = OwnedSlot::restore(bytes, self.workers[nth].rules(), self.now) {
            let mut bytes = owned.to_bytes();
            self.write(&bytes);
            assert_eq!(Slot::parse(&mut bytes).map(|slot| slot.audit()), Ok(Ok(())));
        }
    }

    /// What was a slot is one still, what was written is one, and counts that were right still are.
    fn check(&self, before: Option<Vec<u8>>) {
        let Some(mut after) = self.bytes() else { return };
        let is_written = before.as_ref() != Some(&after);
        let was_audited = before.map(|mut bytes| Slot::parse(&mut bytes).map(|slot| slot.audit()));
        if is_written || matches!(was_audited, Some(Ok(_))) {
            assert!(after.len() <= LONGEST, "{} bytes", after.len());
            let audited = Slot::parse(&mut after).expect("a slot").audit();
            if !matches!(was_audited, Some(Ok(Err(_)))) {
                assert_eq!(audited, Ok(()));
            }
        }
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        self.store.load(KEY).expect("memory answers").map(|(bytes, _)| bytes)
    }

    fn write(&self, bytes: &[u8]) {
        let written = match self.store.load(KEY) {
            Ok(Some((_, version))) => self.store.compare_and_set(KEY, bytes, version),
            _ => self.store.create(KEY, bytes),
        };
        assert_eq!(written, Ok(true));
    }
}

/// The answer of an operation that nothing keeps from the store.
fn answer<T>(update: Update<T>) -> T {
    for transition in &update.transitions {
        assert!(!transition.to_string().contains('\n'));
    }
    update.answer.expect("no other worker is in the way")
}
