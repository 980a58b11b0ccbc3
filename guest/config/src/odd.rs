use alloc::format;
use core::time::Duration;

use breakerbox_core::{Hundredths, WindowType};

use crate::policy::Draft;
use crate::report::Report;
use crate::table::Table;
use crate::{GrpcStatus, Oddity};

/// Calls a second that a breaker seldom sees.
const MANY_A_SECOND: u32 = 1_000;

/// Calls that take less are rare.
const SHORTEST_CALL: Duration = Duration::from_millis(1);

/// Warns of settings that are legal but odd. Only what `table` itself gives is looked at: what it inherits was
/// looked at where it stands.
pub(crate) fn settings(table: &Table<'_>, draft: &Draft, report: &mut Report) {
    let s = &draft.settings;
    let gives = |name: &str| table.get(name).is_some();
    let mut warn = |name, oddity, message| report.warning(&table.path_of(name), oddity, message);

    if gives("minimum_calls") {
        let (minimum, size) = (s.minimum_calls, s.window_size);
        if s.window_type == WindowType::Count && minimum > size {
            let message = format!("{minimum} is more than the window holds, so {size} calls are enough");
            warn("minimum_calls", Oddity::MinimumAboveWindow, message);
        }
        if s.window_type == WindowType::Time && minimum > size.saturating_mul(MANY_A_SECOND) {
            let message = format!(
                "{minimum} calls within {size} s are more than {MANY_A_SECOND} a second: the rates may never be judged"
            );
            warn("minimum_calls", Oddity::MinimumUnreachable, message);
        }
    }
    for (name, rate) in [
        ("failure_rate_threshold", s.failure_rate_threshold),
        ("slow_call_rate_threshold", s.slow_call_rate_threshold),
    ] {
        if gives(name) && rate.0 > 0 && rate < Hundredths(100) {
            let percent = rate.0;
            let message = format!("{rate} is {rate} percent; did you mean {percent} (percent)?");
            warn(name, Oddity::RateLooksLikeFraction, message);
        }
    }
    if gives("slow_call_rate_threshold") && s.slow_call_duration.is_zero() {
        let message = "has no effect while no call is slow: give `slow_call_duration` as well".into();
        warn("slow_call_rate_threshold", Oddity::SlowRateWithoutDuration, message);
    }
    if gives("slow_call_duration") && !s.slow_call_duration.is_zero() && s.slow_call_duration < SHORTEST_CALL
    {
        let message =
            format!("{:?} is shorter than calls take: nearly every call is slow", s.slow_call_duration);
        warn("slow_call_duration", Oddity::EveryCallSlow, message);
    }
    if gives("wait_in_open") && s.wait_in_open.is_zero() {
        let message = "0s: the first call after opening is a probe already, so nothing gets a rest".into();
        warn("wait_in_open", Oddity::OpensForNoTime, message);
    }
    if let Some(backoff) = s.open_backoff
        && gives("open_backoff")
        && (backoff.multiplier == Hundredths(100) || backoff.max == s.wait_in_open)
    {
        let message =
            "never makes a wait longer: give a `multiplier` above 1 and a `max` above `wait_in_open`";
        warn("open_backoff", Oddity::BackoffWithoutEffect, message.into());
    }
    if gives("half_open_calls") {
        let minimum = match s.window_type {
            WindowType::Count => s.minimum_calls.min(s.window_size),
            WindowType::Time => s.minimum_calls,
        };
        if s.half_open_calls > minimum {
            let message = format!(
                "{} probes have to end before it closes, while {minimum} calls are enough to open it",
                s.half_open_calls
            );
            warn("half_open_calls", Oddity::ProbesAboveMinimum, message);
        }
    }
    if gives("max_wait_in_half_open") && s.max_wait_in_half_open.is_zero() {
        let message = "0s waits for ever: probes whose worker died would keep it half-open".into();
        warn("max_wait_in_half_open", Oddity::WaitsForEver, message);
    }
    if gives("record_on") && draft.outcomes.record.is_empty() && s.slow_call_duration.is_zero() {
        let message = "is empty, and no call is slow: the breaker never opens by itself".into();
        warn("record_on", Oddity::NothingFails, message);
    }
    let record = &draft.outcomes.record;
    if gives("record_on") && (record.has_status(200) || record.has_grpc(GrpcStatus::OK)) {
        let message = "has 200 or grpc:OK: calls that went well are failures".into();
        warn("record_on", Oddity::SuccessFails, message);
    }
}
