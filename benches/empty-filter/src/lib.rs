//! A filter that keeps nothing and decides nothing, to compare one with that does: what a filter costs before it does
//! anything, and what it costs to ask the proxy.
#![allow(missing_docs)] // the SDK's macro writes none

use std::hint::black_box;

use proxy_wasm::hostcalls::{define_metric, get_metric, get_property, increment_metric};
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType, MetricType};

/// What it is configured to do for each request.
#[derive(Clone, Copy)]
enum Task {
    Nothing,
    /// Makes the hostcalls that a healthy request takes.
    Ask {
        gauge: u32,
        counter: u32,
    },
    /// Refuses it, and does no more than learn what a breaker's answer depends on: the route's name.
    Refuse,
}

struct Root(Task);

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, _: usize) -> bool {
        let metric = |kind, name| define_metric(kind, name).unwrap_or_default();
        self.0 = match self.get_plugin_configuration().as_deref() {
            None | Some(b"") => Task::Nothing,
            Some(b"ask") => Task::Ask {
                gauge: metric(MetricType::Gauge, "asked"),
                counter: metric(MetricType::Counter, "answered"),
            },
            Some(b"refuse") => Task::Refuse,
            Some(_) => return false,
        };
        true
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Request(self.0)))
    }
}

struct Request(Task);

impl Context for Request {}

impl HttpContext for Request {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        if let Task::Nothing = self.0 {
            return Action::Continue;
        }
        let _ = black_box(get_property(vec!["xds", "route_name"]));
        if let Task::Ask { gauge, .. } = self.0 {
            let _ = black_box(get_metric(gauge));
            return Action::Continue;
        }
        self.send_http_response(503, vec![], None);
        Action::Pause
    }

    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        if let Task::Ask { .. } = self.0 {
            black_box(self.get_http_response_header(":status"));
        }
        Action::Continue
    }

    fn on_log(&mut self) {
        if let Task::Ask { gauge, counter } = self.0 {
            let _ = black_box(get_property(vec!["upstream", "transport_failure_reason"]));
            let _ = black_box(get_metric(gauge));
            let _ = increment_metric(counter, 1);
        }
    }
}

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Root(Task::Nothing)));
}}
