use anyhow::Result;
use breakerbox_host::upstream::{Answer, Behaviour, Gate};
use serde_json::json;

use crate::world::{ORDERS, PATIENCE, Rejection, Setup, World, calls, wait_in_open};

#[tokio::test]
async fn a_rejection_says_who_rejects_and_when_to_come_back() -> Result<()> {
    let settings = json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "90500ms" });
    let world = World::start(&settings).await?;
    world.open_orders(4).await?;
    let reply = world.client.get("/orders").await?;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let Rejection { breaker, reason, retry_after_ms } = Rejection::read(&reply)?;
    assert_eq!((breaker.as_str(), reason.as_str()), ("orders", "open"));
    // Whoever waits as long as the header says is not early.
    let wait = retry_after_ms.unwrap_or_default();
    assert!((60_000..=90_500).contains(&wait), "{wait}");
    assert_eq!(reply.header("retry-after"), Some(wait.div_ceil(1000).to_string().as_str()));
    Ok(())
}

#[tokio::test]
async fn access_logs_tell_rejections_from_the_answers_of_an_upstream() -> Result<()> {
    let settings = json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "1m" });
    let mut setup = Setup::new(&settings)?;
    setup.log_access("access: %RESPONSE_CODE% %RESPONSE_CODE_DETAILS%")?;
    let world = setup.start().await?;
    world.open_orders(4).await?;
    world.client.get_many(10, "/orders").await?;

    world.envoy.log().wait_for(|line| line == "access: 503 circuit_breaker_open", PATIENCE).await?;
    let lines = world.envoy.log().lines();
    let upstream = lines.iter().filter(|line| *line == "access: 503 via_upstream");
    assert_eq!(upstream.count(), 4, "{lines:#?}");
    Ok(())
}

#[tokio::test]
async fn rejections_are_never_counted_as_calls() -> Result<()> {
    let settings = json!({
        "window_size": 4, "minimum_calls": 4, "wait_in_open": "1500ms", "half_open_calls": 1,
        "max_wait_in_half_open": "0s",
    });
    let world = World::start(&settings).await?;
    world.open_orders(4).await?;
    let mut rejected = world.client.get_many(40, "/orders").await?.len() as u64;
    wait_in_open(1500).await;

    // Rejections while a probe is out are none either: that probe alone decides.
    let gate = Gate::new();
    world.orders.on("/orders", Behaviour::from(Answer::Status(200)).held_by(&gate));
    let probe = world.waiting_at_orders().await?;
    rejected += world.client.get_many(40, "/orders").await?.len() as u64;
    gate.open();
    assert_eq!(probe.await??.status, 200);

    let metrics = world.moved(ORDERS, "half_open", "closed", 1).await?;
    assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &[("breaker", ORDERS)]), rejected);
    let kinds = ["successful", "failed", "ignored", "stale"].map(|kind| calls(&metrics, ORDERS, kind));
    assert_eq!(kinds, [1, 4, 0, 0]);
    Ok(())
}
