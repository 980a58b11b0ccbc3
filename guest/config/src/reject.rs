use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::filter_keys::REJECT_KEYS;
use crate::header::{Header, is_token, parse_value};
use crate::json::Json;
use crate::report::Report;
use crate::table::At;
use crate::{Code, GrpcStatus};

const MOST_HEADERS: usize = 32;
const LONGEST_BODY: usize = 64 * 1024;

/// Headers of a rejection that have a key of their own.
const OWN_KEYS: [(&str, &str); 5] = [
    ("content-type", "content_type"),
    ("grpc-message", "grpc_status"),
    ("grpc-status", "grpc_status"),
    ("retry-after", "retry_after"),
    ("x-envoy-ratelimited", "envoy_ratelimited"),
];

/// What a client gets whose request the breaker rejects. It can never be taken for the upstream's success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// The HTTP status, 400 to 599.
    pub status: u16,
    /// More headers.
    pub headers: Vec<Header>,
    /// The body; `None` is a JSON object that names the breaker and the reason.
    pub body: Option<Body>,
    /// The `retry-after` header.
    pub retry_after: RetryAfter,
    /// The status that a gRPC request gets instead.
    pub grpc_status: GrpcStatus,
    /// Whether `x-envoy-ratelimited` is sent, which keeps another Envoy in front from trying again.
    pub envoy_ratelimited: bool,
}

/// A body that was written by the user. Thousands of entries may inherit it, so copies share its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The body, at most 64 KiB.
    pub text: Arc<str>,
    /// The `content-type` header.
    pub content_type: Arc<str>,
}

/// What the `retry-after` header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    /// How long the breaker stays open, in whole seconds, rounded up; no header where that is not known.
    Remaining,
    /// Always this many seconds.
    Seconds(u64),
    /// No header.
    Off,
}

impl Default for Reject {
    fn default() -> Self {
        Self {
            status: 503,
            headers: Vec::new(),
            body: None,
            retry_after: RetryAfter::Remaining,
            grpc_status: GrpcStatus::UNAVAILABLE,
            envoy_ratelimited: false,
        }
    }
}

impl Reject {
    /// Reads a `reject` object; what it does not say is as in `base`.
    pub(crate) fn read(at: &At<'_>, base: &Self, report: &mut Report) -> Option<Self> {
        let table = at.table(&[REJECT_KEYS], report)?;
        let mut reject = base.clone();
        table.read("status", status, report, &mut reject.status);
        let headers =
            |at: &At<'_>, report: &mut Report| Header::read_all(at, MOST_HEADERS, &OWN_KEYS, report);
        table.read("headers", headers, report, &mut reject.headers);
        table.read("retry_after", retry_after, report, &mut reject.retry_after);
        table.read("grpc_status", GrpcStatus::read_error, report, &mut reject.grpc_status);
        table.read("envoy_ratelimited", At::boolean, report, &mut reject.envoy_ratelimited);

        if let Some(text) = table.get("body").and_then(|at| body(at, report)) {
            let content_type = match reject.body {
                Some(body) => body.content_type,
                None => "text/plain; charset=utf-8".into(),
            };
            reject.body = Some(Body { text: text.into(), content_type });
        }
        if let Some(at) = table.get("content_type") {
            match &mut reject.body {
                Some(body) => table.read("content_type", content_type, report, &mut body.content_type),
                // A body that was refused has been reported, and this with it.
                None if table.get("body").is_some() => {}
                None => {
                    let message =
                        "is given without `body`, and the default body is JSON: give `body` as well";
                    report.problem(&at.path, Code::Conflict, message);
                }
            }
        }
        Some(reject)
    }
}

fn status(at: &At<'_>, report: &mut Report) -> Option<u16> {
    at.number_in(400..=599, report).and_then(|status| u16::try_from(status).ok())
}

fn body<'a>(at: &At<'a>, report: &mut Report) -> Option<&'a str> {
    let text = at.text(report)?;
    if text.len() > LONGEST_BODY {
        at.refuse(Code::OutOfRange, "is too long", report);
        return None;
    }
    Some(text)
}

fn content_type(at: &At<'_>, report: &mut Report) -> Option<Arc<str>> {
    let value = parse_value(at.text(report)?, at, report)?;
    let essence = value.split(';').next().unwrap_or_default().trim_end();
    if !essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype)) {
        at.refuse(Code::BadHeader, "is not a media type", report);
        return None;
    }
    Some(value.into())
}

fn retry_after(at: &At<'_>, report: &mut Report) -> Option<RetryAfter> {
    match at.value {
        _ if at.value.is_off() => Some(RetryAfter::Off),
        Json::Bool(_) => Some(RetryAfter::Remaining),
        Json::String(text) if text == "true" => Some(RetryAfter::Remaining),
        Json::String(text) if text == "false" => Some(RetryAfter::Off),
        _ => {
            let wait = at.duration(report)?;
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            Some(RetryAfter::Seconds(seconds))
        }
    }
}
