use anyhow::Result;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::Answer;
use serde_json::json;

use crate::world::{ORDERS, PATIENCE, Setup, World};

fn value(metrics: &Metrics, name: &str, labels: &[(&str, &str)]) -> Option<u64> {
    let labels: Vec<_> = [("breaker", ORDERS)].into_iter().chain(labels.iter().copied()).collect();
    metrics.matching(name, &labels).next().map(|sample| sample.value)
}

#[tokio::test]
async fn gauges_show_the_window_and_its_rates() -> Result<()> {
    let world = World::start(&json!({
        "window_size": 8, "minimum_calls": 4, "failure_rate_threshold": 90,
        "slow_call_duration": "1h", "slow_call_rate_threshold": 90,
    }))
    .await?;
    let shows = |successful, failed, rate| {
        move |metrics: &Metrics| {
            value(metrics, "breakerbox_buffered_calls", &[("kind", "successful")]) == Some(successful)
                && value(metrics, "breakerbox_buffered_calls", &[("kind", "failed")]) == Some(failed)
                && value(metrics, "breakerbox_failure_rate", &[]) == Some(rate)
                && value(metrics, "breakerbox_slow_call_rate", &[]) == Some(0)
        }
    };
    world.orders.on("/orders/broken", Answer::Status(500));
    for path in ["/orders", "/orders/broken"] {
        world.client.get(path).await?;
    }
    // Too few for a rate.
    world.envoy.wait_for_metrics(shows(1, 1, 0), PATIENCE).await?;
    for path in ["/orders", "/orders", "/orders/broken", "/orders"] {
        world.client.get(path).await?;
    }
    world.envoy.wait_for_metrics(shows(4, 2, 33), PATIENCE).await?;
    world.client.get_many(16, "/orders").await?;
    world.envoy.wait_for_metrics(shows(8, 0, 0), PATIENCE).await?;
    Ok(())
}

#[tokio::test]
async fn the_gauges_of_a_time_window_fade_without_calls() -> Result<()> {
    let world = World::start(&json!({ "window_type": "time", "window_size": 2 })).await?;
    world.orders.on("/orders", Answer::Status(500));
    let failed = |calls| {
        move |metrics: &Metrics| {
            value(metrics, "breakerbox_buffered_calls", &[("kind", "failed")]) == Some(calls)
        }
    };
    for _ in 0..3 {
        world.client.get("/orders").await?;
    }
    world.envoy.wait_for_metrics(|metrics| !failed(0)(metrics), PATIENCE).await?;
    world.envoy.wait_for_metrics(failed(0), PATIENCE).await?;
    Ok(())
}

#[tokio::test]
async fn every_metric_is_there_from_a_breakers_first_call() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.add_route(json!({
        "name": "shop/orders.v1", "match": { "prefix": "/orders" }, "route": { "cluster": "orders" },
    }))?;
    let world = setup.start().await?;
    world.client.get("/orders").await?;
    let metrics = world.recorded("shop/orders.v1", 1).await?;
    for name in [
        "state",
        "calls",
        "slow_calls",
        "not_permitted_calls",
        "buffered_calls",
        "failure_rate",
        "slow_call_rate",
        "store_conflicts",
        "store_give_ups",
        "hint_revocations",
    ] {
        let name = format!("breakerbox_{name}");
        let of_breaker = metrics.matching(&name, &[("breaker", "shop/orders.v1")]);
        assert!(of_breaker.count() > 0, "{name}\n{metrics}");
    }
    assert_eq!(metrics.matching("breakerbox_unguarded_calls", &[]).count(), 1);
    Ok(())
}

#[tokio::test]
async fn odd_settings_are_warned_of_once() -> Result<()> {
    let world = World::start(&json!({ "failure_rate_threshold": 0.5, "minimum_calls": 500 })).await?;
    let warns = |line: &str| line.contains("odd configuration: default.failure_rate_threshold");
    world.envoy.log().wait_for(warns, PATIENCE).await?;
    let lines = world.envoy.log().lines();
    for oddity in ["[rate_looks_like_fraction]", "[minimum_above_window]"] {
        assert_eq!(lines.iter().filter(|line| line.contains(oddity)).count(), 1, "{oddity} in {lines:#?}");
    }
    Ok(())
}
