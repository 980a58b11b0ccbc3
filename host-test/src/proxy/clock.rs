use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use breakerbox_core::Mark;
use proxy_wasm_host::abi::v0_2_1 as abi;

use super::hostcalls::heard;
use crate::hosts::START;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct Clock(AtomicU64);

impl Default for Clock {
    fn default() -> Self {
        Self(AtomicU64::new(START.nanos()))
    }
}

impl Clock {
    /// The wall clock's time at the zero of this one: 2026-01-01.
    const EPOCH_NANOS: u64 = 1_767_225_600_000_000_000;

    /// The time.
    pub fn now(&self) -> Mark {
        Mark::from_nanos(self.0.load(Ordering::SeqCst))
    }

    /// Lets time pass.
    pub fn advance(&self, duration: Duration) {
        self.set(self.now().after(duration));
    }

    /// Sets the clock, also back: modules should bear a clock that steps.
    pub fn set(&self, now: Mark) {
        self.0.store(now.nanos(), Ordering::SeqCst);
    }
}

impl abi::Clock for Clock {
    fn realtime_nanos(&self) -> u64 {
        self.now().nanos().saturating_add(Self::EPOCH_NANOS)
    }

    fn monotonic_nanos(&self) -> u64 {
        heard("clock_time_get", b"", None);
        self.now().nanos()
    }
}
