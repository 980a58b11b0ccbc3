use anyhow::{Context as _, Result, ensure};
use hyper::Method;
use serde_json::json;

use crate::world::{ORDERS, PATIENCE, World};

/// Envoy's functions that the filter calls while `/orders` is asked for once. After one that returns bytes, for which Envoy
/// calls the filter's allocator, there is `memory_allocate`.
async fn hostcalls(world: &World) -> Result<Vec<String>> {
    set_log_level(world, "trace").await?;
    let before = world.envoy.log().lines().len();
    world.client.get("/orders").await?;
    // The client has its answer before the filter's last callback.
    let is_over = |line: &str| line.contains("[host<-vm] proxy_on_delete return");
    world.envoy.log().wait_for(is_over, PATIENCE).await?;
    set_log_level(world, "info").await?;
    let lines = world.envoy.log().lines();
    let lines = lines.get(before..).context("a log only grows")?;
    let called = lines.iter().filter_map(|line| {
        let hostcall = line.split_once("[vm->host] env.proxy_").map(|(_, call)| call);
        let allocation = line.split_once("[host->vm] proxy_on_").map(|(_, call)| call);
        let call = hostcall.or(allocation.filter(|call| call.starts_with("memory_allocate")))?;
        Some(call.split('(').next()?.to_owned())
    });
    Ok(called.collect())
}

async fn set_log_level(world: &World, level: &str) -> Result<()> {
    let admin = world.envoy.admin();
    let reply = admin.send(admin.request(Method::POST, &format!("/logging?wasm={level}"))?).await?;
    ensure!(reply.status == 200, "{reply:?}");
    Ok(())
}

/// Each hostcall costs, and those that return bytes cost the most by far: one more on the way of a healthy request should
/// be somebody's decision.
#[tokio::test]
async fn a_healthy_request_takes_two_that_return_bytes_and_seven_that_do_not() -> Result<()> {
    let world = World::start(&json!({ "window_size": 4 })).await?;
    // Both workers know the breaker now, and its window is full of successes.
    world.client.get_many(32, "/orders").await?;
    world.recorded(ORDERS, 32).await?;
    let route = ["get_property", "memory_allocate"];
    let hint = ["get_metric", "get_metric"];
    let status = ["get_header_map_value", "memory_allocate"];
    let (no_grpc_status, no_trouble, successful) =
        ("get_header_map_value", "get_property", "increment_metric");
    let expected = [&route[..], &hint, &status, &[no_grpc_status, no_trouble], &hint, &[successful]].concat();
    assert_eq!(hostcalls(&world).await?, expected);
    Ok(())
}
