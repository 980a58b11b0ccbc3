use alloc::string::String;
use alloc::vec::Vec;

use crate::{Code, Problem, Problems};

/// What has been found wrong so far. Reading goes on after a problem, so that all are reported at once.
#[derive(Debug, Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
}

impl Report {
    /// Notes a problem.
    pub(crate) fn problem(&mut self, path: &str, code: Code, message: impl Into<String>) {
        self.problems.push(Problem { path: path.into(), code, message: message.into() });
    }

    /// What was read, if nothing was wrong with it. Whoever reads nothing has said why.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Problems> {
        match read {
            Some(read) if self.problems.is_empty() => Ok(read),
            _ => Err(Problems(self.problems)),
        }
    }
}
