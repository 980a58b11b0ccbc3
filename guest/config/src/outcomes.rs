use alloc::collections::BTreeSet;

use breakerbox_core::Outcome;

use crate::matches::Matches;
use crate::{Cause, GrpcStatus};

/// What is known of a call's end; what is not known is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The HTTP status that the client got, also one that the proxy made up.
    pub status: Option<u16>,
    /// The number in `grpc-status`, of a response that is gRPC.
    pub grpc_status: Option<u32>,
    /// What broke the call off.
    pub cause: Option<Cause>,
    /// What [`Outcomes::classify_header`] said of the response's headers; `Success` where none was asked about.
    pub headers: Outcome,
}

impl Default for Ending {
    fn default() -> Self {
        Self { status: None, grpc_status: None, cause: None, headers: Outcome::Success }
    }
}

/// Which endings of a call are failures and which say nothing: `record_on` and `ignore_on`, compiled.
///
/// Each thing that is known of an ending is looked up on its own. If one of them is in `ignore_on`, or is a cause
/// that says nothing about the upstream ([`Cause::is_neutral`]) and is not in `record_on`, the call is ignored;
/// else if one is in `record_on`, it failed; else it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    pub(crate) record: Matches,
    pub(crate) ignore: Matches,
}

impl Outcomes {
    /// What the ending means for the breaker.
    pub fn classify(&self, ending: &Ending) -> Outcome {
        let status = ending.status.map(|status| self.classify_status(status));
        let grpc = ending.grpc_status.map(|status| self.classify_grpc(status));
        let cause = ending.cause.map(|cause| self.classify_cause(cause));
        [status, grpc, cause].into_iter().flatten().fold(ending.headers, stronger)
    }

    /// What an HTTP status alone means.
    pub fn classify_status(&self, status: u16) -> Outcome {
        outcome(self.ignore.has_status(status), self.record.has_status(status))
    }

    /// What the number of a gRPC status alone means.
    pub fn classify_grpc(&self, code: u32) -> Outcome {
        let status = GrpcStatus::from_code(code);
        outcome(self.ignore.has_grpc(status), self.record.has_grpc(status))
    }

    /// What a cause alone means.
    pub fn classify_cause(&self, cause: Cause) -> Outcome {
        let is_recorded = self.record.has_cause(cause);
        let is_ignored = self.ignore.has_cause(cause) || (cause.is_neutral() && !is_recorded);
        outcome(is_ignored, is_recorded)
    }

    /// What one response header alone means. The name's case does not matter, the value's does.
    pub fn classify_header(&self, name: &str, value: &[u8]) -> Outcome {
        outcome(self.ignore.has_header(name, value), self.record.has_header(name, value))
    }

    /// What all headers of a response mean that decide anything; `value` looks one up by its name in lower case.
    pub fn classify_headers<V: AsRef<[u8]>>(&self, value: impl Fn(&str) -> Option<V>) -> Outcome {
        let names = self.header_names().into_iter();
        let found = names.filter_map(|name| Some(self.classify_header(name, value(name)?.as_ref())));
        found.fold(Outcome::Success, stronger)
    }

    /// The names of the response headers that decide anything, in lower case.
    pub fn header_names(&self) -> BTreeSet<&str> {
        self.record.headers().iter().chain(self.ignore.headers()).map(|header| header.name()).collect()
    }
}

/// The outcome of two things that are known of one call.
pub(crate) fn stronger(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Outcome::Ignored, _) | (_, Outcome::Ignored) => Outcome::Ignored,
        (Outcome::Failure, _) | (_, Outcome::Failure) => Outcome::Failure,
        (Outcome::Success, Outcome::Success) => Outcome::Success,
    }
}

fn outcome(is_ignored: bool, is_recorded: bool) -> Outcome {
    match (is_ignored, is_recorded) {
        (true, _) => Outcome::Ignored,
        (false, true) => Outcome::Failure,
        (false, false) => Outcome::Success,
    }
}

impl Default for Outcomes {
    fn default() -> Self {
        let grpc = [
            GrpcStatus::UNKNOWN,
            GrpcStatus::DEADLINE_EXCEEDED,
            GrpcStatus::RESOURCE_EXHAUSTED,
            GrpcStatus::INTERNAL,
            GrpcStatus::UNAVAILABLE,
        ];
        let causes = [Cause::ConnectFailure, Cause::Timeout, Cause::Reset, Cause::NoHealthyUpstream];
        Self { record: Matches::new(&[(429, 429), (500, 599)], &grpc, &causes), ignore: Matches::default() }
    }
}

#[cfg(test)]
mod tests {
    use breakerbox_core::Outcome::{Failure, Ignored, Success};

    use super::{Ending, Outcomes};
    use crate::Cause;

    #[test]
    fn by_default_5xx_and_429_fail_and_all_else_succeeds() {
        let outcomes = Outcomes::default();
        for status in 100..=599 {
            let expected = if matches!(status, 429 | 500..) { Failure } else { Success };
            assert_eq!(outcomes.classify_status(status), expected, "{status}");
        }
    }

    #[test]
    fn by_default_grpc_statuses_that_mean_trouble_fail() {
        let outcomes = Outcomes::default();
        for code in 0..=20 {
            let expected = if matches!(code, 2 | 4 | 8 | 13 | 14 | 17..) { Failure } else { Success };
            assert_eq!(outcomes.classify_grpc(code), expected, "{code}");
        }
    }

    #[test]
    fn by_default_causes_that_are_not_the_upstreams_are_ignored() {
        let outcomes = Outcomes::default();
        for cause in Cause::ALL {
            let expected = match cause {
                Cause::ClientGone | Cause::Overflow => Ignored,
                _ => Failure,
            };
            assert_eq!(outcomes.classify_cause(cause), expected, "{cause:?}");
        }
    }

    #[test]
    fn the_status_that_the_proxy_makes_up_for_an_overflow_is_no_failure() {
        let ending = Ending { status: Some(503), cause: Some(Cause::Overflow), ..Ending::default() };
        assert_eq!(Outcomes::default().classify(&ending), Ignored);
    }

    #[test]
    fn a_200_fails_by_its_trailers_or_by_a_reset_after_it() {
        let outcomes = Outcomes::default();
        let ok = Ending { status: Some(200), ..Ending::default() };
        assert_eq!(outcomes.classify(&ok), Success);
        assert_eq!(outcomes.classify(&Ending { grpc_status: Some(14), ..ok }), Failure);
        assert_eq!(outcomes.classify(&Ending { cause: Some(Cause::Reset), ..ok }), Failure);
        assert_eq!(outcomes.classify(&Ending { headers: Failure, ..ok }), Failure);
        assert_eq!(outcomes.classify(&Ending { headers: Ignored, grpc_status: Some(14), ..ok }), Ignored);
    }
}
