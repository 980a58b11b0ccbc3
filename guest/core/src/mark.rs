use core::time::Duration;

/// A point on a monotonic clock of the caller's choosing, in nanoseconds since that clock's zero.
///
/// Marks are only compared with marks of the same clock. A mark earlier than one that the breaker has written
/// down means that no time has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(u64);

impl Mark {
    /// The clock's zero.
    pub const ZERO: Self = Self(0);

    /// The mark `nanos` nanoseconds after the clock's zero.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// The mark `millis` milliseconds after the clock's zero; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Nanoseconds since the clock's zero.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Whole seconds since the clock's zero: the name of a time window's bucket.
    pub(crate) const fn second(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// Nanoseconds from `earlier` to here, 0 if `earlier` is later.
    pub(crate) const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Time from `earlier` to here, zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }

    /// The mark `nanos` after this one; saturates.
    pub(crate) const fn plus(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// The mark `duration` after this one; saturates.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        self.plus(saturating_nanos(duration))
    }
}

/// A duration in nanoseconds; 584 years are as long as it gets.
pub(crate) fn saturating_nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
