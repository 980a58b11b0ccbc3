use crate::{Effect, Mark, Outcome, Permit, Receipt, Rules, Slot};

/// How a call ended, as the worker sees it that let the call through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) permit: Permit,
    pub(crate) outcome: Outcome,
    /// Not before the latest mark that the worker wrote into the slot itself.
    pub(crate) at: Mark,
}

/// What became of a call's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How the call ended.
    pub outcome: Outcome,
    /// Whether it was slow.
    pub slow: bool,
    /// Whether that counts.
    pub receipt: Receipt,
}

impl End {
    /// Whether the call was slow.
    pub(crate) fn is_slow(&self, rules: &Rules) -> bool {
        rules.is_slow(self.permit.admitted_at, self.at)
    }

    /// Records it in the slot.
    ///
    /// Other workers may have written later marks down, by a clock that has stepped back since. To the call no time has
    /// passed by that.
    pub(crate) fn record(&self, slot: &mut Slot<'_>, rules: &Rules) -> Effect<Recorded> {
        let not_passed = slot.latest().nanos_since(self.at);
        let permit = Permit { admitted_at: self.permit.admitted_at.plus(not_passed), ..self.permit };
        let Effect { answer: receipt, changed, transition } =
            slot.record(rules, &permit, self.outcome, self.at);
        let recorded = Recorded { outcome: self.outcome, slow: self.is_slow(rules), receipt };
        Effect { answer: recorded, changed, transition }
    }
}
