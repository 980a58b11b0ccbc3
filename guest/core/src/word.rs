use crate::{Slot, State};

/// What most calls need to know of a breaker, in one word: state, what follows from it, how many fast successes
/// may be left here without taking the lock, and generation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    const STATE: u64 = 0b111;
    const CLEAN: u64 = 1 << 3;
    const ADMITS_ALL: u64 = 1 << 4;
    /// Six bits, which hold the 32 that are lent at most.
    const LENT_SHIFT: u32 = 5;
    const GENERATION_SHIFT: u32 = 11;
    const LENT: u64 = (1 << Self::GENERATION_SHIFT) - (1 << Self::LENT_SHIFT);

    /// The slot's word. A generation that it has no room for says no more than the state, and every call that is
    /// not rejected takes the lock.
    pub(crate) fn of(slot: &Slot<'_>, lends: bool) -> Self {
        let state = slot.header.state();
        let generation = slot.header.generation.get();
        let shifted = generation << Self::GENERATION_SHIFT;
        let fits = shifted >> Self::GENERATION_SHIFT == generation;
        let said = match state {
            State::Closed if fits && slot.is_clean() => Self::ADMITS_ALL | Self::CLEAN,
            State::Closed if fits && lends => {
                Self::ADMITS_ALL | u64::from(slot.fast_successes_next()) << Self::LENT_SHIFT
            }
            State::Closed | State::Disabled if fits => Self::ADMITS_ALL,
            _ => 0,
        };
        Self(shifted | said | state as u64)
    }

    pub(crate) fn generation(self) -> u64 {
        self.0 >> Self::GENERATION_SHIFT
    }

    pub(crate) fn admits_all(self) -> bool {
        self.0 & Self::ADMITS_ALL != 0
    }

    pub(crate) fn is(self, state: State) -> bool {
        self.0 & Self::STATE == state as u64
    }

    /// Whether a fast success of this generation would be forgotten. Only closed breakers are clean.
    pub(crate) fn is_clean_in(self, generation: u64) -> bool {
        self.0 & Self::CLEAN != 0 && self.generation() == generation
    }

    /// How many fast successes may still be left here. Only closed breakers lend.
    pub(crate) fn lent(self) -> u32 {
        u32::try_from((self.0 & Self::LENT) >> Self::LENT_SHIFT).unwrap_or(0)
    }

    /// Whether a fast success of this generation may be left here.
    pub(crate) fn lends_in(self, generation: u64) -> bool {
        self.0 & Self::LENT != 0 && self.generation() == generation
    }

    /// The word, if it lends, after one more success was left here.
    pub(crate) fn with_one_left(self) -> Self {
        Self(self.0.wrapping_sub(1 << Self::LENT_SHIFT))
    }

    /// The word after what it lends was taken back.
    pub(crate) fn with_nothing_lent(self) -> Self {
        Self(self.0 & !Self::LENT)
    }
}
