use alloc::string::String;
use alloc::vec::Vec;

use crate::{Code, Oddity, Problem, Problems, Warning};

/// What has been found wrong or odd so far. Reading goes on after a problem, so that all are reported at once.
#[derive(Debug, Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
    warnings: Vec<Warning>,
}

impl Report {
    /// Notes a problem.
    pub(crate) fn problem(&mut self, path: &str, code: Code, message: impl Into<String>) {
        self.problems.push(Problem { path: path.into(), code, message: message.into() });
    }

    /// Notes something odd.
    pub(crate) fn warning(&mut self, path: &str, oddity: Oddity, message: impl Into<String>) {
        self.warnings.push(Warning { path: path.into(), oddity, message: message.into() });
    }

    /// What was read and what is odd about it, if nothing was wrong. Whoever reads nothing has said why.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<(T, Vec<Warning>), Problems> {
        match read {
            Some(read) if self.problems.is_empty() => Ok((read, self.warnings)),
            _ => Err(Problems(self.problems)),
        }
    }
}
