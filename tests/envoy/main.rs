//! The filter in a real Envoy with two workers, before upstreams that fail on demand.

mod opening;
mod world;
