//! A component with breakerbox's exports and nothing behind them, to compare one that has something behind them.

mod bindings;

use bindings::exports::breakerbox::breaker::breakers::{self, RestoreError};
use bindings::exports::breakerbox::breaker::settings::{self, Problem, Settings};
use bindings::exports::breakerbox::breaker::types::{
    Decision, EventBatch, Outcome, Permit, Receipt, Snapshot, State,
};

struct Component;

struct Empty;

impl settings::Guest for Component {
    fn parse_settings(_: String) -> Result<Settings, Vec<Problem>> {
        Err(Vec::new())
    }
}

impl breakers::Guest for Component {
    type Breaker = Empty;
}

impl breakers::GuestBreaker for Empty {
    fn new(_: Settings, _: u64) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }

    fn acquire(&self, now: u64) -> Decision {
        Decision::Admitted(Permit { generation: 1, ticket: 0, admitted_at: now })
    }

    fn record(&self, _: Permit, _: Outcome, _: u64) -> Receipt {
        Receipt::Counted
    }

    fn snapshot(&self, _: u64) -> Snapshot {
        Snapshot {
            state: State::Closed,
            generation: 1,
            since: 0,
            failure_rate: None,
            slow_call_rate: None,
            calls: 0,
            failed: 0,
            slow: 0,
            consecutive_failures: 0,
            probes_out: 0,
            retry_after: None,
            reopens: 0,
            last: None,
        }
    }

    fn force_open(&self, _: u64) {}

    fn disable(&self, _: u64) {}

    fn reset(&self, _: u64) {}

    fn take_events(&self) -> EventBatch {
        EventBatch { events: Vec::new(), dropped: 0 }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(_: Settings, _: Vec<u8>, _: u64) -> Result<breakers::Breaker, RestoreError> {
        Ok(breakers::Breaker::new(Self))
    }
}
