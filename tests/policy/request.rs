use anyhow::Result;
use breakerbox_host::client::Reply;
use breakerbox_host::envoy::Metrics;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request};

use crate::world::{PATIENCE, World};

/// What says which breaker guards a request, where there is one per `header:x-breaker`.
pub(crate) const BREAKER: &str = "x-breaker";

/// A GET with these headers.
pub(crate) fn get(world: &World, path: &str, headers: &[(&str, &str)]) -> Result<Request<Full<Bytes>>> {
    let mut request = world.client.request(Method::GET, path)?;
    for (name, value) in headers {
        request.headers_mut().insert(HeaderName::try_from(*name)?, HeaderValue::from_str(value)?);
    }
    Ok(request)
}

/// Sends a GET that this breaker guards.
pub(crate) async fn ask(world: &World, breaker: &str, path: &str) -> Result<Reply> {
    world.client.send(get(world, path, &[(BREAKER, breaker)])?).await
}

/// Calls a gRPC method, which this breaker guards, with an empty message.
pub(crate) async fn ask_grpc(world: &World, breaker: &str, method: &str) -> Result<Reply> {
    let request = Request::post(format!("http://{}{method}", world.client.server()))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header(BREAKER, breaker)
        .body(Full::new(Bytes::from_static(&[0; 5])))?;
    Ok(world.client.open_http2(request).await?.finish().await)
}

/// Waits until so many requests, and no more, have passed without a breaker.
pub(crate) async fn unguarded(world: &World, requests: u64) -> Result<Metrics> {
    let passed = |metrics: &Metrics| metrics.sum("breakerbox_unguarded_calls", &[]) == requests;
    world.envoy.wait_for_metrics(passed, PATIENCE).await
}
