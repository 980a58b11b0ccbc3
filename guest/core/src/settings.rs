use core::time::Duration;

use crate::Hundredths;

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WindowType {
    /// The last `window_size` calls.
    Count = 0,
    /// The calls of the last `window_size` seconds, in buckets of one second.
    Time = 1,
}

impl WindowType {
    /// The type's name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Time => "time",
        }
    }

    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Count),
            1 => Some(Self::Time),
            _ => None,
        }
    }
}

/// How probes are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfOpenPolicy {
    /// When the last probe ends, the closed state's rates judge them all.
    Rate,
    /// The first probe that fails or is slow opens at once; all succeeding closes.
    AllMustSucceed,
}

impl HalfOpenPolicy {
    /// The policy's name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::AllMustSucceed => "all_must_succeed",
        }
    }
}

/// Longer waits for a dependency that keeps failing its probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Each re-open without a close in between waits this many times longer: 1.00 to 100.00.
    pub multiplier: Hundredths,
    /// The longest wait, before jitter.
    pub max: Duration,
}

/// One breaker's settings as a user writes them, not yet checked: [`Rules::new`](crate::Rules::new) does that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What the window holds.
    pub window_type: WindowType,
    /// Calls (1 to 10,000) or seconds (1 to 600).
    pub window_size: u32,
    /// Rates are judged once the window holds this many calls; capped at `window_size` for a count window.
    pub minimum_calls: u32,
    /// Percent in (0, 100]; the breaker opens at or above it.
    pub failure_rate_threshold: Hundredths,
    /// A call that takes this long or longer is slow, failed or not; zero switches the detection off.
    pub slow_call_duration: Duration,
    /// Percent in (0, 100]; the breaker opens at or above it.
    pub slow_call_rate_threshold: Hundredths,
    /// Opens after this many failures in a row as well; `None` switches it off.
    pub consecutive_failures: Option<u32>,
    /// How long calls are rejected; the first call after it becomes a probe.
    pub wait_in_open: Duration,
    /// Longer waits after each re-open; `None` keeps them alike.
    pub open_backoff: Option<Backoff>,
    /// A random share of the wait that is added to it, 0.00 to 1.00.
    pub open_jitter: Hundredths,
    /// Probes let through in half-open, 1 to 1,000.
    pub half_open_calls: u32,
    /// How the probes are judged.
    pub half_open_policy: HalfOpenPolicy,
    /// If the probes have not all ended by then, the next call opens the breaker again; zero waits for ever.
    pub max_wait_in_half_open: Duration,
    /// Whether the breaker starts closed; otherwise it starts disabled, and a reset leads back there.
    pub enabled: bool,
}

impl Settings {
    /// The longest count window.
    pub const MAX_WINDOW_CALLS: u32 = 10_000;
    /// The longest time window.
    pub const MAX_WINDOW_SECONDS: u32 = 600;
    /// The highest minimum.
    pub const MAX_MINIMUM_CALLS: u32 = 1_000_000;
    /// The most failures in a row that can be asked for.
    pub const MAX_CONSECUTIVE_FAILURES: u32 = 1_000_000;
    /// The most probes.
    pub const MAX_HALF_OPEN_CALLS: u32 = 1_000;
    /// The longest duration of any setting: 365 days.
    pub const MAX_DURATION: Duration = Duration::from_hours(365 * 24);
    /// The largest back-off multiplier.
    pub const MAX_MULTIPLIER: Hundredths = Hundredths(10_000);
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window_type: WindowType::Count,
            window_size: 100,
            minimum_calls: 100,
            failure_rate_threshold: Hundredths(5000),
            slow_call_duration: Duration::ZERO,
            slow_call_rate_threshold: Hundredths(10_000),
            consecutive_failures: None,
            wait_in_open: Duration::from_mins(1),
            open_backoff: None,
            open_jitter: Hundredths(0),
            half_open_calls: 10,
            half_open_policy: HalfOpenPolicy::Rate,
            max_wait_in_half_open: Duration::ZERO,
            enabled: true,
        }
    }
}
