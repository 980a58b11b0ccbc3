use crate::Mark;

/// Where an operation gets its `now` from: a mark that is known already, or a clock that is read only if the
/// operation needs it, and then once.
pub trait Clock: Sized {
    /// The time now.
    fn now(self) -> Mark;

    /// The time now, or `None` if it would have to be found out and is not `needed`.
    fn now_if(self, needed: bool) -> Option<Mark> {
        needed.then(|| self.now())
    }
}

impl Clock for Mark {
    fn now(self) -> Mark {
        self
    }

    fn now_if(self, _: bool) -> Option<Mark> {
        Some(self)
    }
}

impl<F: FnOnce() -> Mark> Clock for F {
    fn now(self) -> Mark {
        self()
    }
}
