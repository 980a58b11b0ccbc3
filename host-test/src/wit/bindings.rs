//! What wasmtime makes of `wit/`.

#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]

wasmtime::component::bindgen!({ path: "../wit", world: "breakerbox" });
