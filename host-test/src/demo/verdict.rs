use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::traffic::Tally;
use super::{CATALOG, ORDERS};

/// What the demo has measured, from its beginning to its end.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// From the upstream's failure to the breaker's opening.
    pub(super) opened_after: Duration,
    /// From the upstream's recovery to the breaker's closing.
    pub(super) closed_after: Duration,
    /// What the failing route's client sent and got while its upstream failed.
    pub(super) outage: Tally,
    /// Requests that reached the failing upstream before the breaker opened, and after.
    pub(super) hits_before_open: u64,
    pub(super) hits_of_probes: u64,
    /// How often the breaker let probes through and opened again, as they failed.
    pub(super) reopened: u64,
    /// The probes of one such time, as configured.
    pub(super) half_open_calls: u64,
    /// The failing route over the whole time, and how many of its requests reached the upstream.
    pub(super) orders: Tally,
    pub(super) orders_hits: u64,
    /// The failing route after its breaker closed.
    pub(super) healed: Tally,
    /// The other route over the whole time, and the transitions of its breaker.
    pub(super) catalog: Tally,
    pub(super) catalog_transitions: u64,
}

impl Facts {
    /// Checks what must be true of a breaker, whatever the machine's speed.
    pub(super) fn check(&self) -> Result<()> {
        let Self { orders, catalog, outage, healed, .. } = self;
        let probes = self.reopened * self.half_open_calls;
        ensure!(
            self.hits_of_probes == probes,
            "the open breaker of {ORDERS} let {} requests through, not the {probes} probes that it may ({} a time)",
            self.hits_of_probes,
            self.half_open_calls
        );
        ensure!(outage.rejected > 0, "the open breaker of {ORDERS} rejected nothing");
        ensure!(
            orders.sent - orders.rejected == self.orders_hits,
            "{} requests of {ORDERS} were not rejected, yet {} reached its upstream",
            orders.sent - orders.rejected,
            self.orders_hits
        );
        ensure!(
            healed.failed == 0 && healed.rejected == 0,
            "after its breaker had closed, {} requests of {ORDERS} failed and {} were rejected",
            healed.failed,
            healed.rejected
        );
        ensure!(
            self.catalog_transitions == 0,
            "the breaker of {CATALOG}, whose upstream never failed, did not stay closed"
        );
        ensure!(
            catalog.failed == 0 && catalog.rejected == 0,
            "of {CATALOG}, whose upstream never failed, {} requests failed and {} were rejected",
            catalog.failed,
            catalog.rejected
        );
        Ok(())
    }

    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        let hits = self.hits_before_open + self.hits_of_probes;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n{ORDERS}: the breaker opened {:.1} s after the upstream began to fail, and closed {:.1} s after it had recovered.\n\
             \x20 While the upstream failed there were {} requests:\n\
             \x20 {hits:>6} reached it: {} before the breaker opened, and {} probes, {} at a time\n\
             \x20 {:>6} were answered at once by the breaker\n\
             \x20 Without breakerbox all {} would have reached it.\n",
            self.opened_after.as_secs_f64(),
            self.closed_after.as_secs_f64(),
            self.outage.sent,
            self.hits_before_open,
            self.hits_of_probes,
            self.half_open_calls,
            self.outage.rejected,
            self.outage.sent,
        );
        let Tally { sent, failed, rejected, .. } = self.catalog;
        let _ = write!(
            text,
            "{CATALOG}: {sent} requests, {failed} failed, {rejected} rejected; its breaker stayed closed."
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        let outage = Tally { sent: 400, ok: 0, failed: 13, rejected: 387 };
        Facts {
            opened_after: Duration::from_millis(300),
            closed_after: Duration::from_secs(4),
            outage,
            hits_before_open: 10,
            hits_of_probes: 3,
            reopened: 1,
            half_open_calls: 3,
            orders: Tally { sent: 900, ok: 340, failed: 13, rejected: 547 },
            orders_hits: 353,
            healed: Tally { sent: 160, ok: 160, failed: 0, rejected: 0 },
            catalog: Tally { sent: 900, ok: 900, failed: 0, rejected: 0 },
            catalog_transitions: 0,
        }
    }

    #[track_caller]
    fn assert_refused(spoil: impl FnOnce(&mut Facts), complaint: &str) {
        let mut facts = good();
        spoil(&mut facts);
        let error = facts.check().unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }

    #[test]
    fn a_breaker_that_does_as_it_must_passes() {
        good().check().unwrap();
    }

    #[test]
    fn a_breaker_that_does_not_is_told_why() {
        assert_refused(|facts| facts.hits_of_probes = 6, "let 6 requests through, not the 3 probes");
        assert_refused(|facts| facts.outage.rejected = 0, "rejected nothing");
        assert_refused(|facts| facts.orders_hits = 360, "yet 360 reached its upstream");
        assert_refused(|facts| facts.healed.rejected = 2, "2 were rejected");
        assert_refused(|facts| facts.catalog_transitions = 1, "did not stay closed");
        assert_refused(|facts| facts.catalog.failed = 1, "1 requests failed");
    }
}
