use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;
use tokio::task::JoinSet;

use crate::samples::Samples;
use crate::size::soak;
use crate::traffic::{Seen, Visitor};
use crate::world::{ORDERS, World};

const CLIENTS: u64 = 8;
/// Of all clients together. `SOAK=20` makes it a million.
const REQUESTS: u64 = 50_000;
const SAMPLES: u64 = 20;
const POLL: Duration = Duration::from_millis(5);

#[tokio::test]
async fn memory_does_not_grow_with_requests() -> Result<()> {
    let world = World::start(&json!({
        "window_size": 20, "minimum_calls": 10, "wait_in_open": "10ms", "half_open_calls": 3,
        "slow_call_duration": "5s",
    }))
    .await?;
    world.orders.on("/orders/broken", Answer::Status(500));
    let total = REQUESTS * u64::from(soak());
    let sent = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (client, sent) = (world.client, Arc::clone(&sent));
        clients.spawn(async move {
            // One of them has a new connection for each.
            let mut visitor = Visitor::new(client, number > 0);
            loop {
                let nth = sent.fetch_add(1, Ordering::Relaxed);
                if nth >= total {
                    return anyhow::Ok(());
                }
                // A route that is always healthy, and one that fails now and then.
                let path = match nth % 4 {
                    0 => "/catalog",
                    _ if (nth / 1000) % 2 == 1 => "/orders/broken",
                    _ => "/orders",
                };
                Seen::of(&visitor.get(path).await?)?;
            }
        });
    }
    let mut samples = Samples::default();
    for sample in 1..=SAMPLES {
        let due = total * sample / SAMPLES;
        while sent.load(Ordering::Relaxed) < due {
            // One that has ended has failed.
            if let Some(ended) = clients.try_join_next() {
                ended??;
            }
            tokio::time::sleep(POLL).await;
        }
        samples.take(&world.envoy, sent.load(Ordering::Relaxed))?;
    }
    clients.join_all().await.into_iter().collect::<Result<()>>()?;
    let metrics = world.envoy.metrics().await?;
    let (opened, closed) =
        (metrics.moves(ORDERS, "closed", "open"), metrics.moves(ORDERS, "half_open", "closed"));
    println!("memory: {total} requests, opened {opened} times, {samples}");
    assert!(opened > 0 && closed > 0, "{metrics}");
    assert!(samples.are_flat(), "{samples}");
    Ok(())
}
