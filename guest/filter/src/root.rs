use std::mem::take;
use std::rc::Rc;

use breakerbox_config::{FilterConfig, Role, Token};
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::ContextType;

use crate::admin::Admin;
use crate::configuration;
use crate::guards::Guards;
use crate::hostcalls::{self, Level};
use crate::id;
use crate::registry;
use crate::request::Request;
use crate::revision::Revision;

/// How often outcomes that the store did not take are offered to it again, and gauges brought up to date.
const TICK_MILLIS: u32 = 1_000;

/// The plugin in one VM.
#[derive(Default)]
pub(crate) struct Root {
    /// `None` until a configuration was accepted: then requests pass.
    serving: Option<Serving>,
}

/// What the plugin does with requests.
enum Serving {
    Filter(Rc<Guards>),
    Admin { token: Option<Rc<Token>>, fallback: Rc<Guards> },
}

impl Context for Root {}

impl RootContext for Root {
    fn on_configure(&mut self, size: usize) -> bool {
        let bytes = hostcalls::plugin_configuration(size).unwrap_or_default();
        let Some(text) = configuration::text(&bytes) else {
            hostcalls::log(Level::Error, "breakerbox: configuration refused: it is not text");
            return false;
        };
        let mut config = match breakerbox_config::filter(&text) {
            Ok(config) => config,
            Err(problems) => {
                for problem in problems.0 {
                    hostcalls::log(Level::Error, &format!("breakerbox: configuration refused: {problem}"));
                }
                return false;
            }
        };

        let vm = id::escape(&hostcalls::property("plugin_vm_id").unwrap_or_default());
        self.serving = Some(match take(&mut config.role) {
            Role::Filter => Serving::Filter(serve(config, &bytes, vm)),
            // Revision 0 decides nothing, so what an admin touches keeps the shape that its filter gave it.
            Role::Admin { token } => {
                Serving::Admin { token: token.map(Rc::new), fallback: Rc::new(Guards::new(config, 0, vm)) }
            }
        });
        true
    }

    fn on_tick(&mut self) {
        registry::store_deferred();
        if let Some(Serving::Filter(guards)) = &self.serving {
            guards.show_windows();
        }
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(match &self.serving {
            Some(Serving::Filter(guards)) => Box::new(Request::new(Some(Rc::clone(guards)))),
            Some(Serving::Admin { token, fallback }) => {
                Box::new(Admin::new(token.clone(), Rc::clone(fallback)))
            }
            None => Box::new(Request::new(None)),
        })
    }
}

/// A filter with this configuration serves from now on.
fn serve(config: FilterConfig, bytes: &[u8], vm: String) -> Rc<Guards> {
    let revision = Revision::settle(&plugin(), bytes);
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
        for warning in &config.warnings {
            hostcalls::log(Level::Warn, &format!("breakerbox: odd configuration: {warning}"));
        }
    }
    if !hostcalls::set_tick_period(TICK_MILLIS) {
        let line =
            "breakerbox: the proxy has no ticks: outcomes that it could not store wait for the next call";
        hostcalls::log(Level::Warn, line);
    }
    let guards = Rc::new(Guards::new(config, revision.number, vm));
    registry::add(&guards);
    guards
}

/// What tells this plugin from others that share its `vm_id`.
fn plugin() -> Vec<u8> {
    ["plugin_name", "plugin_root_id"].map(|path| hostcalls::property(path).unwrap_or_default()).join(&0)
}
