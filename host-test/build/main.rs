//! Builds the wasm guests, so that `cargo test` alone tests the filter as Envoy runs it.

use std::fs;

mod guest;

use guest::Guest;

const FILTER: Guest = Guest::filter("breakerbox-filter", "", "BREAKERBOX_FILTER_WASM");

/// For tests of what crashes leave behind.
const CRASHING_FILTER: Guest =
    Guest::filter("breakerbox-filter", "crash-on-demand", "BREAKERBOX_CRASHING_FILTER_WASM");

const COMPONENT: Guest = Guest::component("breakerbox-component", "BREAKERBOX_COMPONENT_WASM");

fn main() {
    FILTER.build();
    CRASHING_FILTER.build();
    let component = COMPONENT.build();
    // And where people find it.
    let found = guest::build_dir().join("breakerbox-component.wasm");
    fs::copy(&component, &found).unwrap_or_else(|error| panic!("cannot write {}: {error}", found.display()));
}
