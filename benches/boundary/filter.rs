use std::hint::black_box;
use std::path::Path;

use breakerbox_benches::EMPTY_FILTER_WASM;
use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response, Worker};

/// A filter in a proxy with one worker.
pub(crate) struct Guarded {
    worker: Worker,
}

impl Guarded {
    pub(crate) fn start(wasm: &str, configuration: &str) -> Self {
        let module = Module::read(Path::new(wasm)).expect("a filter that was built");
        let worker = Proxy::new().start(&module, &[&Plugin::new(configuration)]);
        Self { worker: worker.expect("a sound configuration") }
    }

    pub(crate) fn empty() -> Self {
        Self::start(EMPTY_FILTER_WASM, "")
    }

    /// A request that passes, and a response with this status.
    pub(crate) fn request(&self, status: u16) {
        let answer = self.worker.request(Request::get("/").route("bench")).expect("no trap");
        let stream = answer.into_stream().expect("a request that passes");
        black_box(stream.respond(Response::new(status)).expect("no trap"));
    }

    pub(crate) fn rejected(&self) {
        let answer = self.worker.request(Request::get("/").route("bench")).expect("no trap");
        black_box(answer.into_reply().expect("a request that is rejected"));
    }
}
