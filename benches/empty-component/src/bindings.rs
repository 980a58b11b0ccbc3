//! What wit-bindgen makes of `wit/`.

#![allow(missing_docs, unreachable_pub, unused_qualifications, dead_code, clippy::pedantic)]

wit_bindgen::generate!({ path: "../../wit", world: "breakerbox" });

// Natively the exports' names are no symbols that a linker takes.
#[cfg(target_arch = "wasm32")]
use crate::Component;
#[cfg(target_arch = "wasm32")]
export!(Component with_types_in self);
