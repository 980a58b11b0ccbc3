use breakerbox_core::Outcome;

use crate::hostcalls;

/// How a request ended, as far as the proxy knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The status that the client got, if it got one.
    pub(crate) status: Option<u64>,
    /// The status of a gRPC response.
    pub(crate) grpc_status: Option<u64>,
    /// Envoy's response flags.
    pub(crate) flags: u64,
    /// How often the request was sent upstream, counting attempts that found no host; 0 if something between
    /// here and the upstream answered it. `None` if the host does not say.
    pub(crate) attempts: Option<u64>,
}

/// The client left: DC, DR; or broke the protocol: DPE.
const CLIENT_GONE: u64 = 1 << 14 | 1 << 28 | 1 << 18;

/// The upstream could not be reached or broke off: UH, UT, LR, UR, UF, UC, UO, URX, SI, UMSDR, DT, UPE, DF.
///
/// Most of these come with a 5xx anyway. The flags tell of those that strike after a 200's headers.
const UPSTREAM_FAILED: u64 = 1 << 1
    | 1 << 2
    | 1 << 3
    | 1 << 4
    | 1 << 5
    | 1 << 6
    | 1 << 7
    | 1 << 15
    | 1 << 16
    | 1 << 19
    | 1 << 22
    | 1 << 23
    | 1 << 26;

const TOO_MANY_REQUESTS: u64 = 429;

/// UNKNOWN, `DEADLINE_EXCEEDED`, `RESOURCE_EXHAUSTED`, INTERNAL, UNAVAILABLE.
const GRPC_FAILURES: [u64; 5] = [2, 4, 8, 13, 14];

impl Ending {
    /// What the proxy says about the request, once it is over.
    ///
    /// A response that simply came from the upstream takes two properties, and whoever wrote these details has
    /// already looked at everything else. Only other endings are worth reading flags and attempts for.
    pub(crate) fn read(grpc_status: Option<u64>) -> Self {
        let details = hostcalls::property("response\0code_details");
        let status = hostcalls::integer_property("response\0code");
        let ending = Self { status, grpc_status, ..Self::default() };
        if details.is_some_and(|details| details == b"via_upstream") {
            return ending;
        }
        Self {
            flags: hostcalls::integer_property("response\0flags").unwrap_or(0),
            attempts: hostcalls::integer_property("upstream\0request_attempt_count"),
            ..ending
        }
    }

    /// What the ending means for the breaker.
    ///
    /// A call says nothing about the upstream if the client left it, or if it never went there. It failed if the
    /// upstream could not be reached or broke off, if the response has status 5xx or 429, or if it is gRPC with
    /// one of the statuses that mean trouble rather than an answer. Envoy's own limits (overflow) are 503 and so
    /// failures: too much is waiting for this upstream already.
    pub(crate) fn outcome(self) -> Outcome {
        let Self { status, grpc_status, flags, attempts } = self;
        if flags & CLIENT_GONE != 0 || attempts == Some(0) {
            return Outcome::Ignored;
        }
        if flags & UPSTREAM_FAILED != 0 || grpc_status.is_some_and(|status| GRPC_FAILURES.contains(&status)) {
            return Outcome::Failure;
        }
        match status {
            Some(500.. | TOO_MANY_REQUESTS) => Outcome::Failure,
            Some(_) => Outcome::Success,
            // No response, and nobody who says why.
            None => Outcome::Ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use breakerbox_core::Outcome::{self, Failure, Ignored, Success};

    use super::Ending;

    fn outcome(status: u64, flags: u64, attempts: u64) -> Outcome {
        let status = (status != 0).then_some(status);
        Ending { status, grpc_status: None, flags, attempts: Some(attempts) }.outcome()
    }

    #[test]
    fn plain_responses_go_by_their_status() {
        let plain = |status| Ending { status: Some(status), ..Ending::default() }.outcome();
        for status in [200, 204, 301, 304, 400, 401, 404, 408, 418, 499] {
            assert_eq!(plain(status), Success, "{status}");
        }
        for status in [429, 500, 502, 503, 504, 599] {
            assert_eq!(plain(status), Failure, "{status}");
        }
    }

    #[test]
    fn each_way_for_an_upstream_to_fail_is_a_failure() {
        for (what, status, flags) in [
            ("connection refused", 503, 32),
            ("no healthy host", 503, 2),
            ("overflow", 503, 128),
            ("closed before headers", 503, 64),
            ("timeout", 504, 4),
            ("per-try timeout, retries used up", 504, 4 | 32768),
            ("stream idle", 504, 65536),
            ("max duration", 504, 0),
            ("HTTP/1 reset in mid-body", 200, 8_388_608),
            ("HTTP/2 reset in mid-body", 200, 64),
            ("timeout after headers", 200, 4),
            ("gRPC to a refused connection", 200, 32),
        ] {
            assert_eq!(outcome(status, flags, 1), Failure, "{what}");
        }
    }

    #[test]
    fn what_says_nothing_about_the_upstream_is_ignored() {
        for (what, status, flags, attempts) in [
            ("HTTP/1 client gone before the response", 0, 16384, 1),
            ("HTTP/2 client gone before the response", 0, 268_435_456, 1),
            ("client gone after headers", 200, 16384, 1),
            ("client gone while the upstream hung", 0, 16384 | 4, 1),
            ("direct response", 200, 0, 0),
            ("direct response of an error", 503, 0, 0),
            ("fault injected after us", 503, 1024, 0),
            ("unknown cluster", 503, 16_777_216, 0),
            ("no response and no reason", 0, 0, 1),
        ] {
            assert_eq!(outcome(status, flags, attempts), Ignored, "{what}");
        }
    }

    #[test]
    fn grpc_statuses_that_mean_trouble_are_failures() {
        let grpc = |grpc_status| {
            Ending { status: Some(200), grpc_status: Some(grpc_status), ..Ending::default() }.outcome()
        };
        for status in 0..=16 {
            let expected = if [2, 4, 8, 13, 14].contains(&status) { Failure } else { Success };
            assert_eq!(grpc(status), expected, "grpc-status {status}");
        }
    }

    #[test]
    fn a_host_that_tells_nothing_but_the_status_is_believed() {
        let ending = Ending { status: Some(200), ..Ending::default() };
        assert_eq!(ending.outcome(), Success);
    }
}
