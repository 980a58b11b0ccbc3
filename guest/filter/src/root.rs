use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::ContextType;

use crate::configuration;
use crate::guards::Guards;
use crate::hostcalls::{self, Level};
use crate::id;
use crate::request::Request;
use crate::revision::Revision;

/// How often outcomes that the store did not take are offered to it again.
const TICK_MILLIS: u32 = 1_000;

/// The plugin in one VM.
#[derive(Default)]
pub(crate) struct Root {
    /// `None` until a configuration was accepted: then requests pass.
    guards: Option<Rc<Guards>>,
}

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, size: usize) -> bool {
        let bytes = hostcalls::plugin_configuration(size).unwrap_or_default();
        let Some(text) = configuration::text(&bytes) else {
            hostcalls::log(Level::Error, "breakerbox: configuration refused: it is not text");
            return false;
        };
        let config = match breakerbox_config::filter(&text) {
            Ok(config) => config,
            Err(problems) => {
                for problem in problems.0 {
                    hostcalls::log(Level::Error, &format!("breakerbox: configuration refused: {problem}"));
                }
                return false;
            }
        };

        let revision = Revision::settle(&plugin(), &bytes);
        if revision.is_new {
            // Once for all workers.
            let line = format!(
                "breakerbox {}: one breaker per {}, {} of them with settings of their own (revision {})",
                env!("CARGO_PKG_VERSION"),
                config.per,
                config.breakers.len(),
                revision.number
            );
            hostcalls::log(Level::Info, &line);
        }
        if !hostcalls::set_tick_period(TICK_MILLIS) {
            let line =
                "breakerbox: the proxy has no ticks: outcomes that it could not store wait for the next call";
            hostcalls::log(Level::Warn, line);
        }
        let vm = id::escape(&hostcalls::property("plugin_vm_id").unwrap_or_default());
        self.guards = Some(Rc::new(Guards::new(config, revision.number, vm)));
        true
    }

    fn on_tick(&mut self) {
        if let Some(guards) = &self.guards {
            guards.flush();
        }
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Request::new(self.guards.clone())))
    }
}

/// What tells this plugin from others that share its `vm_id`.
fn plugin() -> Vec<u8> {
    ["plugin_name", "plugin_root_id"].map(|path| hostcalls::property(path).unwrap_or_default()).join(&0)
}
