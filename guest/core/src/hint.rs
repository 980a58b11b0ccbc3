/// What a worker may go by without reading its slot: it is closed, in this generation, and perhaps clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The slot's generation.
    pub generation: u64,
    /// Whether its count window is full and holds neither failures nor slow calls, so that a fast success
    /// changes nothing.
    pub clean: bool,
}

impl Hint {
    /// Whether this hint says no more than `truth` allows.
    pub fn holds(self, truth: Option<Self>) -> bool {
        truth.is_some_and(|truth| self.generation == truth.generation && (truth.clean || !self.clean))
    }
}

/// A number beside a slot that is cheap to read: how often something was revoked that workers may go by.
///
/// A worker remembers what it last found in the slot, and goes by that while the number stays what it was *before* the
/// slot was loaded. Whoever makes a slot less than others may have found it, or lets calls through again, revokes after
/// the write; and since it may be late, or die before, the write marks the slot, and whoever finds the mark revokes as well
/// and takes it off. So what was found before a write is never believed by a call that begins once somebody is done with what
/// was written, in any order of events and with no more than an atomic increment, which is all that a proxy's gauges offer.
pub trait Revocations {
    /// How often something was revoked, or `None` if that cannot be said: nothing is believed then.
    fn number(&self) -> Option<u64>;
    /// Adds one, atomically.
    fn revoke(&self);
}
