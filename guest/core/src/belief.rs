use alloc::vec::Vec;

use crate::{Hint, Mark, Rejection, Revocations, Rules, Slot};

/// Calls that a worker admits or rejects by what it found before it looks at the slot again. A worker that dies between a
/// write and its revocation leaves the others believing what is wrong until one of them looks; this bounds how long.
const CALLS: u32 = 256;

/// What a worker found in its slot, which answers its next calls too until something is revoked.
#[derive(Clone, Debug)]
pub(crate) struct Belief {
    found: Found,
    revocations: u64,
    calls: u32,
}

/// A slot as it was found where not every call changes it.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Closed(Hint),
    /// Its bytes: how long it refuses calls is for its rules to say.
    Refusing(Vec<u8>),
}

impl Belief {
    /// What was loaded or written; `revocations` is their number as it was before that.
    pub(crate) fn new(found: Found, revocations: u64) -> Self {
        Self { found, revocations, calls: 0 }
    }

    /// What answers another call, if the slot is still as it was found.
    pub(crate) fn for_call(&mut self, revocations: &impl Revocations) -> Option<&mut Found> {
        if self.calls >= CALLS || !self.is_of(revocations.number()) {
            return None;
        }
        self.calls = self.calls.saturating_add(1);
        Some(&mut self.found)
    }

    /// What is believed of a closed slot.
    pub(crate) fn hint(&self) -> Option<Hint> {
        match self.found {
            Found::Closed(hint) => Some(hint),
            Found::Refusing(_) => None,
        }
    }

    /// Whether nothing was revoked since, given the number of revocations now.
    pub(crate) fn is_of(&self, revocations: Option<u64>) -> bool {
        revocations == Some(self.revocations)
    }
}

/// The rejection of a call by a slot that refused calls, if it refuses this one as well.
pub(crate) fn refuse(slot: &mut [u8], rules: &Rules, now: Mark) -> Option<Rejection> {
    Slot::parse(slot).ok()?.acquire(rules, now).answer.err()
}
