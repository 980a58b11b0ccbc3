use breakerbox_config::Outcomes;
use breakerbox_core::{Mark, Outcome};

use crate::hostcalls::{self, Headers};

/// What a response has shown of itself on its way through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response {
    /// When its headers came, if that matters.
    pub(crate) began_at: Option<Mark>,
    /// `None` until its headers came.
    pub(crate) status: Option<u16>,
    pub(crate) grpc_status: Option<u32>,
    /// What its headers mean by the policy.
    pub(crate) headers: Outcome,
    /// Whether its end came.
    pub(crate) is_complete: bool,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            began_at: None,
            status: None,
            grpc_status: None,
            headers: Outcome::Success,
            is_complete: false,
        }
    }
}

impl Response {
    /// Takes what the headers say. The status is one of the two reads of a healthy request that return bytes: the
    /// proxy's own record of it is as dear, and is missing where the filter is one of the upstream.
    pub(crate) fn read_headers(&mut self, outcomes: &Outcomes, is_complete: bool) {
        self.status = number(Headers::Response, ":status");
        // A gRPC response without a body has its status here. In other responses there is none, which is cheap.
        self.grpc_status = number(Headers::Response, "grpc-status");
        self.headers = outcomes.classify_headers(|name| hostcalls::header(Headers::Response, name));
        self.is_complete = is_complete;
    }

    /// Takes what the trailers say, with which it ends.
    pub(crate) fn read_trailers(&mut self) {
        self.grpc_status = number(Headers::ResponseTrailers, "grpc-status").or(self.grpc_status);
        self.is_complete = true;
    }

    /// Whether it is all there, and none of the responses by which a proxy says that something failed: those have statuses
    /// from 400 on, or one of gRPC's.
    pub(crate) fn is_whole_success(&self) -> bool {
        self.is_complete
            && matches!(self.status, Some(200..=399))
            && matches!(self.grpc_status, None | Some(0))
    }

    /// Whether its headers open a tunnel, given that the request goes on as well: an upgrade, or a success that
    /// announces no body, as the answer to CONNECT. (The request's method cannot be asked for any more, and to ask
    /// in time would be one more read for each request with a body.)
    pub(crate) fn opens_tunnel(&self) -> bool {
        let announces = |name| hostcalls::header(Headers::Response, name).is_some();
        match self.status {
            Some(101) => true,
            Some(200..=299) if !self.is_complete => {
                !["content-type", "content-length", "transfer-encoding"].into_iter().any(announces)
            }
            _ => false,
        }
    }
}

fn number<T: std::str::FromStr>(headers: Headers, name: &str) -> Option<T> {
    let value = hostcalls::header(headers, name)?;
    str::from_utf8(&value).ok()?.trim().parse().ok()
}
