//! The wasm guests, as `build.rs` built them for release.

/// The path of the proxy-wasm filter.
pub const FILTER_WASM: &str = env!("BREAKERBOX_FILTER_WASM");

/// The path of the component.
pub const COMPONENT_WASM: &str = env!("BREAKERBOX_COMPONENT_WASM");
