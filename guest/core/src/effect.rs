use crate::Transition;

/// What an operation answered and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Effect<T> {
    /// The answer.
    pub answer: T,
    /// Whether the slot's bytes changed, and so must be stored.
    pub changed: bool,
    /// The move that the operation caused, if any.
    pub transition: Option<Transition>,
}

impl<T> Effect<T> {
    pub(crate) fn nothing(answer: T) -> Self {
        Self { answer, changed: false, transition: None }
    }

    pub(crate) fn changed(answer: T, transition: Option<Transition>) -> Self {
        Self { answer, changed: true, transition }
    }
}
