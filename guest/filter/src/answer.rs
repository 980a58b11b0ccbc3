use breakerbox_config::did_you_mean;
use serde::Serialize;

use crate::access::Refusal;
use crate::hostcalls::{self, Level, LocalResponse};
use crate::{index, page};

/// Whoever asks before the first request may think that the configuration is wrong.
const BIRTH: &str = "a breaker exists once a request has met it";

/// What a request to the role `admin` gets.
pub(crate) struct Answer {
    status: u32,
    content_type: &'static str,
    policy: &'static str,
    body: String,
    header: Option<(&'static str, &'static str)>,
}

#[derive(Serialize)]
struct Failure<'a> {
    error: &'a str,
}

impl Answer {
    /// The page for people.
    pub(crate) fn page() -> Self {
        Self {
            status: 200,
            content_type: "text/html; charset=utf-8",
            policy: page::POLICY,
            body: page::HTML.to_owned(),
            header: None,
        }
    }

    pub(crate) fn json(status: u32, body: &impl Serialize) -> Self {
        // These types always have a JSON form.
        let body = serde_json::to_string(body).unwrap_or_default();
        Self {
            status,
            content_type: "application/json",
            // Should a browser show it nevertheless, there is nothing that it may do.
            policy: "default-src 'none'; frame-ancestors 'none'",
            body: format!("{body}\n"),
            header: None,
        }
    }

    pub(crate) fn failure(status: u32, error: &str) -> Self {
        Self::json(status, &Failure { error })
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        let header = (refusal == Refusal::Token).then_some(("www-authenticate", "Bearer"));
        Self { header, ..Self::failure(refusal.status(), refusal.message()) }
    }

    pub(crate) fn not_allowed(allowed: &'static str) -> Self {
        let answer = Self::failure(405, &format!("allowed here: {allowed}"));
        Self { header: Some(("allow", allowed)), ..answer }
    }

    pub(crate) fn unknown(id: &str) -> Self {
        let known = index::all().unwrap_or_default();
        let hint = did_you_mean(id, known.iter().map(String::as_str));
        Self::failure(404, &format!("no breaker {id}{hint} ({BIRTH})"))
    }

    pub(crate) fn unavailable() -> Self {
        Self::failure(503, "the proxy's shared data did not answer: try again")
    }

    /// Ends the current request with this.
    pub(crate) fn send(&self) {
        let always = [
            ("content-type", self.content_type),
            ("content-security-policy", self.policy),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
        ];
        let headers: Vec<_> = always.into_iter().chain(self.header).collect();
        let response = LocalResponse {
            status: self.status,
            details: "breakerbox_admin",
            headers: &headers,
            body: &self.body,
            grpc_status: None,
        };
        if !hostcalls::send_local_response(&response) {
            // The request waits for nothing else, so the proxy's own time limits end it.
            hostcalls::log(Level::Warn, "breakerbox: the proxy did not take an answer of the role admin");
        }
    }
}
