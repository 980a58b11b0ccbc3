use std::io::{self, IsTerminal, Write};

/// How far a long work has come: one line that is written over on a terminal, nothing elsewhere.
pub(super) struct Progress {
    total: usize,
    done: usize,
    shown: bool,
}

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        Self { total, done: 0, shown: io::stderr().is_terminal() }
    }

    /// The next piece of work begins.
    pub(super) fn advance(&mut self, what: &str) {
        self.done += 1;
        self.write(&format!("{} of {}: {what}", self.done, self.total));
    }

    /// Makes room for other output.
    pub(super) fn clear(&self) {
        self.write("");
    }

    fn write(&self, line: &str) {
        if self.shown {
            // A terminal that cannot be written to has nobody who waits for progress.
            let _ = write!(io::stderr(), "\r\x1b[K{line}");
        }
    }
}
