//! What a proxy, its clients, its operators and its other plugins may do to the filter, sensible or not.

use bolero::TypeGenerator;
use breakerbox_host::proxy::{Callback, Request, Response};

use crate::any::{AnyMark, Damage};

/// Two workers with a filter and an admin each.
#[derive(Debug, TypeGenerator)]
pub(crate) struct Traffic {
    /// Which of [`CONFIGURATIONS`] they begin with.
    pub(crate) configuration: u8,
    pub(crate) steps: Vec<(bool, AnyMark, Step)>,
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum Step {
    Begin(AnyRequest),
    /// Some plain requests, which wait for their responses.
    Rush(#[generator(1..=4_u8)] u8),
    /// Some plain requests that all end like this.
    Calls(#[generator(1..=4_u8)] u8, AnyResponse),
    /// One of the requests that have begun goes on.
    Respond(u8, AnyResponse),
    Leave(u8),
    /// It is never heard of again.
    Forget(u8),
    /// A request whose callbacks come in any order; to the admin if so.
    Callbacks(bool, AnyRequest, AnyResponse, Vec<AnyCallback>),
    Ask(AnyQuestion),
    Tick,
    Fault(Fault),
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum Fault {
    Crash,
    Replace,
    Conflict(u8),
    Withhold(u8),
    /// Somebody else writes to shared data.
    Write(AnyKey, AnyBytes),
    /// Somebody else changes what the filter wrote.
    Damage(u8, Damage),
    Configure(u8),
    ConfigureAny(AnyBytes),
}

/// A request that says all that a breaker may be found by.
pub(crate) fn plain_request() -> Request {
    Request::get("/").route("a").cluster("b").header("x-breaker", "a")
}

/// Of [`CONFIGURATIONS`], the first so many have one breaker for all, and reject what it rejects.
pub(crate) const STRICT: usize = 2;

/// The first so many are those of a filter.
pub(crate) const SOUND: usize = 8;

/// Configurations of a few breakers, which move soon; then others, some of which are refused.
pub(crate) const CONFIGURATIONS: [&[u8]; 14] = [
    br#"{"per": "fixed:all", "max_breakers": 3, "default": {"window_size": 2, "minimum_calls": 1, "wait_in_open": "1s",
        "half_open_calls": 2}}"#,
    br#"{"per": "fixed:all", "max_breakers": 3, "default": {"consecutive_failures": 1, "wait_in_open": "1ms",
        "half_open_calls": 3, "half_open_policy": "all_must_succeed", "slow_call_duration": "100ms",
        "max_wait_in_half_open": "5s", "record_at": "headers"}}"#,
    br#"{"max_breakers": 3, "default": {"consecutive_failures": 1, "wait_in_open": "1s"}}"#,
    br#"{"per": "header:x-breaker", "max_breakers": 3, "default": {"window_type": "time", "window_size": 2,
        "minimum_calls": 1, "slow_call_duration": "1ms", "slow_call_timing": "complete"},
        "breakers": {"a*": {"breaker": "shared"}, "*b": {"fallback": {"header": {"x-fallback": "yes"}}}}}"#,
    br#"{"per": "host", "max_breakers": 2, "default": {"mode": "shadow", "consecutive_failures": 1}}"#,
    br#"{"per": "path_prefix:2", "max_breakers": 3, "default": {"consecutive_failures": 1,
        "reject": {"status": 429, "body": "later", "retry_after": "5s", "headers": {"x-said": "no"}}}}"#,
    br#"{"per": "upstream_host", "max_breakers": 3, "default": {"consecutive_failures": 1, "record_on":
        ["404", "grpc:2", "header:x-outcome=failed", "client_gone"], "ignore_on": ["5xx", "header:x-outcome=ignored"]}}"#,
    br#"{"per": "cluster", "max_breakers": 1, "default": {"fallback": {"header": {"x-fallback": "yes"}}}}"#,
    br#"{"role": "admin", "token": "t"}"#,
    b"\x0a\x0e\x0a\x03per\x12\x07\x1a\x05route",
    b"",
    b"{",
    b"\xff",
    br#"{"default": {"windw_size": 1}}"#,
];

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyBytes {
    /// One of [`WORDS`].
    Word(u8),
    Any(Vec<u8>),
    /// 60 KB of it, which is all that an Envoy lets through.
    Long(u8),
}

const WORDS: [&[u8]; 28] = [
    b"",
    b"a",
    b"b",
    b"ab",
    b"all",
    b"\xff\xfe",
    b"a\xffb",
    b"\0",
    b"a\r\nb",
    b"200",
    b"500",
    b"0",
    b"65536",
    b"-1",
    b"/",
    b"/a/b/c?d#e",
    b"*",
    b"localhost",
    b"127.0.0.1:80",
    b"[::1",
    b"Bearer t",
    b"Bearer ",
    b"application/grpc",
    b"yes",
    b"failed",
    b"ignored",
    b"via_upstream",
    b"response_timeout",
];

impl AnyBytes {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Word(word) => nth(&WORDS, *word).to_vec(),
            Self::Any(bytes) => bytes.clone(),
            Self::Long(byte) => vec![*byte; 60_000],
        }
    }
}

fn nth<T: Copy>(items: &[T], nth: u8) -> T {
    items[usize::from(nth) % items.len()]
}

#[derive(Debug, TypeGenerator)]
pub(crate) struct AnyRequest {
    #[generator(bolero::produce::<Vec<(u8, Option<AnyBytes>)>>().with().len(0..=4_usize))]
    headers: Vec<(u8, Option<AnyBytes>)>,
    #[generator(bolero::produce::<Vec<(u8, AnyBytes)>>().with().len(0..=3_usize))]
    properties: Vec<(u8, AnyBytes)>,
    body: Option<AnyBytes>,
}

const REQUEST_HEADERS: [&str; 10] = [
    ":method",
    ":path",
    ":authority",
    "x-breaker",
    "x-fallback",
    "content-type",
    "authorization",
    "x-breakerbox",
    "x-other",
    "",
];

const REQUEST_PROPERTIES: [&[&str]; 7] = [
    &["xds", "route_name"],
    &["xds", "route_name"],
    &["xds", "cluster_name"],
    &["xds", "virtual_host_name"],
    &["upstream", "address"],
    &["plugin_vm_id"],
    &["plugin_name"],
];

impl AnyRequest {
    pub(crate) fn request(&self) -> Request {
        let mut request = plain_request();
        for (name, value) in &self.headers {
            let name = nth(&REQUEST_HEADERS, *name);
            request = match value {
                Some(value) => request.header(name, value.bytes()),
                None => request.without(name),
            };
        }
        for (path, value) in &self.properties {
            request = request.property(nth(&REQUEST_PROPERTIES, *path), value.bytes());
        }
        match &self.body {
            Some(body) => request.body(body.bytes()),
            None => request,
        }
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) struct AnyResponse {
    status: AnyStatus,
    flags: Option<u32>,
    attempts: u8,
    #[generator(bolero::produce::<Vec<(bool, u8, AnyBytes)>>().with().len(0..=3_usize))]
    headers: Vec<(bool, u8, AnyBytes)>,
    #[generator(bolero::produce::<Vec<(u8, Option<AnyBytes>)>>().with().len(0..=3_usize))]
    properties: Vec<(u8, Option<AnyBytes>)>,
    body: bool,
}

#[derive(Debug, TypeGenerator)]
enum AnyStatus {
    Success,
    Failure,
    Any(u16),
}

const RESPONSE_HEADERS: [&str; 5] = [":status", "grpc-status", "content-type", "x-outcome", "content-length"];

const RESPONSE_PROPERTIES: [&[&str]; 6] = [
    &["response", "flags"],
    &["response", "code_details"],
    &["response", "code"],
    &["upstream", "request_attempt_count"],
    &["upstream", "transport_failure_reason"],
    &["upstream", "address"],
];

impl AnyResponse {
    pub(crate) fn response(&self) -> Response {
        let status = match self.status {
            AnyStatus::Success => 200,
            AnyStatus::Failure => 500,
            AnyStatus::Any(status) => status,
        };
        let mut response = Response::new(status).attempts(self.attempts.into());
        if let Some(flags) = self.flags {
            response = response.ended(flags.into(), "response_timeout");
        }
        for (is_trailer, name, value) in &self.headers {
            let (name, value) = (nth(&RESPONSE_HEADERS, *name), value.bytes());
            response = if *is_trailer { response.trailer(name, value) } else { response.header(name, value) };
        }
        for (path, value) in &self.properties {
            let value = value.as_ref().map(AnyBytes::bytes);
            response = response.property(nth(&RESPONSE_PROPERTIES, *path), value.as_deref());
        }
        if self.body { response.body("body") } else { response }
    }
}

/// Which of [`CALLBACKS`], and whether it is the end.
#[derive(Debug, TypeGenerator)]
pub(crate) struct AnyCallback(u8, bool);

const CALLBACKS: [fn(bool) -> Callback; 8] = [
    Callback::RequestHeaders,
    Callback::RequestBody,
    |_| Callback::RequestTrailers,
    Callback::ResponseHeaders,
    Callback::ResponseBody,
    |_| Callback::ResponseTrailers,
    |_| Callback::Done,
    |_| Callback::Log,
];

impl AnyCallback {
    pub(crate) fn callback(&self) -> Callback {
        nth(&CALLBACKS, self.0)(self.1)
    }
}

/// A request to the admin.
#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyQuestion {
    All,
    One(AnyBytes),
    Control(AnyBytes, u8),
    Any(AnyRequest),
}

const CONTROLS: [&str; 5] = ["force-open", "disable", "reset", "rest", ""];

impl AnyQuestion {
    pub(crate) fn request(&self) -> Request {
        let path = |id: &AnyBytes| [b"/breakers/".as_slice(), &id.bytes()].concat();
        match self {
            Self::All => Request::get("/breakers"),
            Self::One(id) => Request::get("").header(":path", path(id)),
            Self::Control(id, control) => {
                let path = [path(id).as_slice(), b"/", nth(&CONTROLS, *control).as_bytes()].concat();
                Request::new("POST", "").header(":path", path).header("x-breakerbox", "1")
            }
            Self::Any(request) => request.request(),
        }
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyKey {
    Slot(u8),
    Index(#[generator(0..64_u8)] u8),
    Count,
    Revisions,
    Any(Vec<u8>),
}

/// Breakers whose slots others write.
pub(crate) const IDS: [&str; 4] = ["all", "a", "ab", "shared"];

impl AnyKey {
    pub(crate) fn key(&self) -> Vec<u8> {
        match self {
            Self::Slot(id) => format!("breakerbox/slot/{}", nth(&IDS, *id)).into(),
            Self::Index(part) => format!("breakerbox/index/{part}").into(),
            Self::Count => b"breakerbox/breakers".into(),
            Self::Revisions => b"breakerbox/config".into(),
            Self::Any(key) => key.clone(),
        }
    }
}
