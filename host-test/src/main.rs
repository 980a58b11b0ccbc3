//! The command `breakerbox`.
fn main() {}
