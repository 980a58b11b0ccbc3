//! Builds the wasm guests, so that `cargo test` alone tests the filter as Envoy runs it.

use std::fs;
use std::path::Path;

mod exports;
mod guest;

use guest::Guest;

const FILTER: Guest = Guest::filter("breakerbox-filter", "", "BREAKERBOX_FILTER_WASM");

/// For tests of what crashes leave behind.
const CRASHING_FILTER: Guest =
    Guest::filter("breakerbox-filter", "crash-on-demand", "BREAKERBOX_CRASHING_FILTER_WASM");

const COMPONENT: Guest = Guest::component("breakerbox-component", "BREAKERBOX_COMPONENT_WASM");

/// The SDK exports a function for each callback that there is. Proxies call those of each request, also where the filter has
/// nothing to do in it.
const IDLE_CALLBACKS: [&str; 1] = ["proxy_on_done"];

fn main() {
    let [filter, crashing_filter, component] =
        [FILTER, CRASHING_FILTER, COMPONENT].map(|guest| guest.build());
    for filter in [&filter, &crashing_filter] {
        exports::remove(filter, &IDLE_CALLBACKS);
    }
    // And where people find them.
    copy(&filter, "breakerbox-filter.wasm");
    copy(&component, "breakerbox-component.wasm");
}

fn copy(guest: &Path, name: &str) {
    let found = guest::build_dir().join(name);
    fs::copy(guest, &found).unwrap_or_else(|error| panic!("cannot write {}: {error}", found.display()));
}
