use breakerbox_config::Mode;
use breakerbox_core::{Rules, Slot, SlotStore, Snapshot, State, Transition};
use serde::Serialize;

use crate::hostcalls;
use crate::store::SharedData;

/// One breaker as the role `admin` shows it.
#[derive(Serialize)]
pub(crate) struct View {
    id: String,
    mode: &'static str,
    state: &'static str,
    /// Whole milliseconds, for people.
    state_age_ms: u128,
    /// When the state was entered, on the host's monotonic clock.
    since_ns: u64,
    generation: u64,
    failure_rate: Option<f64>,
    slow_call_rate: Option<f64>,
    calls: u32,
    failed: u32,
    slow: u32,
    consecutive_failures: u32,
    probes_out: u32,
    retry_after_ms: Option<f64>,
    reopens: u32,
    settings: Limits,
    last_transition: Option<Last>,
}

/// What the numbers are measured against.
#[derive(Serialize)]
struct Limits {
    window_type: &'static str,
    window_size: u32,
    /// Calls that a closed window needs before its rates are judged.
    minimum_calls: u32,
    failure_rate_threshold: f64,
    /// `None` while slow calls are not looked for.
    slow_call_rate_threshold: Option<f64>,
    consecutive_failures: Option<u32>,
    half_open_calls: u32,
}

/// How the breaker got where it is.
#[derive(Serialize)]
struct Last {
    from: &'static str,
    to: &'static str,
    reason: &'static str,
    at_ns: u64,
    calls: u32,
    failed: u32,
    slow: u32,
    threshold: Option<f64>,
    wait_ms: Option<f64>,
    why: String,
}

impl View {
    /// The breaker with this id, or `None` if there is none.
    pub(crate) fn of(id: &str, rules: &Rules, mode: Mode) -> Option<Self> {
        let (mut bytes, _) = SharedData.load(&SharedData::slot_key(id)).ok()??;
        let now = hostcalls::now();
        let snapshot = Slot::parse(&mut bytes).ok()?.snapshot(rules, now);
        let Snapshot { state, generation, since, failure_rate, slow_call_rate, .. } = snapshot;
        Some(Self {
            id: id.to_owned(),
            mode: mode.name(),
            state: state.name(),
            state_age_ms: now.since(since).as_millis(),
            since_ns: since.nanos(),
            generation,
            failure_rate,
            slow_call_rate,
            calls: snapshot.calls,
            failed: snapshot.failed,
            slow: snapshot.slow,
            consecutive_failures: snapshot.consecutive_failures,
            probes_out: snapshot.probes_out,
            retry_after_ms: snapshot.retry_after.map(millis),
            reopens: snapshot.reopens,
            settings: Limits::of(rules),
            last_transition: snapshot.last.as_ref().map(Last::of),
        })
    }
}

impl Limits {
    fn of(rules: &Rules) -> Self {
        let settings = rules.settings();
        let detects_slow_calls = !settings.slow_call_duration.is_zero();
        Self {
            window_type: settings.window_type.name(),
            window_size: settings.window_size,
            minimum_calls: rules.minimum(settings.window_type, settings.window_size),
            failure_rate_threshold: settings.failure_rate_threshold.to_f64(),
            slow_call_rate_threshold: detects_slow_calls.then(|| settings.slow_call_rate_threshold.to_f64()),
            consecutive_failures: settings.consecutive_failures,
            half_open_calls: settings.half_open_calls,
        }
    }
}

impl Last {
    fn of(transition: &Transition) -> Self {
        let Transition { from, to, rule, at, calls, failed, slow, threshold, wait, .. } = *transition;
        Self {
            from: from.name(),
            to: to.name(),
            reason: rule.name(),
            at_ns: at.nanos(),
            calls,
            failed,
            slow,
            threshold: (threshold.0 > 0).then(|| threshold.to_f64()),
            wait_ms: (to == State::Open).then(|| millis(wait)),
            why: transition.to_string(),
        }
    }
}

fn millis(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
