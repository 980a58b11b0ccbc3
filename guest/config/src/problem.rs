use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

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
}

impl Code {
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
pub struct Problems(pub Vec<Problem>);

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
