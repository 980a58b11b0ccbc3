//! A filter that does nothing, to compare one with that does something. Configured with any text, it refuses every
//! request, and does no more for it than learn what a breaker's answer depends on: the route's name.
#![allow(missing_docs)] // the SDK's macro writes none

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

struct Root {
    refuses: bool,
}

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, configuration_size: usize) -> bool {
        self.refuses = configuration_size > 0;
        true
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Request { refuses: self.refuses }))
    }
}

struct Request {
    refuses: bool,
}

impl Context for Request {}

impl HttpContext for Request {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        if !self.refuses {
            return Action::Continue;
        }
        let _ = std::hint::black_box(self.get_property(vec!["xds", "route_name"]));
        self.send_http_response(503, vec![], None);
        Action::Pause
    }
}

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Root { refuses: false }));
}}
