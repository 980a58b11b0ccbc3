use breakerbox_config::{Cause, Ending, Outcomes};
use breakerbox_core::Outcome;

use crate::hostcalls;
use crate::response::Response;

/// The client left: DC, DR; or broke the protocol: DPE.
const CLIENT_GONE: u64 = 1 << 14 | 1 << 28 | 1 << 18;

/// Envoy's response flags for what can break a call off, the first that fits. The limits of the proxy (UO) come
/// last: beside another flag they only kept it from trying again.
const FLAGS: [(u64, Cause); 6] = [
    (CLIENT_GONE, Cause::ClientGone),
    // UH
    (1 << 1, Cause::NoHealthyUpstream),
    // UF, DF
    (1 << 5 | 1 << 26, Cause::ConnectFailure),
    // UT, SI, UMSDR, DT
    (1 << 2 | 1 << 16 | 1 << 19 | 1 << 22, Cause::Timeout),
    // LR, UR, UC, UPE
    (1 << 3 | 1 << 4 | 1 << 6 | 1 << 23, Cause::Reset),
    // UO
    (1 << 7, Cause::Overflow),
];

/// How a call came to its end, as far as the proxy knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    cause: Option<Cause>,
    /// How often the request was sent upstream, counting attempts that found no host; 0 if something between
    /// here and the upstream answered it. `None` if the host does not say.
    attempts: Option<u64>,
}

impl Report {
    /// What the proxy says once the response has its headers, or once the request is logged.
    ///
    /// A response that simply came from the upstream needs no more than to know that it did, see [`went_upstream`].
    /// Else whoever wrote the details has looked at everything already. Only other endings are worth reading flags and
    /// attempts for.
    pub(crate) fn read(response: &Response, is_sending: bool) -> Self {
        if response.is_whole_success() && went_upstream() {
            return Self::default();
        }
        let details = hostcalls::property("response\0code_details");
        if is_via_upstream(details.as_deref()) {
            return Self::default();
        }
        let flags = hostcalls::integer_property("response\0flags").unwrap_or(0);
        Self {
            cause: cause(flags, details.as_deref(), response, is_sending),
            attempts: hostcalls::integer_property("upstream\0request_attempt_count"),
        }
    }

    /// What the proxy says about an attempt that is done and is never logged: as a filter of the upstream.
    ///
    /// There the flags tell of nothing but the client. What else broke an attempt off shows by what is missing of
    /// its response.
    pub(crate) fn read_of_attempt(response: &Response, is_sending: bool) -> Self {
        let flags = hostcalls::integer_property("response\0flags").unwrap_or(0);
        let is_given_up = || is_given_up(hostcalls::property("response\0code_details").as_deref());
        let cause = if flags & CLIENT_GONE != 0 || (response.status.is_none() && is_sending && is_given_up())
        {
            Some(Cause::ClientGone)
        } else if response.status.is_none() {
            let reason = hostcalls::property("upstream\0transport_failure_reason").unwrap_or_default();
            Some(if reason.is_empty() {
                flagged(flags).unwrap_or(Cause::Reset)
            } else {
                Cause::ConnectFailure
            })
        } else if response.is_complete || hostcalls::property("response\0code").is_none() {
            // An attempt that the router drops, to try again, was never made the response's code.
            None
        } else {
            Some(Cause::Reset)
        };
        Self { cause, attempts: None }
    }

    /// What it means for the breaker, by the lists of its policy.
    ///
    /// A call that never went upstream says nothing about the upstream, and so does one without a response that
    /// nothing is known of.
    pub(crate) fn outcome(self, response: &Response, outcomes: &Outcomes) -> Outcome {
        let Self { cause, attempts } = self;
        let &Response { status, grpc_status, headers, .. } = response;
        if attempts == Some(0) || (status.is_none() && cause.is_none()) {
            return Outcome::Ignored;
        }
        outcomes.classify(&Ending { status, grpc_status, cause, headers })
    }
}

/// Whether the request was sent to a host, without trouble on the connection. That there was none is an empty text, which
/// is cheap to ask for; before a host was chosen there is no text at all. The proxy makes successes up itself only where
/// it chose no host.
fn went_upstream() -> bool {
    hostcalls::property("upstream\0transport_failure_reason").is_some_and(|reason| reason.is_empty())
}

fn is_via_upstream(details: Option<&[u8]>) -> bool {
    details == Some(b"via_upstream")
}

/// Whether the proxy ended a stream because it did not go on.
fn is_given_up(details: Option<&[u8]>) -> bool {
    matches!(details, Some(b"stream_idle_timeout" | b"request_overall_timeout"))
}

fn cause(flags: u64, details: Option<&[u8]>, response: &Response, is_sending: bool) -> Option<Cause> {
    // Unless an answer had begun, it is the request that took too long. The proxy says so with 408, and to a gRPC client
    // with a status of its own.
    let is_the_proxys = response.is_complete || response.status == Some(408);
    if is_sending && is_the_proxys && is_given_up(details) {
        return Some(Cause::ClientGone);
    }
    // The longest that a stream may last has no flag of its own.
    flagged(flags).or_else(|| (details == Some(b"max_duration_timeout")).then_some(Cause::Timeout))
}

fn flagged(flags: u64) -> Option<Cause> {
    FLAGS.into_iter().find(|(bits, _)| flags & bits != 0).map(|(_, cause)| cause)
}

#[cfg(test)]
mod tests {
    use breakerbox_config::Outcomes;
    use breakerbox_core::Outcome::{self, Failure, Ignored, Success};

    use super::{Report, cause};
    use crate::response::Response;

    fn outcome(status: u16, flags: u64, attempts: u64, details: &[u8]) -> Outcome {
        let response = Response { status: (status != 0).then_some(status), ..Response::default() };
        let cause = cause(flags, Some(details), &response, false);
        Report { cause, attempts: Some(attempts) }.outcome(&response, &Outcomes::default())
    }

    #[test]
    fn plain_responses_go_by_their_status() {
        let plain = |status| outcome(status, 0, 1, b"");
        for status in [200, 204, 301, 304, 400, 401, 404, 408, 418, 499] {
            assert_eq!(plain(status), Success, "{status}");
        }
        for status in [429, 500, 502, 503, 504, 599] {
            assert_eq!(plain(status), Failure, "{status}");
        }
    }

    #[test]
    fn each_way_for_an_upstream_to_fail_is_a_failure() {
        for (what, status, flags, details) in [
            ("connection refused", 503, 32, ""),
            ("no healthy host", 503, 2, "no_healthy_upstream"),
            ("closed before headers", 503, 64, ""),
            ("timeout", 504, 4, "response_timeout"),
            ("per-try timeout, retries used up", 504, 4 | 32768, ""),
            ("stream idle", 504, 65536, "stream_idle_timeout"),
            ("max duration", 504, 0, "max_duration_timeout"),
            ("max duration after headers", 200, 0, "max_duration_timeout"),
            ("HTTP/1 reset in mid-body", 200, 8_388_608, ""),
            ("HTTP/2 reset in mid-body", 200, 64, ""),
            ("timeout after headers", 200, 4, "response_timeout"),
            ("gRPC to a refused connection", 200, 32, ""),
            ("refused, and too many retries are under way", 503, 32 | 128, ""),
        ] {
            assert_eq!(outcome(status, flags, 1, details.as_bytes()), Failure, "{what}");
        }
    }

    #[test]
    fn what_says_nothing_about_the_upstream_is_ignored() {
        for (what, status, flags, attempts) in [
            ("HTTP/1 client gone before the response", 0, 16384, 1),
            ("HTTP/2 client gone before the response", 0, 268_435_456, 1),
            ("client gone after headers", 200, 16384, 1),
            ("client gone while the upstream hung", 0, 16384 | 4, 1),
            ("overflow", 503, 128, 1),
            ("direct response", 200, 0, 0),
            ("direct response of an error", 503, 0, 0),
            ("fault injected after us", 503, 1024, 0),
            ("unknown cluster", 503, 16_777_216, 0),
            ("no response and no reason", 0, 0, 1),
        ] {
            assert_eq!(outcome(status, flags, attempts, b""), Ignored, "{what}");
        }
    }

    #[test]
    fn a_request_that_took_too_long_is_ignored_and_an_answer_that_did_is_a_failure() {
        let http = Response { status: Some(408), ..Response::default() };
        let grpc =
            Response { status: Some(200), grpc_status: Some(2), is_complete: true, ..Response::default() };
        let begun = Response { status: Some(200), ..Response::default() };
        for (flags, details) in [(65536, "stream_idle_timeout"), (0, "request_overall_timeout")] {
            let outcome = |response: &Response, is_sending| {
                let cause = cause(flags, Some(details.as_bytes()), response, is_sending);
                Report { cause, attempts: Some(1) }.outcome(response, &Outcomes::default())
            };
            assert_eq!(outcome(&http, true), Ignored, "{details}");
            assert_eq!(outcome(&grpc, true), Ignored, "{details}");
            assert_eq!(outcome(&grpc, false), Failure, "{details}");
            let expected = if flags == 0 { Success } else { Failure };
            assert_eq!(outcome(&begun, true), expected, "{details}");
        }
    }

    #[test]
    fn a_host_that_tells_nothing_but_the_status_is_believed() {
        let response = Response { status: Some(200), ..Response::default() };
        assert_eq!(Report::default().outcome(&response, &Outcomes::default()), Success);
    }
}
