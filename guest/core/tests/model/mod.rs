//! The breaker as one would write it on a whiteboard: lists instead of rings, walks instead of running counts.

use std::time::Duration;

use breakerbox_core::{
    HalfOpenPolicy, Mark, Outcome, Permit, Reason, Receipt, Rejection, Rule, Settings, Snapshot, State,
    WindowType,
};

#[derive(Clone, Copy, Debug)]
struct Call {
    second: u64,
    failed: bool,
    slow: bool,
}

pub(crate) struct Model {
    settings: Settings,
    state: State,
    generation: u64,
    since: Mark,
    seen: Mark,
    wait: Duration,
    reopens: u32,
    in_a_row: u32,
    calls: Vec<Call>,
    tickets: Vec<u32>,
    issued: u32,
    judged: bool,
    pub(crate) moves: Vec<(State, State, Rule)>,
}

impl Model {
    pub(crate) fn new(settings: &Settings, now: Mark) -> Self {
        Self {
            settings: settings.clone(),
            state: if settings.enabled { State::Closed } else { State::Disabled },
            generation: 1,
            since: now,
            seen: now,
            wait: Duration::ZERO,
            reopens: 0,
            in_a_row: 0,
            calls: vec![],
            tickets: vec![],
            issued: 0,
            judged: false,
            moves: vec![],
        }
    }

    pub(crate) fn acquire(&mut self, now: Mark) -> Result<Permit, Rejection> {
        let now = now.max(self.seen);
        match self.state {
            State::Closed | State::Disabled => Ok(self.permit(0, now)),
            State::ForcedOpen => {
                Err(Rejection { reason: Reason::ForcedOpen, retry_after: None, open_since: None })
            }
            State::Open if now >= self.since.after(self.wait) => {
                self.enter(State::HalfOpen, Rule::WaitElapsed, now);
                Ok(self.probe(now))
            }
            State::Open => Err(self.rejected(now)),
            State::HalfOpen => {
                let limit = self.settings.max_wait_in_half_open;
                if !limit.is_zero() && now >= self.since.after(limit) {
                    self.reopen(Rule::MaxWait, now);
                    return Err(self.rejected(now));
                }
                if self.calls.len() + self.tickets.len() < self.settings.half_open_calls as usize {
                    return Ok(self.probe(now));
                }
                Err(Rejection { reason: Reason::HalfOpenFull, retry_after: None, open_since: None })
            }
        }
    }

    pub(crate) fn record(&mut self, permit: &Permit, outcome: Outcome, now: Mark) -> Receipt {
        if permit.generation != self.generation {
            return Receipt::Stale;
        }
        let now = now.max(self.seen);
        let failed = outcome == Outcome::Failure;
        let limit = self.settings.slow_call_duration;
        let slow = !limit.is_zero() && now.since(permit.admitted_at) >= limit;
        let call = Call { second: now.nanos() / 1_000_000_000, failed, slow };
        match self.state {
            State::Disabled => Receipt::Ignored,
            State::Closed if outcome == Outcome::Ignored => Receipt::Ignored,
            State::Closed => {
                // What the window would not remember is not seen either.
                let full = self.settings.window_type == WindowType::Count
                    && self.calls.len() == self.settings.window_size as usize;
                if full && !failed && !slow && self.calls.iter().all(|it| !it.failed && !it.slow) {
                    return Receipt::Counted;
                }
                self.seen = now;
                self.calls.push(call);
                self.calls = self.window(now);
                self.in_a_row = if failed { self.in_a_row + 1 } else { 0 };
                if let Some(rule) = self.opening_rule() {
                    self.enter(State::Open, rule, now);
                }
                Receipt::Counted
            }
            State::HalfOpen => {
                let Some(at) = self.tickets.iter().position(|&it| it == permit.ticket) else {
                    return Receipt::Stale;
                };
                self.tickets.remove(at);
                self.seen = now;
                if outcome == Outcome::Ignored {
                    return Receipt::Ignored;
                }
                self.calls.push(call);
                self.judge(failed || slow, now);
                Receipt::Counted
            }
            State::Open | State::ForcedOpen => Receipt::Stale,
        }
    }

    fn judge(&mut self, bad: bool, now: Mark) {
        let all = self.calls.len() == self.settings.half_open_calls as usize;
        if self.settings.half_open_policy == HalfOpenPolicy::AllMustSucceed {
            if bad {
                self.judged = all;
                self.reopen(Rule::ProbeFailed, now);
            } else if all {
                self.enter(State::Closed, Rule::ProbesSucceeded, now);
            }
        } else if all {
            match self.rate_rule() {
                Some(rule) => self.reopen(rule, now),
                None => self.enter(State::Closed, Rule::ProbesSucceeded, now),
            }
        }
    }

    pub(crate) fn control(&mut self, rule: Rule, now: Mark) {
        let now = now.max(self.seen);
        let to = match rule {
            Rule::ForceOpen => State::ForcedOpen,
            Rule::Disable => State::Disabled,
            _ if self.settings.enabled => State::Closed,
            _ => State::Disabled,
        };
        if rule == Rule::Reset || self.state != to {
            self.enter(to, rule, now);
        }
    }

    fn reopen(&mut self, rule: Rule, now: Mark) {
        let reopens = self.reopens + 1;
        self.enter(State::Open, rule, now);
        self.reopens = reopens;
        if let Some(backoff) = self.settings.open_backoff {
            for _ in 0..reopens {
                let longer = self.wait.as_nanos() * u128::from(backoff.multiplier.0) / 100;
                self.wait = Duration::from_nanos(u64::try_from(longer).unwrap()).min(backoff.max);
            }
        }
    }

    fn enter(&mut self, to: State, rule: Rule, now: Mark) {
        self.moves.push((self.state, to, rule));
        if self.state == State::Closed {
            self.calls = self.window(now);
            self.judged = self.calls.len() >= self.minimum();
        } else if to == State::Open {
            self.judged = self.calls.len() == self.settings.half_open_calls as usize;
        }
        self.state = to;
        self.generation += 1;
        self.since = now;
        self.seen = now;
        self.in_a_row = 0;
        self.tickets.clear();
        self.issued = 0;
        if to == State::Open {
            self.wait = self.settings.wait_in_open;
            self.reopens = 0;
        } else {
            self.calls.clear();
            if to != State::HalfOpen {
                self.reopens = 0;
            }
        }
    }

    fn window(&self, now: Mark) -> Vec<Call> {
        let size = self.settings.window_size;
        match self.settings.window_type {
            WindowType::Count => self.calls.iter().rev().take(size as usize).rev().copied().collect(),
            WindowType::Time => {
                let second = now.nanos() / 1_000_000_000;
                self.calls.iter().filter(|it| it.second + u64::from(size) > second).copied().collect()
            }
        }
    }

    fn minimum(&self) -> usize {
        let Settings { window_type, window_size, minimum_calls, .. } = self.settings;
        match window_type {
            WindowType::Count => minimum_calls.min(window_size) as usize,
            WindowType::Time => minimum_calls as usize,
        }
    }

    fn opening_rule(&self) -> Option<Rule> {
        let judged = self.calls.len() >= self.minimum();
        let in_a_row = self.settings.consecutive_failures.is_some_and(|limit| self.in_a_row >= limit);
        judged.then(|| self.rate_rule()).flatten().or(in_a_row.then_some(Rule::ConsecutiveFailures))
    }

    fn rate_rule(&self) -> Option<Rule> {
        let reached = |count: usize, threshold: u32| {
            count as u128 * 10_000 >= u128::from(threshold) * self.calls.len() as u128
        };
        if reached(self.count(|it| it.failed), self.settings.failure_rate_threshold.0) {
            return Some(Rule::FailureRate);
        }
        let looks = !self.settings.slow_call_duration.is_zero();
        (looks && reached(self.count(|it| it.slow), self.settings.slow_call_rate_threshold.0))
            .then_some(Rule::SlowCallRate)
    }

    fn count(&self, of: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().filter(|it| of(it)).count()
    }

    fn permit(&self, ticket: u32, admitted_at: Mark) -> Permit {
        Permit { generation: self.generation, ticket, admitted_at }
    }

    fn probe(&mut self, now: Mark) -> Permit {
        self.seen = now;
        self.issued += 1;
        self.tickets.push(self.issued);
        self.permit(self.issued, now)
    }

    fn rejected(&self, now: Mark) -> Rejection {
        let retry_after = Some(self.since.after(self.wait).since(now));
        Rejection { reason: Reason::Open, retry_after, open_since: Some(self.since) }
    }

    #[allow(clippy::cast_precision_loss)]
    /// Compares everything that a user can see.
    pub(crate) fn assert_seen_as(&self, seen: &Snapshot, now: Mark) {
        let now = now.max(self.seen);
        let closed = self.state == State::Closed;
        let calls = if closed { self.window(now) } else { self.calls.clone() };
        let judged = match self.state {
            State::Closed => calls.len() >= self.minimum(),
            State::Open => self.judged,
            _ => false,
        };
        let percent =
            |part: usize| (judged && !calls.is_empty()).then(|| part as f64 * 100.0 / calls.len() as f64);
        let failed = calls.iter().filter(|it| it.failed).count();
        let slow = calls.iter().filter(|it| it.slow).count();
        let looks = !self.settings.slow_call_duration.is_zero();
        assert_eq!(seen.state, self.state);
        assert_eq!(seen.generation, self.generation);
        assert_eq!(seen.since, self.since);
        assert_eq!(
            (seen.calls as usize, seen.failed as usize, seen.slow as usize),
            (calls.len(), failed, slow)
        );
        assert_eq!(seen.failure_rate, percent(failed));
        assert_eq!(seen.slow_call_rate, if looks { percent(slow) } else { None });
        assert_eq!(seen.probes_out as usize, self.tickets.len());
        assert_eq!(seen.consecutive_failures, self.in_a_row);
        assert_eq!(seen.reopens, self.reopens);
        let left = (self.state == State::Open).then(|| self.since.after(self.wait).since(now));
        assert_eq!(seen.retry_after, left);
        let last = seen.last.map(|it| (it.from, it.to, it.rule));
        assert_eq!(last, self.moves.last().copied());
    }
}
