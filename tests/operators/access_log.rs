//! The access log of `envoy/envoy.yaml`.

use std::time::Instant;

use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;

use crate::world::{PATIENCE, POLL, World};

const METHOD: &str = "/catalog.Items/List";

/// Without the times.
fn lines(world: &World) -> Vec<String> {
    let lines = world.envoy.log().lines();
    let lines = lines.iter().filter_map(|line| line.split_once("] ")).map(|(_, line)| line.to_owned());
    lines.filter(|line| line.contains(" decision=")).collect()
}

/// Waits for so many lines, which must be these, in any order as each worker writes its own.
async fn assert_logged(world: &World, mut expected: Vec<String>) {
    let deadline = Instant::now() + PATIENCE;
    let mut seen = lines(world);
    while seen.len() < expected.len() && Instant::now() < deadline {
        tokio::time::sleep(POLL).await;
        seen = lines(world);
    }
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn it_has_errors_and_what_a_breaker_rejected_and_nothing_else() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.upstream.on("/orders/none", Answer::Status(404));
    world.call("healthy", "/catalog").await?;
    world.call("healthy", "/orders/none").await?;
    world.open("orders", 5).await?;
    world.call("orders", "/catalog").await?;
    let rejected = "GET /catalog 503 circuit_breaker_open grpc=- breaker=orders decision=rejected";
    let failed = "GET /orders 503 via_upstream grpc=- breaker=- decision=-";
    let mut expected = vec![failed.to_owned(); 5];
    expected.push(rejected.to_owned());
    assert_logged(&world, expected).await;
    Ok(())
}

#[tokio::test]
async fn it_has_what_a_breaker_in_shadow_mode_would_have_rejected_though_it_succeeds() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.open("shadow", 5).await?;
    assert_eq!(world.call("shadow", "/catalog").await?.status, 200);
    let logged = "GET /catalog 200 via_upstream grpc=- breaker=shadow decision=would_reject";
    world.envoy.log().wait_for(|line| line.ends_with(logged), PATIENCE).await?;
    Ok(())
}

#[tokio::test]
async fn it_has_grpc_calls_that_failed_or_were_rejected_though_their_http_status_is_200() -> Result<()> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    let mut expected = Vec::new();
    for (status, name) in [(0, None), (5, None), (14, Some("Unavailable")), (2, Some("Unknown"))] {
        for answer in [Answer::Grpc(status), Answer::GrpcTrailersOnly(status)] {
            world.upstream.on(METHOD, answer);
            let reply = world.grpc(&format!("rpc-{status}"), METHOD).await?;
            assert_eq!(reply.status, 200);
            let line = |name| format!("POST {METHOD} 200 via_upstream grpc={name} breaker=- decision=-");
            expected.extend(name.map(line));
        }
    }
    world.upstream.on(METHOD, Answer::Grpc(14));
    for _ in 0..3 {
        world.grpc("rpc-14", METHOD).await?;
        expected.push(format!("POST {METHOD} 200 via_upstream grpc=Unavailable breaker=- decision=-"));
    }
    world.wait_for_state("rpc-14", "open").await?;
    assert_eq!(world.grpc("rpc-14", METHOD).await?.status, 200);
    let rejected = "circuit_breaker_open grpc=Unavailable breaker=rpc-14 decision=rejected";
    expected.push(format!("POST {METHOD} 200 {rejected}"));
    assert_logged(&world, expected).await;
    Ok(())
}
