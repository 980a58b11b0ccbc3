use core::time::Duration;

use crate::window::Counts;
use crate::{Hundredths, Mark, Rule, Rules, Slot, State, Transition, window};

impl Slot<'_> {
    /// Moves along the table and starts a generation, or does nothing where the rule does not apply.
    pub(crate) fn enter(&mut self, rules: &Rules, rule: Rule, now: Mark) -> Option<Transition> {
        let from = self.header.state();
        // Of two editions the later one decides where a reset leads, too.
        let enabled = if self.header.revision.get() > rules.revision() {
            self.header.enabled == 1
        } else {
            rules.settings().enabled
        };
        let to = from.next(rule, enabled)?;
        let counts = match from {
            State::Closed => window::counts_at(self.header, self.body, now),
            _ => Counts::of(self.header),
        };
        let threshold = threshold_of(rule, rules);
        // After the last comes the first: were it to stay, outcomes of one life would count in the next.
        let generation = self.header.generation.get().checked_add(1).unwrap_or(1);
        self.see(now);
        let header = &mut *self.header;
        header.state = to as u8;
        header.generation = generation.into();
        header.entered_at = now.nanos().into();
        header.consecutive = 0.into();
        header.probes_out = 0.into();
        header.tickets_issued = 0.into();
        header.last_rule = rule as u8;
        header.last_from = from as u8;
        header.last_calls = counts.calls.into();
        header.last_failed = counts.failed.into();
        header.last_slow = counts.slow.into();
        header.last_threshold = threshold.0.into();
        let mut wait = 0;
        match to {
            State::Open => {
                let reopens =
                    if from == State::HalfOpen { header.reopens.get().saturating_add(1) } else { 0 };
                wait = rules.wait_in_open(reopens, generation, now);
                header.reopens = reopens.into();
                header.open_until = now.plus(wait).nanos().into();
            }
            State::HalfOpen => Counts::default().store(header),
            State::Closed | State::ForcedOpen | State::Disabled => {
                header.reopens = 0.into();
                window::clear(header, self.body, now);
            }
        }
        let wait = Duration::from_nanos(wait);
        let Counts { calls, failed, slow } = counts;
        Some(Transition { from, to, rule, generation, at: now, calls, failed, slow, threshold, wait })
    }
}

fn threshold_of(rule: Rule, rules: &Rules) -> Hundredths {
    match rule {
        Rule::FailureRate => rules.settings().failure_rate_threshold,
        Rule::SlowCallRate => rules.settings().slow_call_rate_threshold,
        Rule::ConsecutiveFailures => {
            Hundredths(rules.settings().consecutive_failures.unwrap_or(0).saturating_mul(100))
        }
        _ => Hundredths(0),
    }
}
