//! breakerbox as a WebAssembly component: what `wit/` says, for any host that runs components.
//!
//! This crate only converts types; the rules of a breaker are in `breakerbox-core`, those of its JSON in
//! `breakerbox-config`. It imports nothing, not even WASI, and no input makes it trap: a trap would poison the
//! host's whole store, and with it every breaker of the instance.
//!
//! It is built as a `cdylib` for `wasm32-unknown-unknown` and wrapped by wit-component; `host-test/build` does
//! both. Natively it is a plain library, which its tests use.

#![no_std]
#![deny(unsafe_code)]
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

extern crate alloc;

mod bindings;
mod breaker;
mod convert;
mod events;
#[cfg(target_arch = "wasm32")]
mod runtime;
mod settings;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;

use crate::bindings::exports::breakerbox::breaker::{breakers, settings as wit};

/// The component: what the interfaces' functions are called on.
struct Component;

impl wit::Guest for Component {
    fn parse_settings(json: String) -> Result<wit::Settings, Vec<wit::Problem>> {
        settings::parse(&json)
    }
}

impl breakers::Guest for Component {
    type Breaker = breaker::Breaker;
}
