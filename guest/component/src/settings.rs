//! Settings as WIT has them, where none means the default, and as the core has them.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use breakerbox_core::{self as core_types, Hundredths, Rules};

use crate::bindings::exports::breakerbox::breaker::settings::{
    Backoff, HalfOpenPolicy, Problem, Settings, WindowType,
};
use crate::convert::nanos;

/// Checks the settings.
pub(crate) fn rules(settings: &Settings) -> Result<Rules, Vec<Problem>> {
    let mut decimals = Decimals::default();
    let settings = from_wit(settings, &mut decimals);
    match Rules::new(&settings) {
        Ok(rules) if decimals.problems.is_empty() => Ok(rules),
        Ok(_) => Err(decimals.problems),
        Err(problems) => Err(decimals.problems.into_iter().chain(problems.iter().map(problem)).collect()),
    }
}

/// Reads JSON; what it does not name has the core's default.
pub(crate) fn parse(json: &str) -> Result<Settings, Vec<Problem>> {
    match breakerbox_config::settings(json, &core_types::Settings::default()) {
        Ok(rules) => Ok(to_wit(rules.settings())),
        Err(problems) => Err(problems.0.into_iter().map(json_problem).collect()),
    }
}

fn json_problem(problem: breakerbox_config::Problem) -> Problem {
    Problem { code: problem.code.name().to_string(), key: problem.path, message: problem.message }
}

fn problem(problem: &core_types::Problem) -> Problem {
    Problem {
        code: problem.code.name().to_string(),
        key: problem.key.to_string(),
        message: format!("{} {}", problem.value, problem.remedy),
    }
}

/// Reads floats as the core's numbers and remembers those that cannot be such.
#[derive(Default)]
struct Decimals {
    problems: Vec<Problem>,
}

impl Decimals {
    /// The number, or 1, which is in every number's range so that nothing else is said about it.
    fn read(&mut self, key: &str, value: f64) -> Hundredths {
        breakerbox_config::decimal(key, value).unwrap_or_else(|problem| {
            self.problems.push(json_problem(problem));
            Hundredths(100)
        })
    }

    fn read_or(&mut self, key: &str, value: Option<f64>, default: Hundredths) -> Hundredths {
        value.map_or(default, |value| self.read(key, value))
    }
}

fn from_wit(settings: &Settings, decimals: &mut Decimals) -> core_types::Settings {
    let default = core_types::Settings::default();
    core_types::Settings {
        window_type: match settings.window_type {
            Some(WindowType::Count) => core_types::WindowType::Count,
            Some(WindowType::Time) => core_types::WindowType::Time,
            None => default.window_type,
        },
        window_size: settings.window_size.unwrap_or(default.window_size),
        minimum_calls: settings.minimum_calls.unwrap_or(default.minimum_calls),
        failure_rate_threshold: decimals.read_or(
            "failure_rate_threshold",
            settings.failure_rate_threshold,
            default.failure_rate_threshold,
        ),
        slow_call_duration: duration(settings.slow_call_duration, default.slow_call_duration),
        slow_call_rate_threshold: decimals.read_or(
            "slow_call_rate_threshold",
            settings.slow_call_rate_threshold,
            default.slow_call_rate_threshold,
        ),
        consecutive_failures: settings.consecutive_failures.or(default.consecutive_failures),
        wait_in_open: duration(settings.wait_in_open, default.wait_in_open),
        open_backoff: settings.open_backoff.map_or(default.open_backoff, |Backoff { multiplier, max }| {
            Some(core_types::Backoff {
                multiplier: decimals.read("open_backoff.multiplier", multiplier),
                max: Duration::from_nanos(max),
            })
        }),
        open_jitter: decimals.read_or("open_jitter", settings.open_jitter, default.open_jitter),
        half_open_calls: settings.half_open_calls.unwrap_or(default.half_open_calls),
        half_open_policy: match settings.half_open_policy {
            Some(HalfOpenPolicy::Rate) => core_types::HalfOpenPolicy::Rate,
            Some(HalfOpenPolicy::AllMustSucceed) => core_types::HalfOpenPolicy::AllMustSucceed,
            None => default.half_open_policy,
        },
        max_wait_in_half_open: duration(settings.max_wait_in_half_open, default.max_wait_in_half_open),
        enabled: settings.enabled.unwrap_or(default.enabled),
    }
}

fn duration(nanos: Option<u64>, default: Duration) -> Duration {
    nanos.map_or(default, Duration::from_nanos)
}

fn to_wit(settings: &core_types::Settings) -> Settings {
    Settings {
        window_type: Some(match settings.window_type {
            core_types::WindowType::Count => WindowType::Count,
            core_types::WindowType::Time => WindowType::Time,
        }),
        window_size: Some(settings.window_size),
        minimum_calls: Some(settings.minimum_calls),
        failure_rate_threshold: Some(settings.failure_rate_threshold.to_f64()),
        slow_call_duration: Some(nanos(settings.slow_call_duration)),
        slow_call_rate_threshold: Some(settings.slow_call_rate_threshold.to_f64()),
        consecutive_failures: settings.consecutive_failures,
        wait_in_open: Some(nanos(settings.wait_in_open)),
        open_backoff: settings
            .open_backoff
            .map(|backoff| Backoff { multiplier: backoff.multiplier.to_f64(), max: nanos(backoff.max) }),
        open_jitter: Some(settings.open_jitter.to_f64()),
        half_open_calls: Some(settings.half_open_calls),
        half_open_policy: Some(match settings.half_open_policy {
            core_types::HalfOpenPolicy::Rate => HalfOpenPolicy::Rate,
            core_types::HalfOpenPolicy::AllMustSucceed => HalfOpenPolicy::AllMustSucceed,
        }),
        max_wait_in_half_open: Some(nanos(settings.max_wait_in_half_open)),
        enabled: Some(settings.enabled),
    }
}
