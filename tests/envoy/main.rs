//! The filter in a real Envoy with two workers, before upstreams that fail on demand.

mod clients;
mod configuration;
mod crash;
mod grpc;
mod half_open;
mod hostcalls;
mod metrics;
mod opening;
mod outcomes;
mod rejections;
mod rules;
mod world;
