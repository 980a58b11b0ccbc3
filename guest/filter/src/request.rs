use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::call::Call;
use crate::guard::Decision;
use crate::guards::Guards;

/// One request; where the filter is one of the upstream, one attempt to serve it.
///
/// Of the hostcalls on the way of a healthy one, two return bytes, which is what makes a hostcall dear: the route's
/// name at the start, and the response's status. The rest are gauges, a counter, and what is not there.
pub(crate) struct Request {
    /// `None` once nothing more is asked of them: a tunnel may outlive many configurations.
    guards: Option<Rc<Guards>>,
    /// There is one from its permit to its outcome. A request that was rejected, or that never got here, has none.
    call: Option<Call>,
}

impl Request {
    pub(crate) fn new(guards: Option<Rc<Guards>>) -> Self {
        Self { guards, call: None }
    }
}

impl Context for Request {}

/// The last word on an attempt; a request's is its log entry, which comes before. (An attempt is done before it is
/// deleted, but to be told of both costs each request one more call from the proxy.)
impl Drop for Request {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            call.on_delete();
        }
    }
}

impl HttpContext for Request {
    fn on_http_request_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        let Some(guards) = &self.guards else { return Action::Continue };
        let Some(ward) = guards.of_request() else { return Action::Continue };
        match ward.guard().acquire() {
            Decision::Admitted(permit) => {
                self.call = Some(Call::new(ward, permit, !end_of_stream));
                #[cfg(feature = "crash-on-demand")]
                crate::crash::on_demand();
            }
            Decision::Rejected(rejection) => return ward.reject(&rejection),
            Decision::Unguarded => guards.count_unguarded(),
        }
        Action::Continue
    }

    fn on_http_request_body(&mut self, _: usize, end_of_stream: bool) -> Action {
        if let Some(call) = self.call.as_mut().filter(|_| end_of_stream) {
            call.on_sent();
        }
        Action::Continue
    }

    fn on_http_request_trailers(&mut self, _: usize) -> Action {
        if let Some(call) = &mut self.call {
            call.on_sent();
        }
        Action::Continue
    }

    fn on_http_response_headers(&mut self, _: usize, end_of_stream: bool) -> Action {
        self.call.take_if(|call| call.on_response_headers(end_of_stream));
        if self.call.is_none() {
            self.guards = None;
        }
        Action::Continue
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> Action {
        if let Some(call) = &mut self.call {
            call.on_response_body(size, end_of_stream);
        }
        Action::Continue
    }

    fn on_http_response_trailers(&mut self, _: usize) -> Action {
        if let Some(call) = &mut self.call {
            call.on_response_trailers();
        }
        Action::Continue
    }

    /// The last word on a request, however it ended, unless its VM died first.
    fn on_log(&mut self) {
        if let Some(mut call) = self.call.take() {
            call.on_log();
        }
    }
}
