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

mod duration;
mod filter;
mod json;
mod key;
mod keys;
mod per;
mod problem;
mod report;
mod settings;
mod suggest;
mod table;
mod text;
mod value;

pub use filter::{FilterConfig, filter, filter_defaults};
pub use key::Key;
pub use keys::{BACKOFF_KEYS, FILTER_KEYS, KEYS};
pub use per::Per;
pub use problem::{Code, Problem, Problems};
pub use settings::settings;
