//! What wit-bindgen makes of `wit/`: the types, a trait for each interface, and the exports' glue. It is the only
//! unsafe code of this crate: the canonical ABI passes pointers into linear memory.

#![allow(
    unsafe_code,
    unreachable_pub,
    unused_qualifications,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

wit_bindgen::generate!({ path: "../../wit", world: "breakerbox" });

// Natively the exports' names are no symbols that a linker takes.
#[cfg(target_arch = "wasm32")]
use crate::Component;
#[cfg(target_arch = "wasm32")]
export!(Component with_types_in self);
