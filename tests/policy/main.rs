//! What a filter's configuration says of its breakers, in a real Envoy.

mod fallback;
mod generations;
mod ids;
mod metrics;
mod outcomes;
mod placement;
mod rejections;
mod request;
mod shadow;
mod tunnels;
#[path = "../envoy/world.rs"]
#[allow(dead_code, reason = "not every suite needs all of it")]
mod world;
