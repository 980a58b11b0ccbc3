use alloc::string::String;
use core::fmt;

/// What kind of mistake a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A number, percentage or duration is outside its limits.
    OutOfRange,
    /// Two settings exclude each other.
    Conflict,
}

impl Code {
    /// The code's name, which does not change between releases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfRange => "out_of_range",
            Self::Conflict => "conflict",
        }
    }
}

/// One mistake in the settings: which key, what stands there, what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The kind of mistake.
    pub code: Code,
    /// The setting's key, in `snake_case`.
    pub key: &'static str,
    /// The value that was given, as a user would write it.
    pub value: String,
    /// What is allowed.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.key, self.value, self.remedy)
    }
}

impl core::error::Error for Problem {}
