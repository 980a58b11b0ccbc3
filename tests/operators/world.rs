use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use breakerbox_host::client::{Client, Reply};
use breakerbox_host::envoy::{Bootstrap, Envoy};
use breakerbox_host::upstream::{Answer, Upstream};
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request};
use serde_json::{Value, json};

pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
pub(crate) const POLL: Duration = Duration::from_millis(50);
const WORKERS: u32 = 2;

/// The Envoy of `envoy/envoy.yaml`, whose breakers are called by a header so that they may have any name, and its role
/// `admin`.
pub(crate) struct World {
    pub(crate) envoy: Envoy,
    pub(crate) admin: Client,
    pub(crate) upstream: Upstream,
}

impl World {
    pub(crate) async fn start(admin: &Value) -> Result<Self> {
        let upstream = Upstream::start()?;
        let mut bootstrap = Bootstrap::shipped()?;
        bootstrap.point_cluster_at("orders", upstream.address())?;
        bootstrap.point_cluster_at("catalog", upstream.address())?;
        bootstrap.use_http2("catalog")?;
        // Its access log where it can be read.
        bootstrap.connection_manager()?["access_log"][0]["typed_config"]["@type"] =
            json!("type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StderrAccessLog");
        let default = json!({
            "window_size": 10,
            "minimum_calls": 5,
            "wait_in_open": "10m",
            "slow_call_duration": "1s",
        });
        let breakers = json!({
            "shadow": { "mode": "shadow" },
            "row": { "consecutive_failures": 3, "wait_in_open": "1s", "half_open_calls": 1 },
            "strict": { "wait_in_open": "1ms", "half_open_policy": "all_must_succeed" },
            "spare": { "fallback": { "header": { "x-spare": "1" } } },
        });
        let filter = json!({ "per": "header:x-breaker", "default": default, "breakers": breakers });
        bootstrap.configure_filter(&filter.to_string())?;
        bootstrap.configure_admin(admin)?;
        let envoy = Envoy::start(&bootstrap, WORKERS).await?;
        let admin = envoy.listener("breakers").await?;
        Ok(Self { envoy, admin, upstream })
    }

    /// Sends a request through a breaker.
    pub(crate) async fn call(&self, breaker: &str, path: &str) -> Result<Reply> {
        let client = self.envoy.client();
        let mut request = client.request(Method::GET, path)?;
        request.headers_mut().insert("x-breaker", HeaderValue::from_str(breaker)?);
        client.send(request).await
    }

    /// Calls a gRPC method through a breaker.
    pub(crate) async fn grpc(&self, breaker: &str, method: &str) -> Result<Reply> {
        let client = self.envoy.client();
        let request = Request::post(format!("http://{}{method}", client.server()))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("x-breaker", breaker)
            .body(Full::new(Bytes::from_static(&[0; 5])))?;
        Ok(client.open_http2(request).await?.finish().await)
    }

    /// Lets the upstream fail this many calls, which open the breaker.
    pub(crate) async fn open(&self, breaker: &str, failures: u32) -> Result<()> {
        self.upstream.on("/orders", Answer::Status(503));
        for _ in 0..failures {
            let reply = self.call(breaker, "/orders").await?;
            ensure!(reply.text().starts_with("503 from"), "not the upstream's answer: {reply:?}");
        }
        self.wait_for_state(breaker, "open").await
    }

    pub(crate) async fn wait_for_state(&self, breaker: &str, state: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let seen = self.breaker(breaker).await?;
            if seen["state"] == state {
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("{breaker} is not {state} within {PATIENCE:?}: {seen}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// A breaker as the role admin lists it.
    pub(crate) async fn breaker(&self, id: &str) -> Result<Value> {
        let reply = self.ask(Method::GET, "/breakers", &[]).await?;
        let all: Value = serde_json::from_str(&reply.text())?;
        let mut all = all["breakers"].as_array().context("not a list of breakers")?.iter();
        all.find(|breaker| breaker["id"] == id)
            .cloned()
            .with_context(|| format!("no {id} in {}", reply.text()))
    }

    /// Asks the role admin.
    pub(crate) async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Result<Reply> {
        let mut request = self.admin.request(method, path)?;
        for (name, value) in headers {
            request.headers_mut().insert(name.parse::<HeaderName>()?, HeaderValue::from_str(value)?);
        }
        self.admin.send(request).await
    }
}
