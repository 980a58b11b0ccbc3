//! breakerbox as an HTTP filter for Envoy and other proxy-wasm hosts.
//!
//! A breaker stands before each route (or cluster). Its slot lies in the proxy's shared data, so all workers see
//! one breaker; beside it a gauge tells whether what a worker last found there may still be believed, so that a call
//! through a healthy breaker leaves the slot alone.
//! The rules of breakers are `breakerbox-core`'s; what is here turns requests into calls of it, and what it
//! answers into replies, metrics and log lines.
//!
//! - [`root`]: the plugin in one worker's VM: configuration, ticks.
//! - [`request`]: one request, from its headers to its log entry; [`call`]: its part from permit to outcome.
//! - [`guards`], [`guard`], [`ward`]: the breakers that this VM has met, and what they guard under which policy.
//! - [`response`], [`ending`]: what happened to a request, and what that means for its breaker.
//! - [`reply`], [`fallback`]: what becomes of a request that its breaker rejects.
//! - [`admin`]: requests to the role `admin`: its [`page`], [`view`]s of breakers and controls, for those who have
//!   [`access`]. It finds breakers through the [`index`] in shared data, and their settings through the [`registry`]
//!   of this VM's filters.
//! - [`hostcalls`]: the only place that talks to the proxy, and the only one with `unsafe`.

#![deny(unsafe_code)]
// Nothing is public but `_initialize`, which the SDK's macro writes.
#![allow(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod access;
mod admin;
mod answer;
mod call;
mod configuration;
mod ending;
mod fallback;
mod guard;
mod guards;
#[allow(unsafe_code)]
mod hostcalls;
mod id;
mod index;
mod metric;
mod metrics;
mod page;
mod registry;
mod reply;
mod request;
mod response;
mod revision;
mod revocations;
mod root;
mod store;
mod view;
mod ward;

#[cfg(feature = "crash-on-demand")]
mod crash;

proxy_wasm::main! {{
    // Nothing is logged through the SDK; this is for its panic hook, which tells the proxy's log what went wrong.
    proxy_wasm::set_log_level(proxy_wasm::types::LogLevel::Critical);
    proxy_wasm::set_root_context(|_| Box::new(root::Root::default()));
}}
