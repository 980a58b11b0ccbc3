use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use breakerbox_core::{Hundredths, Mark, Rule, Snapshot, State, Transition};
use serde::Deserialize;

/// One breaker, as the role `admin` shows it.
#[derive(Deserialize)]
pub(super) struct View {
    state: String,
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
    last_transition: Option<Last>,
}

#[derive(Deserialize)]
struct Last {
    from: String,
    to: String,
    reason: String,
    at_ns: u64,
    calls: u32,
    failed: u32,
    slow: u32,
    threshold: Option<f64>,
    wait_ms: Option<f64>,
    why: String,
}

impl View {
    pub(super) fn into_snapshot(self) -> Result<Snapshot> {
        let last = self.last_transition.map(|last| last.into_transition(self.generation)).transpose()?;
        Ok(Snapshot {
            state: state(&self.state)?,
            generation: self.generation,
            since: Mark::from_nanos(self.since_ns),
            failure_rate: self.failure_rate,
            slow_call_rate: self.slow_call_rate,
            calls: self.calls,
            failed: self.failed,
            slow: self.slow,
            consecutive_failures: self.consecutive_failures,
            probes_out: self.probes_out,
            retry_after: self.retry_after_ms.map(duration),
            reopens: self.reopens,
            last,
        })
    }
}

impl Last {
    fn into_transition(self, generation: u64) -> Result<Transition> {
        let rule = Rule::ALL.into_iter().find(|rule| rule.name() == self.reason);
        let threshold =
            Hundredths::from_f64(self.threshold.unwrap_or(0.0)).context("a threshold of three decimals")?;
        let transition = Transition {
            from: state(&self.from)?,
            to: state(&self.to)?,
            rule: rule.with_context(|| format!("no rule is named {}", self.reason))?,
            generation,
            at: Mark::from_nanos(self.at_ns),
            calls: self.calls,
            failed: self.failed,
            slow: self.slow,
            threshold,
            wait: duration(self.wait_ms.unwrap_or(0.0)),
        };
        ensure!(self.why == transition.to_string(), "{} is not {transition}", self.why);
        Ok(transition)
    }
}

fn state(name: &str) -> Result<State> {
    let state = State::ALL.into_iter().find(|state| state.name() == name);
    state.with_context(|| format!("no state is named {name}"))
}

fn duration(millis: f64) -> Duration {
    // To the nanosecond, which a float of milliseconds holds for the first century.
    Duration::from_secs_f64((millis * 1e6).round() / 1e9)
}
