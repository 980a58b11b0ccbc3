use alloc::collections::VecDeque;

use breakerbox_core::Transition;

use crate::bindings::exports::breakerbox::breaker::types;
use crate::convert;

/// The transitions that nobody has taken yet. Bounded: a host that never asks pays for the latest ones only.
#[derive(Debug, Default)]
pub(crate) struct Events {
    transitions: VecDeque<Transition>,
    dropped: u64,
}

impl Events {
    /// How many are kept.
    pub(crate) const MOST: usize = 64;

    /// Adds one, if there is one, and drops the oldest if there is no room for it.
    pub(crate) fn push(&mut self, transition: Option<Transition>) {
        let Some(transition) = transition else { return };
        if self.transitions.len() >= Self::MOST {
            self.transitions.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
        self.transitions.push_back(transition);
    }

    /// Gives them away, the oldest first.
    pub(crate) fn take(&mut self) -> types::EventBatch {
        let Self { transitions, dropped } = core::mem::take(self);
        types::EventBatch { events: transitions.iter().map(convert::event).collect(), dropped }
    }
}
