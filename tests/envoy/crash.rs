use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use breakerbox_host::client::Reply;
use breakerbox_host::guests::CRASHING_FILTER_WASM;
use breakerbox_host::upstream::Answer;
use hyper::Method;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use crate::world::{CATALOG, Counts, ORDERS, Rejection, Setup, World, state, wait_in_open};

/// A world whose filter crashes when a request that gets a permit says so.
async fn crashing(settings: &Value) -> Result<World> {
    let mut setup = Setup::new(settings)?;
    setup.bootstrap.use_filter(Path::new(CRASHING_FILTER_WASM))?;
    setup.start().await
}

/// Crashes the VM of the worker that this request comes to, unless it is already down.
async fn crash(world: &World, path: &str) -> Result<()> {
    let mut request = world.client.request(Method::GET, path)?;
    request.headers_mut().insert("x-breakerbox-crash", HeaderValue::from_static("now"));
    assert!(is_down(&world.client.send(request).await?));
    Ok(())
}

/// Crashes the VMs of all workers.
async fn crash_all(world: &World) -> Result<()> {
    let before = world.envoy.connections_by_worker().await?;
    loop {
        crash(world, "/catalog").await?;
        let now = world.envoy.connections_by_worker().await?;
        if now.iter().zip(&before).all(|(now, before)| now > before) {
            return Ok(());
        }
    }
}

/// Whether this is Envoy's answer in the stead of a VM that is down: nothing goes upstream before it runs again.
fn is_down(reply: &Reply) -> bool {
    reply.status == 503 && reply.body.is_empty()
}

/// The answer of a VM that runs. Envoy waits a moment before it starts one that crashed early.
async fn answer(world: &World, path: &str) -> Result<Reply> {
    loop {
        let reply = world.client.get(path).await?;
        if !is_down(&reply) {
            return Ok(reply);
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn breakers_outlive_the_vms_of_all_workers() -> Result<()> {
    let world = crashing(&json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "1m" })).await?;
    world.open_orders(4).await?;
    world.catalog.on("/catalog", Answer::Status(500));
    for _ in 0..3 {
        let before = world.counts(CATALOG).await?;
        assert_eq!(world.client.get("/catalog").await?.status, 500);
        assert_eq!(world.news(before).await?, Counts::FAILED);
    }
    let end = world.end_of_wait().await?;
    crash_all(&world).await?;

    // Enough to come to both workers.
    for _ in 0..30 {
        let asked = Instant::now();
        let rejection = Rejection::read(&answer(&world, "/orders").await?)?;
        assert_eq!(rejection.reason, "open");
        let same_end = rejection.end_of_wait(asked)?;
        assert!(end.0 <= same_end.1 && same_end.0 <= end.1, "{end:?} {same_end:?}");
    }
    assert_eq!(world.orders.hits("/orders"), 4);
    assert_eq!(world.state(ORDERS).await?, "open");

    // What was counted still counts: this is the fourth failure.
    assert_eq!(answer(&world, "/catalog").await?.status, 500);
    world.moved(CATALOG, "closed", "open", 1).await?;
    assert_eq!(world.catalog.hits("/catalog"), 4);
    Ok(())
}

#[tokio::test]
async fn a_probe_that_was_lost_with_its_vm_is_waited_for_only_so_long() -> Result<()> {
    let world = crashing(&json!({
        "window_size": 4, "minimum_calls": 4, "wait_in_open": "300ms", "half_open_calls": 1,
        "max_wait_in_half_open": "500ms",
    }))
    .await?;
    world.open_orders(4).await?;
    wait_in_open(300).await;
    crash(&world, "/orders").await?;
    assert_eq!(world.state(ORDERS).await?, "half_open");

    // Nothing moves by itself: the call that finds the time over opens it, and a later one is the next probe.
    world.orders.on("/orders", Answer::Status(200));
    while answer(&world, "/orders").await?.status == 503 {}
    let metrics = world.moved(ORDERS, "half_open", "closed", 1).await?;
    let labels = [("breaker", ORDERS), ("reason", "max_wait_in_half_open")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);
    assert_eq!(state(&metrics, ORDERS)?, "closed");
    assert_eq!(world.orders.hits("/orders"), 4 + 1);
    Ok(())
}
