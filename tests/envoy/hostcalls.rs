use anyhow::{Context as _, Result, ensure};
use hyper::Method;
use serde_json::json;

use crate::world::{ORDERS, PATIENCE, World};

/// What goes between Envoy and the filter while `/orders` is asked for once, in order: Envoy's calls as `on_..`, and the
/// filter's. After one of these that returns bytes Envoy calls the filter's allocator.
async fn crossings(world: &World) -> Result<Vec<String>> {
    set_log_level(world, "trace").await?;
    let before = world.envoy.log().lines().len();
    world.client.get("/orders").await?;
    // The client has its answer before the filter's last callback.
    let is_over = |line: &str| line.contains("[host<-vm] proxy_on_delete return");
    world.envoy.log().wait_for(is_over, PATIENCE).await?;
    set_log_level(world, "info").await?;
    let lines = world.envoy.log().lines();
    let lines = lines.get(before..).context("a log only grows")?;
    let crossed = lines.iter().filter_map(|line| {
        let hostcall = line.split_once("[vm->host] env.proxy_");
        let (_, call) = hostcall.or_else(|| line.split_once("[host->vm] proxy_"))?;
        Some(call.split('(').next()?.to_owned())
    });
    Ok(crossed.filter(|call| call != "on_tick").collect())
}

async fn set_log_level(world: &World, level: &str) -> Result<()> {
    let admin = world.envoy.admin();
    let reply = admin.send(admin.request(Method::POST, &format!("/logging?wasm={level}"))?).await?;
    ensure!(reply.status == 200, "{reply:?}");
    Ok(())
}

/// Each of them costs about the same but for those that return bytes, which cost several times as much: one more on the way
/// of a healthy request should be somebody's decision.
#[tokio::test]
async fn a_healthy_request_takes_six_hostcalls_two_of_which_return_bytes() -> Result<()> {
    let world = World::start(&json!({ "window_size": 4 })).await?;
    // Both workers know the breaker now, and its window is full of successes.
    world.client.get_many(32, "/orders").await?;
    world.recorded(ORDERS, 32).await?;
    let route = ["get_property", "on_memory_allocate"];
    let nothing_was_revoked = "get_metric";
    let status = ["get_header_map_value", "on_memory_allocate"];
    let no_trouble = "get_property";
    let successful = "increment_metric";
    let expected = [
        &["on_context_create", "on_request_headers"][..],
        &route,
        &[nothing_was_revoked, "on_response_headers"],
        &status,
        &[
            "on_response_body",
            "on_response_body",
            "on_log",
            no_trouble,
            nothing_was_revoked,
            successful,
            "on_delete",
        ],
    ];
    assert_eq!(crossings(&world).await?, expected.concat());
    Ok(())
}
