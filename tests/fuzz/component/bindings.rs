// What `bindgen!` writes has no documentation and its own style.
#![allow(missing_docs, unreachable_pub, unused_qualifications, clippy::pedantic)]

wasmtime::component::bindgen!({ path: "../wit", world: "breakerbox" });
