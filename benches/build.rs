//! Builds the guests that do nothing, as `host-test/build` builds those that do something.

#[path = "../host-test/build/guest.rs"]
mod guest;

use guest::Guest;

fn main() {
    Guest::filter("breakerbox-empty-filter", "", "EMPTY_FILTER_WASM").build();
    Guest::component("breakerbox-empty-component", "EMPTY_COMPONENT_WASM").build();
}
