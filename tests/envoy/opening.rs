use anyhow::Result;
use breakerbox_host::upstream::{Answer, Behaviour, Gate};
use serde_json::{Value, json};

use crate::world::{CATALOG, ORDERS, PATIENCE, Rejection, World, calls, state};

fn opens_at_ten() -> Value {
    json!({ "window_size": 10, "minimum_calls": 10, "wait_in_open": "1m" })
}

#[tokio::test]
async fn after_the_failures_that_open_it_nothing_reaches_the_upstream_through_any_worker() -> Result<()> {
    let world = World::start(&opens_at_ten()).await?;
    world.open_orders(10).await?;

    let replies = world.client.get_many(100, "/orders").await?;
    assert!(replies.iter().all(|reply| Rejection::reason(reply).as_deref() == Some("open")), "{replies:?}");
    assert_eq!(world.orders.hits("/orders"), 10);

    let metrics = world.envoy.metrics().await?;
    assert_eq!(state(&metrics, ORDERS)?, "open");
    assert_eq!(calls(&metrics, ORDERS, "failed"), 10);
    assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &[("breaker", ORDERS)]), 100);
    for worker in world.envoy.connections_by_worker().await? {
        assert!(worker > 0, "a worker had nothing to do, so this test shows nothing");
    }
    Ok(())
}

#[tokio::test]
async fn no_failure_is_lost_however_busy_the_workers_are() -> Result<()> {
    let world = World::start(&json!({ "window_size": 3000, "minimum_calls": 3000 })).await?;
    world.orders.on("/orders", Answer::Status(500));
    world.hammer("/orders", 24, 125).await?;
    let metrics = world.moved(ORDERS, "closed", "open", 1).await?;
    assert_eq!((world.orders.hits("/orders"), calls(&metrics, ORDERS, "failed")), (3000, 3000));
    Ok(())
}

#[tokio::test]
async fn other_routes_are_untouched() -> Result<()> {
    let world = World::start(&opens_at_ten()).await?;
    world.open_orders(10).await?;

    let replies = world.client.get_many(50, "/catalog").await?;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    assert_eq!(world.catalog.hits("/catalog"), 50);
    let metrics = world.recorded(CATALOG, 50).await?;
    assert_eq!(calls(&metrics, CATALOG, "successful"), 50);
    assert_eq!(state(&metrics, CATALOG)?, "closed");
    Ok(())
}

#[tokio::test]
async fn failures_that_come_in_together_open_it_once_and_those_too_late_are_stale() -> Result<()> {
    let world = World::start(&opens_at_ten()).await?;
    let gate = Gate::new();
    world.orders.on("/orders", Behaviour::from(Answer::Status(500)).held_by(&gate));
    let client = world.client;
    let requests = tokio::spawn(async move { client.get_many(30, "/orders").await });
    world.orders.wait_for("/orders", |traffic| traffic.waiting == 30, PATIENCE).await?;
    gate.open();
    let replies = requests.await??;
    assert!(replies.iter().all(|reply| reply.status == 500), "{replies:?}");

    let metrics = world.recorded(ORDERS, 30).await?;
    assert_eq!((calls(&metrics, ORDERS, "failed"), calls(&metrics, ORDERS, "stale")), (10, 20));
    assert_eq!(metrics.sum("breakerbox_transitions", &[("breaker", ORDERS)]), 1);
    assert_eq!(state(&metrics, ORDERS)?, "open");
    Ok(())
}
