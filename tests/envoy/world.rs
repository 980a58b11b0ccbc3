use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::client::{Client, Reply};
use breakerbox_host::envoy::{Bootstrap, Envoy, Metrics};
use breakerbox_host::upstream::{Answer, Upstream};
use serde::Deserialize;
use serde_json::{Value, json};

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

    /// The state that the gauge of a breaker shows.
    pub(crate) async fn state(&self, breaker: &str) -> Result<&'static str> {
        state(&self.envoy.metrics().await?, breaker)
    }

    /// Waits until a breaker has gone this way so many times.
    pub(crate) async fn moved(&self, breaker: &str, from: &str, to: &str, times: u64) -> Result<Metrics> {
        let labels = [("breaker", breaker), ("from", from), ("to", to)];
        let moved = |metrics: &Metrics| metrics.sum("breakerbox_transitions", &labels) >= times;
        let metrics = self.envoy.wait_for_metrics(moved, PATIENCE).await;
        metrics.with_context(|| format!("{breaker} did not go from {from} to {to} {times} times"))
    }

    /// Waits until so many calls of a breaker have been recorded: a client may have its answer before that.
    pub(crate) async fn recorded(&self, breaker: &str, calls: u64) -> Result<Metrics> {
        let recorded = |metrics: &Metrics| metrics.sum("breakerbox_calls", &[("breaker", breaker)]) >= calls;
        self.envoy.wait_for_metrics(recorded, PATIENCE).await
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

    /// Waits until the wait of the open breaker of `/orders` is over, as one of its rejections says.
    pub(crate) async fn wait_in_open(&self) -> Result<()> {
        let reply = self.client.get("/orders").await?;
        let wait = Rejection::read(&reply)?.retry_after_ms.context("it does not say how long to wait")?;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        Ok(())
    }
}

/// The state that the gauge of a breaker shows.
pub(crate) fn state(metrics: &Metrics, breaker: &str) -> Result<&'static str> {
    let gauge = metrics.matching("breakerbox_state", &[("breaker", breaker)]).next();
    Ok(match gauge.with_context(|| format!("no state of {breaker} in\n{metrics}"))?.value {
        0 => "closed",
        1 => "open",
        2 => "half_open",
        3 => "forced_open",
        4 => "disabled",
        _ => "unknown",
    })
}

/// How many calls of a breaker are counted as of this kind.
pub(crate) fn calls(metrics: &Metrics, breaker: &str, kind: &str) -> u64 {
    metrics.sum("breakerbox_calls", &[("breaker", breaker), ("kind", kind)])
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

    /// The reason why a breaker rejected, if it did.
    pub(crate) fn reason(reply: &Reply) -> Option<String> {
        Self::read(reply).ok().map(|rejection| rejection.reason)
    }
}
