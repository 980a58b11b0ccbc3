use breakerbox_config::{Moment, Policy};
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
    /// Whether its headers were not asked for gRPC's status, since something was to follow them, and nothing has yet.
    pub(crate) has_unread_grpc_status: bool,
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
            has_unread_grpc_status: false,
            is_complete: false,
        }
    }
}

impl Response {
    /// Takes what the headers say. The status is one of the two reads of a healthy request that return bytes: the
    /// proxy's own record of it is as dear, and is missing where the filter is one of the upstream.
    pub(crate) fn read_headers(&mut self, policy: &Policy, is_complete: bool) {
        self.status = number(Headers::Response, ":status");
        // gRPC's is here if nothing follows, or if a proxy made an error of it. Else it comes in the trailers, if they are
        // waited for.
        let may_wait = !is_complete && policy.record_at == Moment::Complete;
        self.has_unread_grpc_status = may_wait && matches!(self.status, Some(200..=299));
        if !self.has_unread_grpc_status {
            self.read_grpc_status();
        }
        self.headers = policy.outcomes.classify_headers(|name| hostcalls::header(Headers::Response, name));
        self.is_complete = is_complete;
    }

    /// Takes note of more of its body.
    pub(crate) fn take_body(&mut self, size: usize, is_complete: bool) {
        self.has_unread_grpc_status &= size == 0;
        self.is_complete |= is_complete;
    }

    /// Takes what the trailers say, with which it ends.
    pub(crate) fn read_trailers(&mut self) {
        self.grpc_status = number(Headers::ResponseTrailers, "grpc-status").or(self.grpc_status);
        self.is_complete = true;
    }

    /// Where nothing followed the headers after all, takes gRPC's status from them. For when the request is logged: then
    /// they can be read once more.
    pub(crate) fn read_late_grpc_status(&mut self) {
        if self.is_complete && self.has_unread_grpc_status && self.grpc_status.is_none() {
            self.read_grpc_status();
        }
    }

    fn read_grpc_status(&mut self) {
        self.grpc_status = number(Headers::Response, "grpc-status");
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
