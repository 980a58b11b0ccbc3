//! The filter in a real Envoy with two workers, before upstreams that fail on demand.

mod half_open;
mod opening;
mod outcomes;
mod world;
