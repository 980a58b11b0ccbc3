use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::guests::CRASHING_FILTER_WASM;
use breakerbox_host::upstream::Answer;
use hyper::Method;
use hyper::header::HeaderValue;
use serde_json::json;
use tokio::task::JoinSet;

use crate::size::soak;
use crate::traffic::{Books, Seen, Visitor};
use crate::world::{CATALOG, ORDERS, PATIENCE, Setup, World, calls, state, wait_in_open};

const CLIENTS: u64 = 12;
const SHARE: u64 = 250;
const CRASHES: u64 = 5;
const POLL: Duration = Duration::from_millis(2);

/// An Envoy whose filter crashes when a request that gets a permit says so, and starts again at once.
async fn start() -> Result<World> {
    let failures = CLIENTS * SHARE * u64::from(soak());
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "breakers": {
            // Opens when as many calls have failed as the clients will make.
            ORDERS: {
                "window_type": "time", "window_size": 600, "minimum_calls": failures,
                "wait_in_open": "500ms", "half_open_calls": 3,
            },
            CATALOG: { "consecutive_failures": 1, "wait_in_open": "1h" },
        },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    setup.bootstrap.use_filter(Path::new(CRASHING_FILTER_WASM))?;
    setup.bootstrap.filter()?["reload_config"] =
        json!({ "backoff": { "base_interval": "0.005s", "max_interval": "0.01s" } });
    setup.start().await
}

/// Crashes the VM of one worker or the other, so many times, and waits after each for more of the load.
async fn crash(world: &World, answered: &AtomicU64) -> Result<()> {
    let crashes = CRASHES * u64::from(soak());
    let pause = CLIENTS * SHARE / (CRASHES + 1);
    for crash in 1..=crashes {
        while answered.load(Ordering::Relaxed) < crash * pause {
            tokio::time::sleep(POLL).await;
        }
        let mut request = world.client.request(Method::GET, "/orders")?;
        request.headers_mut().insert("x-breakerbox-crash", HeaderValue::from_static("now"));
        assert_eq!(Seen::of(&world.client.send(request).await?)?, Seen::Down);
    }
    Ok(())
}

/// How many VMs have crashed.
fn crashes(world: &World) -> u64 {
    world.envoy.log().lines().iter().map(|line| u64::from(line.contains("told to crash"))).sum()
}

#[tokio::test]
async fn crashes_under_load_lose_no_more_than_was_under_way_in_that_vm() -> Result<()> {
    let world = Arc::new(start().await?);
    world.orders.on("/orders", Answer::Status(500));
    world.catalog.on("/catalog", Answer::Status(500));
    assert_eq!(world.client.get("/catalog").await?.status, 500);
    world.moved(CATALOG, "closed", "open", 1).await?;

    let answered = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (world, answered) = (Arc::clone(&world), Arc::clone(&answered));
        clients.spawn(async move {
            let mut visitor = Visitor::new(world.client, number.is_multiple_of(2));
            let mut books = Books::default();
            for nth in 0..SHARE * u64::from(soak()) {
                let (breaker, path) = if nth % 8 == 0 { (CATALOG, "/catalog") } else { (ORDERS, "/orders") };
                books.note(breaker, Seen::of(&visitor.get(path).await?)?);
                answered.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(books)
        });
    }
    let (books, ()) = tokio::try_join!(Books::collect(clients), crash(&world, &answered))?;
    // The breaker that was open stayed open.
    assert_eq!(world.catalog.hits("/catalog"), 1);
    assert_eq!(books.count(CATALOG, |seen| !seen.is_rejection() && *seen != Seen::Down), 0, "{books:?}");
    // Of the other what was counted is still counted, in the metric and in the window alike. What was under way in a VM
    // that crashed is not, and has Envoy's answer: of each client one call at most.
    let hits = world.orders.hits("/orders");
    let answers = books.count(ORDERS, |seen| *seen == Seen::Answered(500));
    let shown = |metrics: &Metrics| {
        let labels = [("breaker", ORDERS), ("kind", "failed")];
        let failed = calls(metrics, ORDERS, "failed");
        let lost = CLIENTS * crashes(&world);
        hits <= failed + lost && metrics.sum("breakerbox_buffered_calls", &labels) == failed
    };
    let metrics = world.envoy.wait_for_metrics(shown, PATIENCE).await?;
    let failed = calls(&metrics, ORDERS, "failed");
    let crashes = crashes(&world);
    assert!(crashes > 0);
    assert!((hits - CLIENTS * crashes..=hits).contains(&answers), "{hits} hits, {answers} answers");
    println!("crashes: {crashes} of them; {hits} hits, {} not counted; {books:?}", hits - failed);
    assert!(failed <= hits);
    assert_eq!(state(&metrics, ORDERS)?, "closed");

    // And it opens and recovers as ever.
    let missing = CLIENTS * SHARE * u64::from(soak()) - failed;
    for _ in 0..missing {
        assert_eq!(Seen::of(&world.client.get("/orders").await?)?, Seen::Answered(500));
    }
    world.moved(ORDERS, "closed", "open", 1).await?;
    assert!(Seen::of(&world.client.get("/orders").await?)?.is_rejection());
    world.orders.on("/orders", Answer::Status(200));
    wait_in_open(500).await;
    for _ in 0..3 {
        assert_eq!(Seen::of(&world.client.get("/orders").await?)?, Seen::Answered(200));
    }
    world.moved(ORDERS, "half_open", "closed", 1).await?;
    Ok(())
}
