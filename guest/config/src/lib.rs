//! breakerbox settings from JSON.
//!
//! [`settings`] reads one breaker's settings, [`filter`] the Envoy filter's whole configuration. Both report
//! every problem at once; each names where it is, what stands there and what to write instead.
//!
//! ```
//! use breakerbox_core::Settings;
//!
//! let rules = breakerbox_config::settings(r#"{"window_size": 20}"#, &Settings::default()).unwrap();
//! assert_eq!(rules.settings().window_size, 20);
//!
//! let problems = breakerbox_config::filter(r#"{"breakers": {"orders": {"windwSize": 20}}}"#).unwrap_err();
//! assert_eq!(
//!     problems.to_string(),
//!     "breakers.orders.windwSize: unknown key; did you mean `window_size`? [unknown_key]"
//! );
//! ```

#![no_std]
#![forbid(unsafe_code)]
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

mod breakers;
mod cause;
mod duration;
mod filter;
mod filter_keys;
mod grpc;
mod header;
mod inherit;
mod json;
mod key;
mod keys;
mod matches;
mod odd;
mod outcomes;
mod pattern;
mod per;
mod policy;
mod problem;
mod reject;
mod rejection;
mod report;
mod role;
mod settings;
mod suggest;
mod table;
mod text;
mod value;
mod warning;

pub use breakers::Breakers;
pub use cause::Cause;
pub use filter::{FilterConfig, filter, filter_defaults};
pub use filter_keys::{CONFIG_KEYS, ENTRY_KEYS, FALLBACK_KEYS, FILTER_KEYS, POLICY_KEYS, REJECT_KEYS};
pub use grpc::GrpcStatus;
pub use header::Header;
pub use key::{Key, Section};
pub use keys::{BACKOFF_KEYS, KEYS, SECTIONS};
pub use outcomes::{Ending, Outcomes};
pub use pattern::Pattern;
pub use per::{Per, path_prefix};
pub use policy::{Mode, Moment, Policy};
pub use problem::{Code, Problem, Problems};
pub use reject::{Body, Reject, RetryAfter};
pub use rejection::OnRejection;
pub use role::{Role, Token};
pub use settings::{decimal, settings};
pub use suggest::did_you_mean;
pub use warning::{Oddity, Warning};

/// The longest id, pattern or name, in bytes.
pub const MAX_ID_BYTES: usize = 256;
