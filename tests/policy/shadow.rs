use anyhow::Result;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::{Answer, Behaviour, Gate};
use serde_json::json;

use crate::request::{BREAKER, ask, get};
use crate::world::{PATIENCE, Rejection, Setup, World, calls, state};

async fn start(wait: &str) -> Result<World> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker",
        "default": { "window_size": 4, "minimum_calls": 4, "wait_in_open": wait, "half_open_calls": 1 },
        "breakers": { "shadow": { "mode": "shadow" }, "strict": { "mode": "enforce" } },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    for breaker in ["shadow", "strict"] {
        for _ in 0..4 {
            assert_eq!(ask(&world, breaker, "/orders").await?.status, 500);
        }
        world.moved(breaker, "closed", "open", 1).await?;
    }
    Ok(world)
}

fn would_reject(metrics: &Metrics, reason: &str) -> u64 {
    metrics.sum("breakerbox_would_reject_calls", &[("breaker", "shadow"), ("reason", reason)])
}

#[tokio::test]
async fn a_shadow_rejects_nothing_and_counts_what_it_would_have_rejected() -> Result<()> {
    let world = start("1h").await?;
    assert_eq!(world.orders.hits("/orders"), 8);
    for _ in 0..5 {
        assert_eq!(ask(&world, "shadow", "/orders").await?.status, 500);
    }
    assert_eq!(world.orders.hits("/orders"), 13);
    assert_eq!(Rejection::reason(&ask(&world, "strict", "/orders").await?).as_deref(), Some("open"));
    assert_eq!(world.orders.hits("/orders"), 13);

    // A breaker would not have seen these calls, so a shadow does not either.
    let metrics = world.envoy.metrics().await?;
    assert_eq!((would_reject(&metrics, "open"), state(&metrics, "shadow")?), (5, "open"));
    assert_eq!(calls(&metrics, "shadow", "failed"), 4);
    assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &[("breaker", "shadow")]), 0);
    Ok(())
}

#[tokio::test]
async fn a_shadow_recovers_by_its_probe_alone() -> Result<()> {
    let world = start("200ms").await?;
    let gate = Gate::new();
    world.orders.on("/orders/probe", Behaviour::from(Answer::Status(200)).held_by(&gate));
    // Whatever comes before the wait is over is no probe.
    let mut held = Vec::new();
    while world.state("shadow").await? == "open" {
        let request = get(&world, "/orders/probe", &[(BREAKER, "shadow")])?;
        let client = world.client;
        held.push(tokio::spawn(async move { client.send(request).await }));
        let count = held.len() as u64;
        world.orders.wait_for("/orders/probe", |traffic| traffic.waiting == count, PATIENCE).await?;
    }
    for _ in 0..5 {
        assert_eq!(ask(&world, "shadow", "/orders").await?.status, 500);
    }
    let full = |metrics: &Metrics| would_reject(metrics, "half_open_full") == 5;
    world.envoy.wait_for_metrics(full, PATIENCE).await?;
    gate.open();
    for reply in held {
        assert_eq!(reply.await??.status, 200);
    }
    let metrics = world.moved("shadow", "half_open", "closed", 1).await?;
    assert_eq!((calls(&metrics, "shadow", "failed"), calls(&metrics, "shadow", "successful")), (4, 1));
    Ok(())
}
