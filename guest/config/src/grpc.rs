use alloc::format;

use crate::Code;
use crate::json::Json;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::table::At;

/// A gRPC status, 0 to 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrpcStatus(u8);

/// The names, each at its number.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl GrpcStatus {
    /// The call went well.
    pub const OK: Self = Self(0);
    /// An error nobody can name; statuses above 16 count as this one, as the gRPC protocol has it.
    pub const UNKNOWN: Self = Self(2);
    /// The call took too long.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// A quota is used up.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// Something is broken.
    pub const INTERNAL: Self = Self(13);
    /// The service cannot be reached now.
    pub const UNAVAILABLE: Self = Self(14);

    /// The status of a number that was received.
    pub fn from_code(code: u32) -> Self {
        match u8::try_from(code) {
            Ok(code @ 0..=16) => Self(code),
            _ => Self::UNKNOWN,
        }
    }

    /// The status's number.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The status's name, in upper case.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or("UNKNOWN")
    }

    /// Reads a status by its name or number; `text` is the part of the value that says it, `limits` what it may be.
    pub(crate) fn parse(text: &str, limits: &str, at: &At<'_>, report: &mut Report) -> Option<Self> {
        let by_name = NAMES.iter().position(|name| *name == text);
        let found = by_name.or_else(|| text.parse().ok()).and_then(|code| u8::try_from(code).ok());
        if let Some(code @ 0..=16) = found {
            return Some(Self(code));
        }
        let hint = did_you_mean(text, NAMES);
        let message = format!("{} is no gRPC status: give {limits}{hint}", at.value);
        report.problem(&at.path, Code::UnknownValue, message);
        None
    }

    /// Reads a status that says that something is wrong.
    pub(crate) fn read_error(at: &At<'_>, report: &mut Report) -> Option<Self> {
        let status = match at.value {
            Json::Number(_) => {
                let code = at.number_in(0..=16, report)?;
                Self::from_code(code)
            }
            _ => Self::parse(at.text(report)?, at.limits, at, report)?,
        };
        if status == Self::OK {
            at.refuse(Code::OutOfRange, "would tell the client that all went well", report);
            return None;
        }
        Some(status)
    }
}

#[cfg(test)]
mod tests {
    use super::{GrpcStatus, NAMES};

    #[test]
    fn each_constant_is_the_status_of_its_name() {
        for (status, name) in [
            (GrpcStatus::OK, "OK"),
            (GrpcStatus::UNKNOWN, "UNKNOWN"),
            (GrpcStatus::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED"),
            (GrpcStatus::RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED"),
            (GrpcStatus::INTERNAL, "INTERNAL"),
            (GrpcStatus::UNAVAILABLE, "UNAVAILABLE"),
        ] {
            assert_eq!(status.name(), name);
            assert_eq!(NAMES[usize::from(status.code())], name);
        }
    }

    #[test]
    fn a_status_that_grpc_does_not_know_is_unknown() {
        assert_eq!(GrpcStatus::from_code(17), GrpcStatus::UNKNOWN);
        assert_eq!(GrpcStatus::from_code(u32::MAX), GrpcStatus::UNKNOWN);
    }
}
