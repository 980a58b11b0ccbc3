use anyhow::Result;
use breakerbox_host::client::Reply;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request};

use crate::world::World;

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
