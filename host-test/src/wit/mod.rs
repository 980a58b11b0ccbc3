//! The interfaces of `wit/` as wasmtime has them, and their types beside the core's types of the same names.

pub mod bindings;
pub mod convert;

pub use bindings::exports::breakerbox::breaker::settings::Settings;

/// Settings that say nothing, so that everything has its default.
pub const UNSET: Settings = Settings {
    window_type: None,
    window_size: None,
    minimum_calls: None,
    failure_rate_threshold: None,
    slow_call_duration: None,
    slow_call_rate_threshold: None,
    consecutive_failures: None,
    wait_in_open: None,
    open_backoff: None,
    open_jitter: None,
    half_open_calls: None,
    half_open_policy: None,
    max_wait_in_half_open: None,
    enabled: None,
};
