use std::time::{Duration, Instant};

use anyhow::Result;
use breakerbox_host::envoy::{Envoy, Metrics};
use tokio::time::{Interval, MissedTickBehavior};

use super::screen::{Cell, Screen};
use super::traffic::{Tally, Traffic};
use super::{CATALOG, ORDERS};

const FRAME: Duration = Duration::from_millis(100);
const ROW: Duration = Duration::from_secs(1);

/// Shows what happens while it happens: a row a second, and what breakers say in between.
pub(super) struct Timeline<'a> {
    envoy: &'a Envoy,
    orders: &'a Traffic,
    catalog: &'a Traffic,
    screen: &'a mut Screen,
    start: Instant,
    frames: Interval,
    /// The next line of Envoy's log to look at.
    next_line: usize,
    row_start: Duration,
    at_row_start: [Tally; 2],
}

impl<'a> Timeline<'a> {
    pub(super) fn new(
        envoy: &'a Envoy,
        orders: &'a Traffic,
        catalog: &'a Traffic,
        screen: &'a mut Screen,
    ) -> Self {
        screen.table_head([ORDERS, CATALOG]);
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self {
            envoy,
            orders,
            catalog,
            screen,
            start: Instant::now(),
            frames,
            next_line: 0,
            row_start: Duration::ZERO,
            at_row_start: [Tally::default(); 2],
        }
    }

    /// How long it has been going on.
    pub(super) fn time(&self) -> Duration {
        self.start.elapsed()
    }

    /// Says what we do to an upstream.
    pub(super) fn act(&mut self, text: &str) {
        self.screen.act(self.time(), text);
    }

    /// Goes on for this long.
    pub(super) async fn go_on(&mut self, duration: Duration) -> Result<()> {
        self.go_on_until(duration, |_| false).await.map(|_| ())
    }

    /// Goes on until Envoy's metrics are as the condition asks for, and returns them; `None` if that takes too long.
    pub(super) async fn go_on_until(
        &mut self,
        limit: Duration,
        condition: impl Fn(&Metrics) -> bool,
    ) -> Result<Option<Metrics>> {
        let deadline = self.time() + limit;
        loop {
            self.frames.tick().await;
            let metrics = self.envoy.metrics().await?;
            self.show(&metrics);
            if condition(&metrics) {
                return Ok(Some(metrics));
            }
            if self.time() >= deadline {
                return Ok(None);
            }
        }
    }

    fn show(&mut self, metrics: &Metrics) {
        let time = self.time();
        let lines = self.envoy.log().lines();
        for line in lines.iter().skip(self.next_line) {
            if let Some(said) = said_by_a_breaker(line) {
                self.screen.event(time, said);
            }
        }
        self.next_line = lines.len();

        let now = [self.orders.tally(), self.catalog.tally()];
        let [orders, catalog] = self.at_row_start;
        let cells = [(ORDERS, now[0] - orders), (CATALOG, now[1] - catalog)]
            .map(|(route, calls)| Cell { breaker: metrics.state(route).unwrap_or("-"), calls });
        if time < self.row_start + ROW {
            self.screen.unfinished_row(time, &cells);
        } else {
            self.screen.row(time, &cells);
            self.row_start += ROW;
            self.at_row_start = now;
        }
    }
}

/// The text of a line in which the filter tells of a breaker's transition, such as `"orders" closed -> open: ...`.
fn said_by_a_breaker(line: &str) -> Option<&str> {
    let (_, text) = line.split_once(" breakerbox: \"")?;
    // With the quote that begins the breaker's name.
    let start = line.len() - text.len() - 1;
    text.contains(" -> ").then(|| line.get(start..)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_are_told_from_other_lines() {
        let line = "[info][wasm] wasm log breakerbox breakerbox: breakerbox: \"orders\" closed -> open: why";
        assert_eq!(said_by_a_breaker(line), Some("\"orders\" closed -> open: why"));
        assert_eq!(said_by_a_breaker("[info][wasm] wasm log breakerbox: breakerbox 0.1.0"), None);
        assert_eq!(said_by_a_breaker("[warning][main] a -> b"), None);
    }
}
