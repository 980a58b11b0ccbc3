//! The wasm guests, as `build/` built them for release.

/// The path of the proxy-wasm filter.
pub const FILTER_WASM: &str = env!("BREAKERBOX_FILTER_WASM");

/// The path of the component.
pub const COMPONENT_WASM: &str = env!("BREAKERBOX_COMPONENT_WASM");

/// The path of the same filter with the feature `crash-on-demand`: a request with the header `x-breakerbox-crash` that gets
/// a permit crashes its VM.
pub const CRASHING_FILTER_WASM: &str = env!("BREAKERBOX_CRASHING_FILTER_WASM");
