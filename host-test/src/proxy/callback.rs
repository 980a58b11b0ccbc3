use proxy_wasm_host::abi::v0_2_1::{ContextId, GuestError};

use super::exchange::Sizes;
use super::vm::Scope;

/// A callback that a request makes, for those that come in an order of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callback {
    /// The request's headers, and whether they are all of it.
    RequestHeaders(bool),
    /// The request's body, and whether it is the end.
    RequestBody(bool),
    /// The request's trailers.
    RequestTrailers,
    /// The response's headers, and whether they are all of it.
    ResponseHeaders(bool),
    /// The response's body, and whether it is the end.
    ResponseBody(bool),
    /// The response's trailers.
    ResponseTrailers,
    /// The request is done.
    Done,
    /// The request is done, and logged.
    Log,
}

impl Callback {
    pub(super) fn call(
        self,
        scope: &mut Scope<'_>,
        stream: ContextId,
        sizes: Sizes,
    ) -> Result<(), GuestError> {
        match self {
            Self::RequestHeaders(end) => {
                scope.on_request_headers(stream, sizes.request_headers, end)?;
            }
            Self::RequestBody(end) => {
                scope.on_request_body(stream, sizes.request_body, end)?;
            }
            Self::RequestTrailers => {
                scope.on_request_trailers(stream, 0)?;
            }
            Self::ResponseHeaders(end) => {
                scope.on_response_headers(stream, sizes.response_headers, end)?;
            }
            Self::ResponseBody(end) => {
                scope.on_response_body(stream, sizes.response_body, end)?;
            }
            Self::ResponseTrailers => {
                scope.on_response_trailers(stream, sizes.response_trailers)?;
            }
            Self::Done => {
                scope.on_done(stream)?;
            }
            Self::Log => {
                scope.on_done(stream)?;
                scope.on_log(stream)?;
            }
        }
        Ok(())
    }
}
