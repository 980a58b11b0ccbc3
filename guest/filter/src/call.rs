use std::rc::Rc;

use breakerbox_config::Moment;
use breakerbox_core::{Outcome, Permit};

use crate::ending::Report;
use crate::hostcalls;
use crate::response::Response;
use crate::ward::Ward;

/// A request that its breaker let through, until its outcome is known.
pub(crate) struct Call {
    ward: Rc<Ward>,
    permit: Permit,
    /// Whether more of the request may come.
    is_sending: bool,
    response: Response,
}

impl Call {
    pub(crate) fn new(ward: Rc<Ward>, permit: Permit, is_sending: bool) -> Self {
        Self { ward, permit, is_sending, response: Response::default() }
    }

    /// The request has ended.
    pub(crate) fn on_sent(&mut self) {
        self.is_sending = false;
    }

    /// The response's headers came; whether the call is over with them.
    pub(crate) fn on_response_headers(&mut self, is_complete: bool) -> bool {
        let policy = self.ward.policy();
        if self.ward.guard().detects_slow_calls() && policy.slow_call_timing == Moment::Headers {
            self.response.began_at = Some(hostcalls::now());
        }
        self.response.read_headers(policy, is_complete);
        // A connection that changed its protocol may last for days, and how it ends says nothing about the
        // upstream. So it is over for the breaker once the upstream agreed.
        if self.is_sending && self.response.opens_tunnel() {
            self.end(Report::default());
            return true;
        }
        if policy.record_at == Moment::Headers {
            self.end(Report::read(&self.response, self.is_sending));
            return true;
        }
        false
    }

    pub(crate) fn on_response_body(&mut self, size: usize, is_complete: bool) {
        self.response.take_body(size, is_complete);
    }

    pub(crate) fn on_response_trailers(&mut self) {
        self.response.read_trailers();
    }

    /// The request is over, in whatever way.
    pub(crate) fn on_log(&mut self) {
        self.response.read_late_grpc_status();
        self.end(Report::read(&self.response, self.is_sending));
    }

    /// The attempt is over, in whatever way, and the filter is one of the upstream: nothing is logged there.
    pub(crate) fn on_delete(&self) {
        self.end(Report::read_of_attempt(&self.response, self.is_sending));
    }

    fn end(&self, report: Report) {
        let outcome: Outcome = report.outcome(&self.response, &self.ward.policy().outcomes);
        self.ward.guard().record(&self.permit, outcome, self.response.began_at);
    }
}
