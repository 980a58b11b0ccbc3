//! A filter that does nothing, to compare one with that does something.
#![allow(missing_docs)] // the SDK's macro writes none

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::ContextType;

struct Root;

impl Context for Root {}

impl RootContext for Root {
    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Request))
    }
}

struct Request;

impl Context for Request {}

impl HttpContext for Request {}

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Root));
}}
