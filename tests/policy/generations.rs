use anyhow::Result;
use breakerbox_host::client::Connection;
use breakerbox_host::envoy::Update;
use breakerbox_host::upstream::Answer;
use hyper::Method;
use serde_json::json;

use crate::world::{ORDERS, Setup, World, calls, state};

/// The status of the answer to a GET.
async fn get(connection: &mut Connection, world: &World, path: &str) -> Result<u16> {
    Ok(connection.send(world.client.request(Method::GET, path)?).await?.status.as_u16())
}

#[tokio::test]
async fn a_listener_that_drains_and_its_successor_do_not_fight_over_a_slot() -> Result<()> {
    let settings = json!({ "window_size": 50, "minimum_calls": 10, "wait_in_open": "1h" });
    let mut world = Setup::new(&settings)?.start().await?;
    let mut old = world.client.connection().await?;
    assert_eq!(get(&mut old, &world, "/orders").await?, 200);
    world.recorded(ORDERS, 1).await?;

    // Another shape: its window starts empty, once, and stays what it is while the old generation goes on.
    let update = json!({ "default": { "window_size": 10, "minimum_calls": 10, "wait_in_open": "1h" } });
    assert_eq!(world.configure(&update).await?, Update::Applied);
    let mut new = world.client.connection().await?;
    world.orders.on("/orders", Answer::Status(500));
    for nth in 1..=5 {
        for connection in [&mut new, &mut old] {
            assert_eq!(get(connection, &world, "/orders").await?, 500, "{nth}");
        }
    }
    // The tenth failure of both together opens it, in both, and nothing else moved it.
    let metrics = world.moved(ORDERS, "closed", "open", 1).await?;
    assert_eq!((calls(&metrics, ORDERS, "failed"), calls(&metrics, ORDERS, "stale")), (10, 0));
    assert_eq!(metrics.sum("breakerbox_transitions", &[("breaker", ORDERS)]), 1);
    for connection in [&mut new, &mut old] {
        assert_eq!(get(connection, &world, "/orders").await?, 503);
    }
    assert_eq!(world.orders.hits("/orders"), 11);
    assert_eq!(state(&world.envoy.metrics().await?, ORDERS)?, "open");
    let replaced = |line: &&String| line.contains("began afresh");
    assert_eq!(world.envoy.log().lines().iter().find(replaced), None);
    Ok(())
}
