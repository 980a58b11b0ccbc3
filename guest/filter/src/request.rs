use std::rc::Rc;

use breakerbox_core::{Mark, Outcome, Permit};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::guard::{Decision, Guard};
use crate::guards::Guards;
use crate::hostcalls::{self, Headers};
use crate::outcome::Ending;
use crate::reply;

/// One request.
///
/// Of the hostcalls on the way of a healthy one, three return bytes, which is what makes a hostcall dear: the
/// route's name at the start, and at the end the response's details and status. The rest are gauges, a counter,
/// and headers that are not there.
pub(crate) struct Request {
    guards: Option<Rc<Guards>>,
    /// There is one from its permit to its outcome. A request that was rejected, or that never got here, has none.
    call: Option<Call>,
}

struct Call {
    guard: Rc<Guard>,
    permit: Permit,
    /// The client asked for another protocol.
    upgrade: bool,
    /// When the response's headers came; not looked at unless slow calls are looked for.
    answered_at: Option<Mark>,
    grpc_status: Option<u64>,
}

impl Request {
    pub(crate) fn new(guards: Option<Rc<Guards>>) -> Self {
        Self { guards, call: None }
    }
}

impl Call {
    fn end(&self, outcome: Outcome) {
        self.guard.record(&self.permit, outcome, self.answered_at);
    }
}

impl Context for Request {}

impl HttpContext for Request {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let Some(guards) = &self.guards else { return Action::Continue };
        let Some(guard) = guards.of_request() else { return Action::Continue };
        match guard.acquire() {
            Decision::Admitted(permit) => {
                // Here, because a request's headers cannot be read later on. Mostly there is none, which is cheap.
                let upgrade = hostcalls::header(Headers::Request, "upgrade").is_some();
                self.call = Some(Call { guard, permit, upgrade, answered_at: None, grpc_status: None });
                #[cfg(feature = "crash-on-demand")]
                crate::crash::on_demand();
                Action::Continue
            }
            Decision::Rejected(rejection) if reply::send(guard.id(), &rejection) => Action::Pause,
            // The proxy did not take the reply, and without one a paused request would hang.
            Decision::Rejected(_) => Action::Continue,
            Decision::Unguarded => {
                guards.count_unguarded();
                Action::Continue
            }
        }
    }

    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        let Some(call) = &mut self.call else { return Action::Continue };
        if call.guard.detects_slow_calls() {
            call.answered_at = Some(hostcalls::now());
        }
        // A gRPC response without a body has its status here. In other responses there is none, which is cheap.
        call.grpc_status = grpc_status(Headers::Response);
        // A connection that changed its protocol may last for days, and how it ends says nothing about the
        // upstream. So it is over for the breaker once the upstream agreed.
        if call.upgrade
            && hostcalls::header(Headers::Response, ":status").is_some_and(|status| status == b"101")
        {
            call.end(Outcome::Success);
            self.call = None;
        }
        Action::Continue
    }

    fn on_http_response_trailers(&mut self, _: usize) -> Action {
        if let Some(call) = &mut self.call {
            call.grpc_status = grpc_status(Headers::ResponseTrailers).or(call.grpc_status);
        }
        Action::Continue
    }

    /// Always the last word, however the request ended, unless its VM died first.
    fn on_log(&mut self) {
        if let Some(call) = self.call.take() {
            call.end(Ending::read(call.grpc_status).outcome());
        }
    }
}

fn grpc_status(headers: Headers) -> Option<u64> {
    let value = hostcalls::header(headers, "grpc-status")?;
    str::from_utf8(&value).ok()?.trim().parse().ok()
}
