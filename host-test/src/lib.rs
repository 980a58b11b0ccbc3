//! The breakerbox harness: the wasm guests in the hosts they are made for.
//!
//! [`scenario`] reads scripted histories of a breaker and runs them in [`hosts`], all of which must answer alike.
//!
//! [`wit`] is the component as a host in Rust sees it.
//!
//! [`proxy`] runs proxy-wasm modules in this process, for tests of the filter, or of any filter chain.
//!
//! [`envoy`] runs a real Envoy with the filter, [`upstream`] is what stands behind it and fails on demand, [`client`] sends
//! the requests. Everything stays on loopback, on ports that the system chooses.

pub mod client;
pub mod envoy;
pub mod guests;
pub mod hosts;
#[cfg(feature = "harness")]
pub mod proxy;
pub mod scenario;
pub mod upstream;
#[cfg(feature = "harness")]
pub mod wit;
