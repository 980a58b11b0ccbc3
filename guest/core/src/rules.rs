use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use crate::mark::saturating_nanos;
use crate::{Backoff, Code, Hundredths, Mark, Problem, Settings, WindowType};

/// Settings whose every limit has been checked: what slots are worked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    settings: Settings,
    revision: u32,
    slow_nanos: u64,
}

impl Rules {
    /// Checks the settings.
    ///
    /// # Errors
    /// All problems at once, in the order of the settings table.
    pub fn new(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let problems = problems(settings);
        if !problems.is_empty() {
            return Err(problems);
        }
        let slow_nanos = saturating_nanos(settings.slow_call_duration);
        Ok(Self { settings: settings.clone(), revision: 0, slow_nanos })
    }

    /// The same rules as a later edition. Where workers with several editions share a slot, the highest revision
    /// decides its window's shape, and lower ones work with what they find.
    #[must_use]
    pub fn at_revision(self, revision: u32) -> Self {
        Self { revision, ..self }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which edition these rules are.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Whether a call that was admitted then is slow if it ends `now`.
    #[inline]
    pub(crate) fn is_slow(&self, admitted_at: Mark, now: Mark) -> bool {
        self.slow_nanos != 0 && now.nanos_since(admitted_at) >= self.slow_nanos
    }

    /// Whether it matters how long calls take.
    #[inline]
    pub fn detects_slow_calls(&self) -> bool {
        self.slow_nanos != 0
    }

    /// Calls that a closed window needs before its rates mean anything.
    pub fn minimum(&self, window_type: WindowType, window_size: u32) -> u32 {
        match window_type {
            WindowType::Count => self.settings.minimum_calls.min(window_size),
            WindowType::Time => self.settings.minimum_calls,
        }
    }

    /// Nanoseconds to stay open after `reopens` re-opens in a row, with back-off and jitter.
    pub(crate) fn wait_in_open(&self, reopens: u32, generation: u64, now: Mark) -> u64 {
        let mut wait = saturating_nanos(self.settings.wait_in_open);
        if let Some(backoff) = self.settings.open_backoff {
            let max = saturating_nanos(backoff.max);
            // At 1.01 a year is reached from a nanosecond within 3,800 steps, so this ends soon either way.
            let steps = if backoff.multiplier.0 > 100 { reopens.min(4_000) } else { 0 };
            for _ in 0..steps {
                let longer = backoff.multiplier.times(wait);
                if longer >= max || longer == wait {
                    wait = longer.min(max);
                    break;
                }
                wait = longer;
            }
        }
        let share = u64::from(self.settings.open_jitter.0);
        if share == 0 {
            return wait;
        }
        // Clocks count from different zeros on different machines, so the mark alone tells a fleet apart.
        let random = scramble(now.nanos() ^ generation.rotate_left(32)) >> 32;
        let most = u128::from(wait).saturating_mul(u128::from(share)) / 100;
        let added = most.saturating_mul(u128::from(random)) >> 32;
        wait.saturating_add(u64::try_from(added).unwrap_or(u64::MAX))
    }
}

/// splitmix64's finaliser: every bit of the input decides every bit of the output.
fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn problems(s: &Settings) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut refuse = |code, key, value: String, remedy: String| {
        found.push(Problem { code, key, value, remedy });
    };
    let mut check_number = |key, value: u32, max: u32, unit: &str| {
        if value == 0 || value > max {
            let remedy = format!("is out of range: give 1 to {max}{unit}");
            refuse(Code::OutOfRange, key, value.to_string(), remedy);
        }
    };
    match s.window_type {
        WindowType::Count => {
            check_number("window_size", s.window_size, Settings::MAX_WINDOW_CALLS, " calls");
        }
        WindowType::Time => {
            check_number("window_size", s.window_size, Settings::MAX_WINDOW_SECONDS, " seconds");
        }
    }
    check_number("minimum_calls", s.minimum_calls, Settings::MAX_MINIMUM_CALLS, "");
    if let Some(failures) = s.consecutive_failures {
        let max = Settings::MAX_CONSECUTIVE_FAILURES;
        check_number("consecutive_failures", failures, max, ", or \"off\"");
    }
    check_number("half_open_calls", s.half_open_calls, Settings::MAX_HALF_OPEN_CALLS, "");
    for (key, rate) in [
        ("failure_rate_threshold", s.failure_rate_threshold),
        ("slow_call_rate_threshold", s.slow_call_rate_threshold),
    ] {
        if rate.0 == 0 || rate.0 > 10_000 {
            let remedy = "is out of range: give a percentage above 0, up to 100".to_string();
            refuse(Code::OutOfRange, key, rate.to_string(), remedy);
        }
    }
    for (key, duration) in [
        ("slow_call_duration", s.slow_call_duration),
        ("wait_in_open", s.wait_in_open),
        ("max_wait_in_half_open", s.max_wait_in_half_open),
    ] {
        check_duration(key, duration, &mut refuse);
    }
    if let Some(Backoff { multiplier, max }) = s.open_backoff {
        if multiplier.0 < 100 || multiplier > Settings::MAX_MULTIPLIER {
            let remedy = format!("is out of range: give 1.00 to {}", Settings::MAX_MULTIPLIER);
            refuse(Code::OutOfRange, "open_backoff.multiplier", multiplier.to_string(), remedy);
        }
        check_duration("open_backoff.max", max, &mut refuse);
        if max < s.wait_in_open {
            let remedy = format!("is below wait_in_open: give at least {:?}", s.wait_in_open);
            refuse(Code::Conflict, "open_backoff.max", format!("{max:?}"), remedy);
        }
    }
    if s.open_jitter > Hundredths(100) {
        let remedy = "is out of range: give a share from 0 to 1".to_string();
        refuse(Code::OutOfRange, "open_jitter", s.open_jitter.to_string(), remedy);
    }
    found
}

fn check_duration(
    key: &'static str,
    duration: Duration,
    refuse: &mut impl FnMut(Code, &'static str, String, String),
) {
    if duration > Settings::MAX_DURATION {
        let remedy = "is out of range: give at most 8760h (365 days)".to_string();
        refuse(Code::OutOfRange, key, format!("{duration:?}"), remedy);
    }
}
