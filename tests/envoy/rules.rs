use std::time::Duration;

use anyhow::Result;
use breakerbox_host::upstream::{Answer, Behaviour};
use serde_json::json;

use crate::world::{CATALOG, Counts, ORDERS, World, calls, state};

#[tokio::test]
async fn a_call_is_slow_by_its_headers_and_not_by_its_body() -> Result<()> {
    const DELAY: Duration = Duration::from_millis(1200);
    let world = World::start(&json!({
        "window_size": 4, "minimum_calls": 4, "slow_call_duration": "1s", "slow_call_rate_threshold": 100,
        "wait_in_open": "1m",
    }))
    .await?;
    world.catalog.on("/catalog", Answer::SlowBody(DELAY));
    let replies = world.client.get_many(4, "/catalog").await?;
    assert!(replies.iter().all(|reply| reply.status == 200 && !reply.cut_short), "{replies:?}");
    let metrics = world.recorded(CATALOG, 4).await?;
    assert_eq!(state(&metrics, CATALOG)?, "closed");

    world.orders.on("/orders", Behaviour::from(Answer::Status(200)).after(DELAY));
    let replies = world.client.get_many(4, "/orders").await?;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    let metrics = world.moved(ORDERS, "closed", "open", 1).await?;
    let labels = [("breaker", ORDERS), ("reason", "slow_call_rate")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);
    Ok(())
}

#[tokio::test]
async fn consecutive_failures_open_it_and_a_success_starts_their_count_again() -> Result<()> {
    let world = World::start(&json!({ "consecutive_failures": 3, "wait_in_open": "1m" })).await?;
    for status in [500, 500, 200, 500, 500] {
        let expected = if status == 200 { Counts::SUCCESSFUL } else { Counts::FAILED };
        world.orders.on("/orders", Answer::Status(status));
        let before = world.counts(ORDERS).await?;
        assert_eq!(world.client.get("/orders").await?.status, status);
        assert_eq!(world.news(before).await?, expected);
    }
    assert_eq!(world.state(ORDERS).await?, "closed");
    world.open_orders(1).await?;
    let metrics = world.envoy.metrics().await?;
    let labels = [("breaker", ORDERS), ("reason", "consecutive_failures")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);
    Ok(())
}

#[tokio::test]
async fn failures_further_apart_than_a_time_window_do_not_open_it() -> Result<()> {
    let world = World::start(&json!({
        "window_type": "time", "window_size": 3, "minimum_calls": 3, "wait_in_open": "1m",
    }))
    .await?;
    world.orders.on("/orders", Answer::Status(500));
    for _ in 0..2 {
        assert_eq!(world.client.get("/orders").await?.status, 500);
    }
    world.recorded(ORDERS, 2).await?;
    tokio::time::sleep(Duration::from_millis(3100)).await;
    for _ in 0..2 {
        assert_eq!(world.client.get("/orders").await?.status, 500);
    }
    let metrics = world.recorded(ORDERS, 4).await?;
    assert_eq!(state(&metrics, ORDERS)?, "closed");
    // The third within three seconds.
    world.open_orders(1).await?;
    Ok(())
}

#[tokio::test]
async fn a_breaker_that_is_not_enabled_rejects_nothing_and_records_nothing() -> Result<()> {
    let world = World::start(&json!({ "enabled": false, "consecutive_failures": 2 })).await?;
    world.orders.on("/orders", Answer::Status(500));
    let replies = world.client.get_many(20, "/orders").await?;
    assert!(replies.iter().all(|reply| reply.status == 500), "{replies:?}");
    assert_eq!(world.orders.hits("/orders"), 20);
    let metrics = world.recorded(ORDERS, 20).await?;
    assert_eq!((state(&metrics, ORDERS)?, calls(&metrics, ORDERS, "ignored")), ("disabled", 20));
    assert_eq!(metrics.sum("breakerbox_transitions", &[("breaker", ORDERS)]), 0);
    Ok(())
}
