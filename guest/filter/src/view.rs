use std::time::Duration;

use breakerbox_config::Mode;
use breakerbox_core::{Backoff, Rules, Slot, SlotStore, Snapshot, State, Transition};
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

/// What the numbers are measured against, and how long each state lasts.
#[derive(Serialize)]
struct Limits {
    enabled: bool,
    window_type: &'static str,
    window_size: u32,
    /// Calls that a closed window needs before its rates are judged.
    minimum_calls: u32,
    failure_rate_threshold: f64,
    /// `None` while slow calls are not looked for.
    slow_call_duration_ms: Option<f64>,
    slow_call_rate_threshold: Option<f64>,
    consecutive_failures: Option<u32>,
    wait_in_open_ms: f64,
    open_backoff: Option<Longer>,
    open_jitter: f64,
    half_open_calls: u32,
    half_open_policy: &'static str,
    /// `None` if probes are waited for for ever.
    max_wait_in_half_open_ms: Option<f64>,
}

/// How much longer it waits each time.
#[derive(Serialize)]
struct Longer {
    multiplier: f64,
    max_ms: f64,
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
        let slow_call_duration_ms = nonzero_millis(settings.slow_call_duration);
        Self {
            enabled: settings.enabled,
            window_type: settings.window_type.name(),
            window_size: settings.window_size,
            minimum_calls: rules.minimum(settings.window_type, settings.window_size),
            failure_rate_threshold: settings.failure_rate_threshold.to_f64(),
            slow_call_duration_ms,
            slow_call_rate_threshold: slow_call_duration_ms
                .map(|_| settings.slow_call_rate_threshold.to_f64()),
            consecutive_failures: settings.consecutive_failures,
            wait_in_open_ms: millis(settings.wait_in_open),
            open_backoff: settings.open_backoff.map(|Backoff { multiplier, max }| Longer {
                multiplier: multiplier.to_f64(),
                max_ms: millis(max),
            }),
            open_jitter: settings.open_jitter.to_f64(),
            half_open_calls: settings.half_open_calls,
            half_open_policy: settings.half_open_policy.name(),
            max_wait_in_half_open_ms: nonzero_millis(settings.max_wait_in_half_open),
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

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Milliseconds, where zero stands for none.
fn nonzero_millis(duration: Duration) -> Option<f64> {
    (!duration.is_zero()).then(|| millis(duration))
}
