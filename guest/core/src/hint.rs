/// What is known of a slot without reading it: it is closed, in this generation, and perhaps clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The slot's generation.
    pub generation: u64,
    /// Whether its count window is full and holds neither failures nor slow calls, so that a fast success
    /// changes nothing.
    pub clean: bool,
}

/// Two words beside a slot that are cheap to read: a grant and a number of revocations.
///
/// A grant says "closed", and is believed only while the number of revocations is the one that it was made
/// under. Whoever makes a slot less than it was granted revokes after the write; whoever grants reads the number
/// *before* it loads the slot. So a late grant of an earlier slot is never believed, in any order of events and
/// with no more than a plain write and an atomic increment, which is all that a proxy's gauges offer.
///
/// A worker that found the slot open may go on rejecting by what it found while the number of revocations stays
/// the same: whoever ends that revokes as well.
pub trait HintCell {
    /// How often something was revoked, or `None` if that cannot be said: nothing is believed then.
    fn revocations(&self) -> Option<u64>;
    /// Adds one to the revocations, atomically.
    fn revoke(&self);
    /// The latest grant's word, 0 if there was none.
    fn granted(&self) -> u64;
    /// Writes a grant's word.
    fn grant(&self, word: u64);
}

/// For slots without a hint beside them: every operation reads the slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHint;

impl HintCell for NoHint {
    fn revocations(&self) -> Option<u64> {
        None
    }
    fn revoke(&self) {}
    fn granted(&self) -> u64 {
        0
    }
    fn grant(&self, _: u64) {}
}

const EPOCH_BITS: u32 = 24;
const GENERATION_BITS: u32 = 63 - EPOCH_BITS;

impl Hint {
    /// The grant's word: never 0, since generations start at 1. Generations past 39 bits are not granted.
    pub(crate) fn word(self, revocations: u64) -> u64 {
        if self.generation >> GENERATION_BITS != 0 {
            return 0;
        }
        let epoch = revocations & ((1 << EPOCH_BITS) - 1);
        epoch << (GENERATION_BITS + 1) | self.generation << 1 | u64::from(self.clean)
    }

    /// What a cell says, if its grant is to be believed.
    pub fn read(cell: &impl HintCell) -> Option<Self> {
        let word = cell.granted();
        let hint = Self { generation: (word >> 1) & ((1 << GENERATION_BITS) - 1), clean: word & 1 == 1 };
        (word != 0 && hint.word(cell.revocations()?) == word).then_some(hint)
    }

    /// Whether this hint says no more than `truth` allows.
    pub fn holds(self, truth: Option<Self>) -> bool {
        truth.is_some_and(|truth| self.generation == truth.generation && (truth.clean || !self.clean))
    }
}
