use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::Warning;

/// What kind of mistake a configuration holds. The names are stable, so that tools and runbooks can rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The text is not JSON.
    BadJson,
    /// A value of another type is needed.
    WrongType,
    /// No such key; the message suggests one if one is near.
    UnknownKey,
    /// A key is given twice, perhaps in two spellings.
    DuplicateKey,
    /// A key that its neighbours need is not there.
    MissingKey,
    /// A name that is none of those possible.
    UnknownValue,
    /// A number, percentage or duration is outside its limits.
    OutOfRange,
    /// A number has more decimals than are kept.
    BadNumber,
    /// Not a duration, or one without a unit.
    BadDuration,
    /// Two settings exclude each other.
    Conflict,
    /// A name that nothing else in the configuration has.
    UnknownName,
    /// A name, id or token that is empty, too long or holds characters that it must not.
    BadName,
    /// A header that is not valid or not for this place.
    BadHeader,
    /// More entries than there may be.
    TooMany,
    /// A `base` that leads back to itself.
    BaseCycle,
    /// Entries that share a breaker have different settings.
    SharedBreakerDiffers,
}

impl Code {
    /// Every code, in the order of the documentation.
    pub const ALL: [Self; 16] = [
        Self::BadJson,
        Self::WrongType,
        Self::UnknownKey,
        Self::DuplicateKey,
        Self::MissingKey,
        Self::UnknownValue,
        Self::OutOfRange,
        Self::BadNumber,
        Self::BadDuration,
        Self::Conflict,
        Self::UnknownName,
        Self::BadName,
        Self::BadHeader,
        Self::TooMany,
        Self::BaseCycle,
        Self::SharedBreakerDiffers,
    ];

    /// The code's name, which does not change between releases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BadJson => "bad_json",
            Self::WrongType => "wrong_type",
            Self::UnknownKey => "unknown_key",
            Self::DuplicateKey => "duplicate_key",
            Self::MissingKey => "missing_key",
            Self::UnknownValue => "unknown_value",
            Self::OutOfRange => "out_of_range",
            Self::BadNumber => "bad_number",
            Self::BadDuration => "bad_duration",
            Self::Conflict => "conflict",
            Self::UnknownName => "unknown_name",
            Self::BadName => "bad_name",
            Self::BadHeader => "bad_header",
            Self::TooMany => "too_many",
            Self::BaseCycle => "base_cycle",
            Self::SharedBreakerDiffers => "shared_breaker_differs",
        }
    }

    /// What the code means, in one sentence for the documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::BadJson => "The configuration is not JSON.",
            Self::WrongType => "The key needs a value of another type.",
            Self::UnknownKey => "There is no such key here.",
            Self::DuplicateKey => "A key is given twice, perhaps in two spellings.",
            Self::MissingKey => "A key is missing that its neighbours need.",
            Self::UnknownValue => "The value is none of those possible.",
            Self::OutOfRange => "A number, percentage, status or duration is outside its limits.",
            Self::BadNumber => "The number is not whole, or has more decimals than are kept.",
            Self::BadDuration => "Not a duration, or a number without its unit.",
            Self::Conflict => "Two settings exclude each other.",
            Self::UnknownName => "A `base` names a configuration that does not exist.",
            Self::BadName => "A name, id or token is empty, too long, or holds characters that it must not.",
            Self::BadHeader => "A header is not valid, or is set by another key or by the proxy.",
            Self::TooMany => "There are more entries than there may be, or more problems than are listed.",
            Self::BaseCycle => "A `base` leads back to itself.",
            Self::SharedBreakerDiffers => "Entries that share a breaker resolve to different settings.",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<breakerbox_core::Code> for Code {
    fn from(code: breakerbox_core::Code) -> Self {
        match code {
            breakerbox_core::Code::OutOfRange => Self::OutOfRange,
            breakerbox_core::Code::Conflict => Self::Conflict,
        }
    }
}

/// One mistake in a configuration. Displayed it is one line: where, what stands there, what to write instead,
/// and the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: the keys from the outermost in, as in `breakers.orders.window_size`; empty for the whole document.
    pub path: String,
    /// The kind of mistake.
    pub code: Code,
    /// The value and the remedy.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl core::error::Error for Problem {}

/// Everything that is wrong with a configuration, at least one problem. Displayed it is one line a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>, pub(crate) Aside);

/// What a list of problems does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aside {
    /// How many there are, listed or not.
    pub(crate) count: usize,
    pub(crate) warnings: Vec<Warning>,
}

impl Problems {
    /// How many problems there are, also those that are too many to be listed.
    pub fn count(&self) -> usize {
        self.1.count
    }

    /// What is odd besides.
    pub fn warnings(&self) -> &[Warning] {
        &self.1.warnings
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, problem) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Problems {}
