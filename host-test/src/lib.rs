//! The breakerbox harness.
