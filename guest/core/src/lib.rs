//! A circuit breaker as a pure state machine.
//!
//! A breaker stops calling a dependency that keeps failing, and lets a few probes through later to see
//! whether it has recovered. This crate is the whole of its rules and nothing else: every operation takes the
//! time as a [`Mark`] and returns a value; nothing is logged, timed or stored here.
//!
//! - [`Settings`] are what a user writes, [`Rules`] what they become once every limit has been checked.
//! - [`Slot`] is one breaker's state, a view of a flat little-endian buffer whose bytes are the same in process,
//!   in a proxy's shared data and in a key-value store.
//! - [`Breaker`] (feature `std`) guards calls of many threads in one process.
//! - [`Shared`] guards calls of many workers that share a slot in a [`SlotStore`].
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use breakerbox_core::{Breaker, Mark, Outcome, Settings};
//!
//! let start = Instant::now();
//! let now = || Mark::ZERO.after(start.elapsed());
//!
//! let settings = Settings { window_size: 4, minimum_calls: 4, ..Settings::default() };
//! let breaker = Breaker::new(&settings, now()).unwrap();
//! for _ in 0..4 {
//!     let permit = breaker.acquire(now()).answer.unwrap();
//!     // Here the call is made, and fails.
//!     if let Some(transition) = breaker.record(&permit, Outcome::Failure, now()).transition {
//!         println!("{transition}");
//!     }
//! }
//! let rejection = breaker.acquire(now()).answer.unwrap_err();
//! assert!(rejection.retry_after <= Some(Duration::from_mins(1)));
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
#[cfg(feature = "std")]
extern crate std;

mod adopt;
mod belief;
#[cfg(feature = "std")]
mod breaker;
mod clock;
mod effect;
mod end;
mod enter;
mod header;
mod hint;
mod hundredths;
mod mark;
#[cfg(feature = "std")]
mod memory;
mod owned;
#[cfg(feature = "std")]
mod pass;
mod permit;
mod probes;
mod problem;
mod rules;
mod settings;
mod shared;
mod slot;
mod snapshot;
mod state;
mod store;
mod transition;
mod window;
#[cfg(feature = "std")]
mod word;

#[cfg(feature = "std")]
pub use breaker::Breaker;
pub use clock::Clock;
pub use effect::Effect;
pub use end::Recorded;
pub use header::{Fault, LAYOUT};
pub use hint::{Hint, Revocations};
pub use hundredths::Hundredths;
pub use mark::Mark;
#[cfg(feature = "std")]
pub use memory::{MemoryRevocations, MemoryStore};
pub use owned::OwnedSlot;
pub use permit::{Outcome, Permit, Reason, Receipt, Rejection};
pub use problem::{Code, Problem};
pub use rules::Rules;
pub use settings::{Backoff, HalfOpenPolicy, Settings, WindowType};
pub use shared::{Shared, Update};
pub use slot::{Opened, Slot};
pub use snapshot::Snapshot;
pub use state::State;
pub use store::{Loaded, SlotStore, Unavailable};
pub use transition::{EventKind, Rule, Transition};
