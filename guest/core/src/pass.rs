use crate::{Mark, Slot, State, WindowType, window};

/// Fast successes that take the place of others in a full count window: only the ring's cursor, the row of
/// failures and the latest mark tell that they were there, so many can be recorded at once, and late.
impl Slot<'_> {
    /// How many more fast successes can be recorded so.
    pub(crate) fn fast_successes_next(&self) -> u32 {
        let full = self.header.state() == State::Closed
            && self.header.window_type == WindowType::Count as u8
            && self.header.calls == self.header.window_size;
        if full { window::fast_successes_next(self.header, self.body) } else { 0 }
    }

    /// Records that many, the last of them at `latest`.
    pub(crate) fn pass_fast_successes(&mut self, count: u32, latest: Mark) {
        window::pass_fast_successes(self.header, count);
        self.header.consecutive = 0.into();
        self.header.latest = self.header.clamp(latest).nanos().into();
    }
}
