use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use breakerbox_host::envoy::{Metrics, Update};
use breakerbox_host::upstream::Answer;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::size::soak;
use crate::traffic::{Books, Seen, Visitor};
use crate::world::{CATALOG, ORDERS, PATIENCE, Setup, calls, state};

const CLIENTS: u32 = 8;
const UPDATES: u32 = 6;
/// Probes in each half-open of the breaker that probes all the time.
const PROBES: u64 = 3;
/// A route whose breaker counts, and does not open.
const RETURNS: &str = "returns";

/// One of many configurations. They differ in thresholds, and in a window that is none of the traffic's.
fn configuration(edition: u32) -> Value {
    let threshold = 50 + edition % 50;
    json!({
        "default": { "failure_rate_threshold": threshold },
        "breakers": {
            ORDERS: { "consecutive_failures": 4, "wait_in_open": "1h" },
            CATALOG: { "consecutive_failures": 4, "wait_in_open": "5ms", "half_open_calls": PROBES },
            RETURNS: { "window_type": "time", "window_size": 600, "minimum_calls": 1_000_000 },
            "spare": { "window_size": 10 + edition },
        },
    })
}

#[tokio::test]
async fn updates_under_load_fail_no_request_and_move_no_breaker() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.add_route(json!({
        "name": RETURNS, "match": { "prefix": "/returns" }, "route": { "cluster": CATALOG },
    }))?;
    setup.bootstrap.configure_filter(&configuration(0).to_string())?;
    let mut world = setup.start().await?;
    world.catalog.on("/catalog", Answer::Status(500));
    world.catalog.on("/returns", Answer::Status(500));
    world.open_orders(4).await?;
    let end = world.end_of_wait().await?;

    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (client, is_over) = (world.client, Arc::clone(&is_over));
        clients.spawn(async move {
            // Who keeps a connection stays under the configuration that it began with.
            let mut visitor = Visitor::new(client, number % 2 == 0);
            let mut books = Books::default();
            while !is_over.load(Ordering::Relaxed) {
                for (breaker, path) in [(CATALOG, "/catalog"), (ORDERS, "/orders"), (RETURNS, "/returns")] {
                    books.note(breaker, Seen::of(&visitor.get(path).await?)?);
                }
            }
            anyhow::Ok(books)
        });
    }
    let mut least = 0;
    for edition in 1..=UPDATES * soak() {
        assert_eq!(world.configure(&configuration(edition)).await?, Update::Applied);
        // Until old and new have probed side by side.
        least = world.envoy.metrics().await?.moves(CATALOG, "open", "half_open") + 10;
        world.moved(CATALOG, "open", "half_open", least).await?;
        let same_end = world.end_of_wait().await?;
        assert!(end.0 <= same_end.1 && same_end.0 <= end.1, "{end:?} {same_end:?}");
    }
    is_over.store(true, Ordering::Relaxed);
    let books = Books::collect(clients).await?;
    assert_eq!(books.all(|seen| matches!(seen, Seen::Down | Seen::Error(_))), 0, "{books:?}");
    assert_eq!((world.orders.hits("/orders"), books.admitted(ORDERS)), (4, 0));
    assert_eq!(world.state(ORDERS).await?, "open");

    let probes = world.catalog.hits("/catalog");
    let metrics = world.recorded(CATALOG, probes).await?;
    books.assert_agree(&metrics, CATALOG)?;
    let half_opens = metrics.moves(CATALOG, "open", "half_open");
    assert!(half_opens >= least, "{half_opens} of {least}");
    // All fail. Before it opened, those that were under way when it did may have come to the four.
    let (failed, stale) = (calls(&metrics, CATALOG, "failed"), calls(&metrics, CATALOG, "stale"));
    assert!(stale < u64::from(CLIENTS), "{metrics}");
    assert_eq!(failed + stale, probes);
    let probes = failed - 4;
    println!("updates: {} of them, {probes} probes in {half_opens} half-opens", UPDATES * soak());
    // Each half-open but perhaps the last had all of its probes.
    assert!((PROBES * (half_opens - 1)..=PROBES * half_opens).contains(&probes), "{metrics}");

    // What was counted is counted still, in the window too.
    let hits = world.catalog.hits("/returns");
    let shown = |metrics: &Metrics| {
        metrics.sum("breakerbox_buffered_calls", &[("breaker", RETURNS), ("kind", "failed")]) == hits
    };
    let metrics = world.envoy.wait_for_metrics(shown, PATIENCE).await?;
    assert_eq!((calls(&metrics, RETURNS, "failed"), state(&metrics, RETURNS)?), (hits, "closed"));
    Ok(())
}
