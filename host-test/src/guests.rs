//! The wasm guests, as `build.rs` built them for release.

/// The path of the proxy-wasm filter.
pub const FILTER_WASM: &str = env!("BREAKERBOX_FILTER_WASM");
