use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::problem::Aside;
use crate::{Code, Oddity, Problem, Problems, Warning};

/// The most problems that are listed: a text of a few kilobytes may hold thousands, and nobody reads them all.
const MOST_PROBLEMS: usize = 100;

/// What has been found wrong or odd so far. Reading goes on after a problem, so that the others are reported with it.
#[derive(Debug, Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
    /// How many more there were.
    unlisted: usize,
    warnings: Vec<Warning>,
}

impl Report {
    /// Notes a problem.
    pub(crate) fn problem(&mut self, path: &str, code: Code, message: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { path: path.into(), code, message: message.into() });
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }

    /// Notes something odd.
    pub(crate) fn warning(&mut self, path: &str, oddity: Oddity, message: impl Into<String>) {
        self.warnings.push(Warning { path: path.into(), oddity, message: message.into() });
    }

    /// What was read and what is odd about it, if nothing was wrong. Whoever reads nothing has said why.
    pub(crate) fn finish<T>(mut self, read: Option<T>) -> Result<(T, Vec<Warning>), Problems> {
        if let Some(read) = read.filter(|_| self.problems.is_empty()) {
            return Ok((read, self.warnings));
        }
        let count = self.problems.len().saturating_add(self.unlisted);
        if self.unlisted > 0 {
            let message = format!("{} more problems are not listed: mend these first", self.unlisted);
            self.problems.push(Problem { path: String::new(), code: Code::TooMany, message });
        }
        Err(Problems(self.problems, Aside { count, warnings: self.warnings }))
    }
}
