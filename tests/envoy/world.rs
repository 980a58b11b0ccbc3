use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::client::{Client, Reply};
use breakerbox_host::envoy::{Bootstrap, Envoy, Metrics, Update};
use breakerbox_host::upstream::{Answer, Upstream};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::HeaderValue;
use hyper::{Method, Request};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};

/// How long an event may take that a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// A route, its path, its cluster and its breaker.
pub(crate) const ORDERS: &str = "orders";
/// Another.
pub(crate) const CATALOG: &str = "catalog";

const WORKERS: u32 = 2;

/// What a test changes before Envoy starts.
pub(crate) struct Setup {
    pub(crate) bootstrap: Bootstrap,
    pub(crate) orders: Upstream,
    pub(crate) catalog: Upstream,
}

impl Setup {
    /// `envoy/envoy.yaml` with these settings as the default of all breakers.
    pub(crate) fn new(settings: &Value) -> Result<Self> {
        let (orders, catalog) = (Upstream::start()?, Upstream::start()?);
        let mut bootstrap = Bootstrap::shipped()?;
        bootstrap.point_cluster_at(ORDERS, orders.address())?;
        bootstrap.point_cluster_at(CATALOG, catalog.address())?;
        bootstrap.configure_filter(&json!({ "default": settings }).to_string())?;
        Ok(Self { bootstrap, orders, catalog })
    }

    /// Adds a route before the others.
    pub(crate) fn add_route(&mut self, route: Value) -> Result<()> {
        let routes = &mut self.bootstrap.connection_manager()?["route_config"]["virtual_hosts"][0]["routes"];
        routes.as_array_mut().context("there are no routes")?.insert(0, route);
        Ok(())
    }

    /// Lets Envoy answer 500 to requests that ask for it, between the breaker and the router.
    pub(crate) fn inject_faults(&mut self) -> Result<()> {
        let filters = self.bootstrap.connection_manager()?["http_filters"].as_array_mut();
        let filters = filters.context("there are no filters")?;
        let fault = json!({
            "name": "fault",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
                "abort": { "header_abort": {}, "percentage": { "numerator": 100 } },
            },
        });
        filters.insert(filters.len() - 1, fault);
        Ok(())
    }

    /// Lets Envoy write a line of this format to its log for each request.
    pub(crate) fn log_access(&mut self, format: &str) -> Result<()> {
        self.bootstrap.connection_manager()?["access_log"] = json!([{
            "name": "stderr",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
                "log_format": { "text_format_source": { "inline_string": format!("{format}\n") } },
            },
        }]);
        Ok(())
    }

    pub(crate) async fn start(self) -> Result<World> {
        let Self { bootstrap, orders, catalog } = self;
        let envoy = Envoy::start(&bootstrap, WORKERS).await?;
        Ok(World { client: envoy.client(), bootstrap, envoy, orders, catalog })
    }
}

/// An Envoy that guards two routes, each with an upstream of its own.
pub(crate) struct World {
    pub(crate) bootstrap: Bootstrap,
    pub(crate) envoy: Envoy,
    pub(crate) client: Client,
    pub(crate) orders: Upstream,
    pub(crate) catalog: Upstream,
}

impl World {
    pub(crate) async fn start(settings: &Value) -> Result<Self> {
        Setup::new(settings)?.start().await
    }

    /// Gives the filter another configuration while Envoy serves.
    pub(crate) async fn configure(&mut self, configuration: &Value) -> Result<Update> {
        self.bootstrap.configure_filter(&configuration.to_string())?;
        self.envoy.update(&self.bootstrap).await
    }

    /// The state that the gauge of a breaker shows.
    pub(crate) async fn state(&self, breaker: &str) -> Result<&'static str> {
        state(&self.envoy.metrics().await?, breaker)
    }

    /// Waits until a breaker has gone this way so many times.
    pub(crate) async fn moved(&self, breaker: &str, from: &str, to: &str, times: u64) -> Result<Metrics> {
        let moved = |metrics: &Metrics| metrics.moves(breaker, from, to) >= times;
        let metrics = self.envoy.wait_for_metrics(moved, PATIENCE).await;
        metrics.with_context(|| format!("{breaker} did not go from {from} to {to} {times} times"))
    }

    /// The calls of a breaker so far.
    pub(crate) async fn counts(&self, breaker: &'static str) -> Result<Counts> {
        Ok(Counts::read(&self.envoy.metrics().await?, breaker))
    }

    /// Waits for one more call than before, and returns the difference.
    pub(crate) async fn news(&self, before: Counts) -> Result<[u64; 4]> {
        let metrics = self.recorded(before.breaker, before.kinds.iter().sum::<u64>() + 1).await?;
        let after = Counts::read(&metrics, before.breaker);
        Ok(std::array::from_fn(|kind| after.kinds[kind] - before.kinds[kind]))
    }

    /// A request that a filter behind the breaker answers with 500, see [`Setup::inject_faults`].
    pub(crate) fn faulty(&self, path: &str) -> Result<Request<Full<Bytes>>> {
        let mut request = self.client.request(Method::GET, path)?;
        request.headers_mut().insert("x-envoy-fault-abort-request", HeaderValue::from_static("500"));
        Ok(request)
    }

    /// Waits until so many calls of a breaker have been recorded: a client may have its answer before that.
    pub(crate) async fn recorded(&self, breaker: &str, calls: u64) -> Result<Metrics> {
        let recorded = |metrics: &Metrics| metrics.sum("breakerbox_calls", &[("breaker", breaker)]) >= calls;
        self.envoy.wait_for_metrics(recorded, PATIENCE).await
    }

    /// A request that the upstream of `/orders` has, and does not answer.
    pub(crate) async fn waiting_at_orders(&self) -> Result<JoinHandle<Result<Reply>>> {
        let client = self.client;
        let request = tokio::spawn(async move { client.get("/orders").await });
        self.orders.wait_for("/orders", |traffic| traffic.waiting == 1, PATIENCE).await?;
        Ok(request)
    }

    /// Sends one request after the other to `/orders`, whose upstream fails now, until these many have opened the breaker.
    pub(crate) async fn open_orders(&self, failures: u64) -> Result<()> {
        self.orders.on("/orders", Answer::Status(503));
        for _ in 0..failures {
            let reply = self.client.get("/orders").await?;
            ensure!(reply.text().starts_with("503 from"), "not the upstream's answer: {reply:?}");
        }
        self.moved(ORDERS, "closed", "open", 1).await?;
        Ok(())
    }

    /// When the open breaker of `/orders` will let a probe through: between these two.
    pub(crate) async fn end_of_wait(&self) -> Result<(Instant, Instant)> {
        let asked = Instant::now();
        Rejection::read(&self.client.get("/orders").await?)?.end_of_wait(asked)
    }

    /// Sends requests from many clients at once, each its share one after the other.
    pub(crate) async fn hammer(&self, path: &'static str, clients: u32, share: u32) -> Result<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..clients {
            let client = self.client;
            tasks.spawn(async move {
                for _ in 0..share {
                    client.get(path).await?;
                }
                anyhow::Ok(())
            });
        }
        tasks.join_all().await.into_iter().collect()
    }
}

/// Waits until a breaker that has opened by now, for so many milliseconds, will let a probe through. There is no asking it:
/// should the time be over already, the question would be the probe.
pub(crate) async fn wait_in_open(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// The state that the gauge of a breaker shows.
pub(crate) fn state(metrics: &Metrics, breaker: &str) -> Result<&'static str> {
    metrics.state(breaker).with_context(|| format!("no state of {breaker} in\n{metrics}"))
}

/// Makes sure that every state was left as often as it was entered, except for the one that the breaker is in now.
pub(crate) fn assert_moves_balance(metrics: &Metrics, breaker: &str) -> Result<()> {
    let now = state(metrics, breaker)?;
    let all = ["closed", "open", "half_open"];
    for here in all {
        let entered: u64 = all.iter().map(|other| metrics.moves(breaker, other, here)).sum();
        let left: u64 = all.iter().map(|other| metrics.moves(breaker, here, other)).sum();
        let (entered, left) = (entered + u64::from(here == "closed"), left + u64::from(here == now));
        assert_eq!(entered, left, "{breaker}: {here}\n{metrics}");
    }
    Ok(())
}

/// How many calls of a breaker are counted as of this kind.
pub(crate) fn calls(metrics: &Metrics, breaker: &str, kind: &str) -> u64 {
    metrics.sum("breakerbox_calls", &[("breaker", breaker), ("kind", kind)])
}

/// How many calls of a breaker are counted as successful, failed, ignored and stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    breaker: &'static str,
    kinds: [u64; 4],
}

impl Counts {
    /// One more success, and so on.
    pub(crate) const SUCCESSFUL: [u64; 4] = [1, 0, 0, 0];
    pub(crate) const FAILED: [u64; 4] = [0, 1, 0, 0];
    pub(crate) const IGNORED: [u64; 4] = [0, 0, 1, 0];

    fn read(metrics: &Metrics, breaker: &'static str) -> Self {
        let kinds = ["successful", "failed", "ignored", "stale"].map(|kind| calls(metrics, breaker, kind));
        Self { breaker, kinds }
    }
}

/// The body of a breaker's answer.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rejection {
    pub(crate) breaker: String,
    pub(crate) reason: String,
    pub(crate) retry_after_ms: Option<u64>,
}

impl Rejection {
    /// Reads an answer that must be a breaker's.
    pub(crate) fn read(reply: &Reply) -> Result<Self> {
        ensure!(reply.status == 503, "not rejected: {reply:?}");
        serde_json::from_slice(&reply.body).with_context(|| format!("not a breaker's answer: {reply:?}"))
    }

    /// When the breaker will let a probe through, as it has just said to a request of this time: between these two.
    pub(crate) fn end_of_wait(&self, asked: Instant) -> Result<(Instant, Instant)> {
        let answered = Instant::now();
        let wait = self.retry_after_ms.context("it does not say how long to wait")?;
        // It says whole milliseconds, rounded up.
        Ok((asked + Duration::from_millis(wait.saturating_sub(1)), answered + Duration::from_millis(wait)))
    }

    /// The reason why a breaker rejected, if it did.
    pub(crate) fn reason(reply: &Reply) -> Option<String> {
        Self::read(reply).ok().map(|rejection| rejection.reason)
    }
}
