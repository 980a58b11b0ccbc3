//! The filter in a real Envoy under load and in trouble: nothing is lost, nothing gets stuck, nothing is let through.

mod books;
mod crashes;
mod endings;
mod flapping;
mod ids;
mod memory;
mod raw_upstream;
mod samples;
mod size;
mod slow_clients;
mod traffic;
mod updates;
mod wire;
#[path = "../envoy/world.rs"]
#[allow(dead_code, reason = "not every suite needs all of it")]
mod world;
