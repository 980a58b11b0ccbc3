//! The breakerbox harness: the wasm guests in the hosts they are made for.
//!
//! [`envoy`] runs a real Envoy with the filter, [`upstream`] is what stands behind it and fails on demand, [`client`] sends
//! the requests. Everything stays on loopback, on ports that the system chooses.

pub mod client;
pub mod envoy;
pub mod guests;
pub mod upstream;
