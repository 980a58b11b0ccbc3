use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;
use tokio::sync::RwLock;
use tokio::task::JoinSet;

use crate::size::soak;
use crate::traffic::{Books, Seen, Visitor};
use crate::world::{ORDERS, World, state};

const CLIENTS: u32 = 8;
const FLAPS: u32 = 6;
const SPELL: Duration = Duration::from_millis(200);
const MOMENT: Duration = Duration::from_millis(10);
const PROBES: u64 = 3;
/// Failures in a row that open it.
const FAILURES: u64 = 4;

/// Clients that send one request after the other until they are told to stop.
struct Load {
    pace: Arc<Pace>,
    clients: JoinSet<Result<Books>>,
}

#[derive(Default)]
struct Pace {
    /// Read by a client for each of its requests: who writes it knows that none is under way.
    traffic: RwLock<()>,
    admitted: AtomicU64,
    is_over: AtomicBool,
}

impl Load {
    fn start(world: &World) -> Self {
        let mut load = Self { pace: Arc::default(), clients: JoinSet::new() };
        for number in 0..CLIENTS {
            let mut visitor = Visitor::new(world.client, number % 2 == 0);
            let pace = Arc::clone(&load.pace);
            load.clients.spawn(async move {
                let mut books = Books::default();
                while !pace.is_over.load(Ordering::Relaxed) {
                    let _under_way = pace.traffic.read().await;
                    let seen = Seen::of(&visitor.get("/orders").await?)?;
                    pace.admitted.fetch_add(u64::from(!seen.is_rejection()), Ordering::Relaxed);
                    books.note(ORDERS, seen);
                }
                Ok(books)
            });
        }
        load
    }

    /// What the breaker has done so far, given that no request is under way.
    async fn rest(&self, world: &World) -> Result<Rest> {
        let metrics = world.recorded(ORDERS, self.pace.admitted.load(Ordering::Relaxed)).await?;
        Ok(Rest {
            state: state(&metrics, ORDERS)?,
            calls: metrics.sum("breakerbox_calls", &[("breaker", ORDERS)]),
            half_opens: metrics.moves(ORDERS, "open", "half_open"),
            closes: metrics.moves(ORDERS, "half_open", "closed"),
        })
    }

    async fn end(self) -> Result<Books> {
        self.pace.is_over.store(true, Ordering::Relaxed);
        Books::collect(self.clients).await
    }
}

struct Rest {
    state: &'static str,
    calls: u64,
    half_opens: u64,
    closes: u64,
}

#[tokio::test]
async fn a_breaker_follows_an_upstream_that_flaps_and_probes_no_more_than_it_may() -> Result<()> {
    let mut world = World::start(&json!({
        "consecutive_failures": FAILURES, "wait_in_open": "20ms", "half_open_calls": PROBES,
        "half_open_policy": "all_must_succeed",
    }))
    .await?;
    let load = Load::start(&world);
    world.recorded(ORDERS, 1).await?;
    let mut probed = 0;
    for flap in 0..FLAPS * soak() {
        // Down: it answers with errors, or not at all.
        let resting = load.pace.traffic.write().await;
        let before = load.rest(&world).await?;
        if flap % 2 == 0 {
            world.orders.on("/orders", Answer::Status(500));
        } else {
            world.orders.stop_listening().await;
        }
        drop(resting);
        tokio::time::sleep(SPELL).await;
        world.moved(ORDERS, "open", "half_open", before.half_opens + 2).await?;

        // Up, for as long as it takes to close, or each third time for a moment.
        let resting = load.pace.traffic.write().await;
        let after = load.rest(&world).await?;
        world.orders.on("/orders", Answer::Status(200));
        world.orders.listen()?;
        drop(resting);
        let half_opens = after.half_opens - before.half_opens;
        // While it was closed it let through what opened it, and what came before that was known.
        let earlier = match before.state {
            "closed" => FAILURES - 1 + u64::from(CLIENTS),
            "half_open" => PROBES,
            _ => 0,
        };
        let calls = after.calls - before.calls;
        assert!(calls <= earlier + PROBES * half_opens, "{calls} calls in {half_opens} half-opens");
        assert_eq!(after.closes, before.closes);
        probed += half_opens;
        if flap % 3 == 1 {
            tokio::time::sleep(MOMENT).await;
        } else {
            world.moved(ORDERS, "half_open", "closed", after.closes + 1).await?;
            tokio::time::sleep(SPELL).await;
        }
    }

    let books = load.end().await?;
    let metrics = world.recorded(ORDERS, books.admitted(ORDERS)).await?;
    books.assert_agree(&metrics, ORDERS)?;
    assert_eq!(state(&metrics, ORDERS)?, "closed");
    println!("flapping: {probed} half-opens while it was down, {books:?}");
    Ok(())
}
