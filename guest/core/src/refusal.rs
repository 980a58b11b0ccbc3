use alloc::vec::Vec;

use crate::{HintCell, Mark, Rejection, Rules, Slot};

/// A slot as a worker found it while it refused calls, which answers that worker's next calls too.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    bytes: Vec<u8>,
    revocations: u64,
}

impl Refusal {
    /// What was loaded; `revocations` is their number as it was before that.
    pub(crate) fn new(bytes: Vec<u8>, revocations: u64) -> Self {
        Self { bytes, revocations }
    }

    /// The answer to another call, if the slot is still as it was found and refuses this one as well.
    pub(crate) fn answer(&mut self, hint: &impl HintCell, rules: &Rules, now: Mark) -> Option<Rejection> {
        if hint.revocations() != Some(self.revocations) {
            return None;
        }
        Slot::parse(&mut self.bytes).ok()?.acquire(rules, now).answer.err()
    }
}
