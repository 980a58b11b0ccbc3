use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use breakerbox_config::{Reject, RetryAfter};
use breakerbox_core::Rejection;

use crate::hostcalls::{self, Headers, LocalResponse};
use crate::id::Id;

/// Answers a request that its breaker rejected; whether the proxy took the answer. In the request's headers
/// callback only.
pub(crate) fn send(id: &Id, rejection: &Rejection, reject: &Reject) -> bool {
    let retry_after = match reject.retry_after {
        RetryAfter::Remaining => rejection.retry_after.map(whole_seconds),
        RetryAfter::Seconds(seconds) => Some(seconds),
        RetryAfter::Off => None,
    };
    let retry_after = retry_after.map(|seconds| seconds.to_string());
    let mut headers = Vec::with_capacity(reject.headers.len().saturating_add(3));
    headers.extend(reject.headers.iter().map(|header| (header.name(), header.value())));
    if let Some(seconds) = &retry_after {
        headers.push(("retry-after", seconds.as_str()));
    }
    if reject.envoy_ratelimited {
        headers.push(("x-envoy-ratelimited", "true"));
    }
    let is_grpc = is_grpc(hostcalls::header(Headers::Request, "content-type").as_deref());
    let body = match &reject.body {
        // gRPC has no body here: this is the text beside its status.
        _ if is_grpc => Cow::Owned(message(id, rejection)),
        Some(body) => {
            headers.push(("content-type", &*body.content_type));
            Cow::Borrowed(&*body.text)
        }
        None => {
            headers.push(("content-type", "application/json"));
            Cow::Owned(json(id, rejection))
        }
    };
    hostcalls::send_local_response(&LocalResponse {
        status: reject.status.into(),
        details: "circuit_breaker_open",
        headers: &headers,
        body: &body,
        // The proxy turns the reply to a gRPC request into gRPC: this status, and the body as its message.
        grpc_status: is_grpc.then(|| reject.grpc_status.code()),
    })
}

/// `application/grpc` and its variants such as `application/grpc+proto` and `application/grpc-web`.
fn is_grpc(content_type: Option<&[u8]>) -> bool {
    content_type.is_some_and(|content_type| content_type.starts_with(b"application/grpc"))
}

/// Rounded up: whoever comes back then is not early.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

fn whole_millis(wait: Duration) -> u64 {
    let rest = u64::from(wait.subsec_nanos().div_ceil(1_000_000));
    wait.as_secs().saturating_mul(1_000).saturating_add(rest)
}

fn json(id: &Id, rejection: &Rejection) -> String {
    let breaker = &id.json;
    let reason = rejection.reason.name();
    let retry = rejection.retry_after.map_or_else(|| "null".into(), |wait| whole_millis(wait).to_string());
    format!("{{\"breaker\":{breaker},\"reason\":\"{reason}\",\"retry_after_ms\":{retry}}}\n")
}

fn message(id: &Id, rejection: &Rejection) -> String {
    let mut message = format!("circuit breaker {} rejected the call: {}", id.json, rejection.reason.name());
    if let Some(wait) = rejection.retry_after {
        // Writing to a string does not fail.
        let _ = write!(message, ", retry after {} ms", whole_millis(wait));
    }
    message
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use breakerbox_core::{Reason, Rejection};

    use super::{is_grpc, json, message, whole_seconds};
    use crate::id::Id;

    #[test]
    fn seconds_are_rounded_up_so_that_nobody_comes_back_early() {
        assert_eq!(whole_seconds(Duration::ZERO), 0);
        assert_eq!(whole_seconds(Duration::from_nanos(1)), 1);
        assert_eq!(whole_seconds(Duration::from_secs(5)), 5);
        assert_eq!(whole_seconds(Duration::from_millis(5001)), 6);
    }

    #[test]
    fn the_body_names_breaker_reason_and_wait() {
        let id = Id::new(br#"a"b"#);
        let wait = Some(Duration::from_micros(1500));
        let open = Rejection { reason: Reason::Open, retry_after: wait, open_since: None };
        let text = "{\"breaker\":\"a\\\"b\",\"reason\":\"open\",\"retry_after_ms\":2}\n";
        assert_eq!(json(&id, &open), text);
        assert_eq!(
            message(&id, &open),
            r#"circuit breaker "a\"b" rejected the call: open, retry after 2 ms"#
        );

        let full = Rejection { reason: Reason::HalfOpenFull, retry_after: None, open_since: None };
        let text = "{\"breaker\":\"a\\\"b\",\"reason\":\"half_open_full\",\"retry_after_ms\":null}\n";
        assert_eq!(json(&id, &full), text);
    }

    #[test]
    fn grpc_is_known_by_its_content_type() {
        for content_type in ["application/grpc", "application/grpc+proto", "application/grpc-web+proto"] {
            assert!(is_grpc(Some(content_type.as_bytes())), "{content_type}");
        }
        assert!(!is_grpc(None));
        assert!(!is_grpc(Some(b"application/json")));
        assert!(!is_grpc(Some(b"\xff\xfe")));
    }
}
