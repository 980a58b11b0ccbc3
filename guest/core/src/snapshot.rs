use core::time::Duration;

use crate::header::Header;
use crate::window::{self, Counts};
use crate::{Hundredths, Mark, Rule, Rules, State, Transition};

/// What a breaker looked like at one moment. Taking one changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The state. An open breaker whose wait is over stays `open` until a call arrives.
    pub state: State,
    /// The generation: it rises with every transition.
    pub generation: u64,
    /// When the state was entered.
    pub since: Mark,
    /// Percent of the calls that failed; `None` until the window holds the minimum (half-open: until every
    /// probe ended).
    pub failure_rate: Option<f64>,
    /// Percent of the calls that were slow; `None` as above, and while slow calls are not looked for.
    pub slow_call_rate: Option<f64>,
    /// Calls in the window; in half-open the probes that ended, in open those that opened it.
    pub calls: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Those of them that were slow.
    pub slow: u32,
    /// Failures in a row while closed.
    pub consecutive_failures: u32,
    /// Probes that are out.
    pub probes_out: u32,
    /// In open: how long until a call becomes a probe.
    pub retry_after: Option<Duration>,
    /// Re-opens since the breaker was last closed.
    pub reopens: u32,
    /// The last transition; `None` for a breaker that has not moved yet.
    pub last: Option<Transition>,
}

impl Snapshot {
    pub(crate) fn of(header: &Header, body: &[u8], rules: &Rules, now: Mark) -> Self {
        let now = header.clamp(now);
        let state = header.state();
        let counts = match state {
            State::Closed => window::counts_at(header, body, now),
            _ => Counts::of(header),
        };
        let last = last_transition(header);
        let judged = match (state, last) {
            (State::Closed, _) => rules.minimum(header.window_type(), header.window_size.get()),
            (State::Open, Some(Transition { from: State::Closed, .. })) => {
                rules.minimum(header.window_type(), header.window_size.get())
            }
            _ => header.half_open_calls.get(),
        };
        let rate = |part| (counts.calls > 0 && counts.calls >= judged).then(|| percent(part, counts.calls));
        let left = header.open_until.get().saturating_sub(now.nanos());
        Self {
            state,
            generation: header.generation.get(),
            since: Mark::from_nanos(header.entered_at.get()),
            failure_rate: rate(counts.failed),
            slow_call_rate: if rules.detects_slow_calls() { rate(counts.slow) } else { None },
            calls: counts.calls,
            failed: counts.failed,
            slow: counts.slow,
            consecutive_failures: header.consecutive.get(),
            probes_out: header.probes_out.get(),
            retry_after: (state == State::Open).then(|| Duration::from_nanos(left)),
            reopens: header.reopens.get(),
            last,
        }
    }
}

fn percent(part: u32, whole: u32) -> f64 {
    f64::from(part) * 100.0 / f64::from(whole)
}

fn last_transition(header: &Header) -> Option<Transition> {
    let state = header.state();
    let open_for = header.open_until.get().saturating_sub(header.entered_at.get());
    Some(Transition {
        from: State::from_byte(header.last_from)?,
        to: state,
        rule: Rule::from_byte(header.last_rule)?,
        generation: header.generation.get(),
        at: Mark::from_nanos(header.entered_at.get()),
        calls: header.last_calls.get(),
        failed: header.last_failed.get(),
        slow: header.last_slow.get(),
        threshold: Hundredths(header.last_threshold.get()),
        wait: Duration::from_nanos(if state == State::Open { open_for } else { 0 }),
    })
}
