//! A proxy for tests: proxy-wasm modules in this process, without an Envoy, under a clock that the test moves.
//!
//! A [`Proxy`] holds what Envoy's workers share: shared data with compare-and-set, metrics, the clock, the log. Each
//! [`Worker`] is one VM with the plugins that are configured in it. A test sends [`Request`]s, decides what becomes of those
//! that pass ([`Stream::respond`], [`Stream::leave`]), moves the [`Clock`], makes writes to shared data meet other writers
//! ([`SharedData::conflict`]) or get no answer ([`SharedData::withhold`]), loses a VM ([`Worker::crash`]), and looks at
//! metrics, log, shared data and the [`hostcalls`] that were made.
//!
//! [`Module::filter`] is breakerbox's filter; [`Module::read`] takes any other proxy-wasm module of ABI 0.2.1 or 0.2.0.
//! Callouts and queues are not served. [`Worker::callbacks`] sends what no proxy should: callbacks in any order.
//!
//! ```
//! use std::time::Duration;
//!
//! use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response};
//!
//! # fn main() -> anyhow::Result<()> {
//! let proxy = Proxy::new();
//! let plugin = Plugin::new(r#"{"default": {"consecutive_failures": 2, "wait_in_open": "30s"}}"#);
//! let workers = [proxy.start(&Module::filter()?, &[&plugin])?, proxy.start(&Module::filter()?, &[&plugin])?];
//! let orders = || Request::get("/orders").route("orders");
//!
//! // Two failures, one in each worker; the second write meets another writer first.
//! workers[0].request(orders())?.into_stream()?.respond(Response::new(500))?;
//! proxy.shared_data().conflict(1);
//! workers[1].request(orders())?.into_stream()?.respond(Response::new(500))?;
//!
//! // So the breaker is open in both.
//! let reply = workers[0].request(orders())?.into_reply()?;
//! assert_eq!((reply.status, reply.header("retry-after")), (503, Some("30")));
//! assert!(proxy.log().contains("failures in a row reached 2"), "{}", proxy.log());
//!
//! // Half a minute later a probe closes it, which the metrics show.
//! proxy.clock().advance(Duration::from_secs(30));
//! for _ in 0..10 {
//!     workers[0].request(orders())?.into_stream()?.respond(Response::new(200))?;
//! }
//! assert_eq!(proxy.metric("breakerbox_state[breaker=orders]"), Some(0));
//! # Ok(())
//! # }
//! ```

mod answer;
mod callback;
mod clock;
mod exchange;
mod headers;
mod hostcalls;
mod log;
mod metrics;
mod module;
mod plugin;
mod reply;
mod request;
mod response;
mod services;
mod shared_data;
mod stream;
mod vm;
mod worker;

use std::sync::Arc;

use anyhow::Result;
use proxy_wasm_host::abi::v0_2_1::VmServices;

pub use answer::Answer;
pub use callback::Callback;
pub use clock::Clock;
pub use hostcalls::{Hostcall, hostcalls};
pub use log::{Line, Log};
pub use module::Module;
pub use plugin::Plugin;
pub use reply::Reply;
pub use request::Request;
pub use response::Response;
pub use shared_data::SharedData;
pub use stream::Stream;
pub use worker::Worker;

use metrics::Metrics;
use services::Services;

/// What the workers of a proxy share.
#[derive(Clone, Debug, Default)]
pub struct Proxy {
    clock: Arc<Clock>,
    log: Arc<Log>,
    services: Arc<Services>,
}

impl Proxy {
    /// A proxy without workers, whose clock stands at [`START`](crate::hosts::START).
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a worker: one VM of the module with these plugins, which requests can be sent to.
    ///
    /// # Errors
    /// The module breaks, or refuses a plugin's configuration; the log says why.
    pub fn start(&self, module: &Module, plugins: &[&Plugin]) -> Result<Worker> {
        Worker::start(self.clone(), module.clone(), plugins.iter().map(|&plugin| plugin.clone()).collect())
    }

    /// The clock of all workers.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What the workers have logged.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The workers' shared data.
    pub fn shared_data(&self) -> &SharedData {
        &self.services.data
    }

    /// A metric's value: a counter's or a gauge's, or how many values a histogram holds. `None` if nobody defined it.
    pub fn metric(&self, name: &str) -> Option<u64> {
        self.services.metrics.value(name)
    }

    /// All metrics, sorted by name.
    pub fn metrics(&self) -> Vec<(String, u64)> {
        self.services.metrics.all()
    }

    fn vm_services(&self) -> VmServices {
        VmServices::new(self.log.clone()).with_clock(self.clock.clone()).with_shared(self.services.clone())
    }
}
