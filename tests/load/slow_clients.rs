use std::time::Duration;

use anyhow::Result;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::Answer;
use serde_json::{Value, json};

use crate::size::soak;
use crate::wire::Wire;
use crate::world::{Counts, ORDERS, PATIENCE, Rejection, Setup, World, calls, state, wait_in_open};

/// More than kernels and Envoy hold for a client that does not read.
const MUCH: usize = 48 << 20;
/// Four of them are slow.
const PAUSE: Duration = Duration::from_millis(300);

async fn start(settings: &Value) -> Result<World> {
    let mut setup = Setup::new(settings)?;
    setup.bootstrap.route(ORDERS)?["route"]["timeout"] = "60s".into();
    setup.start().await
}

/// Begins a request of five bytes.
async fn begin(world: &World) -> Result<Wire> {
    let mut wire = Wire::open(world).await?;
    let hits = world.orders.hits("/orders");
    wire.say("POST /orders HTTP/1.1\r\nhost: shop\r\nconnection: close\r\ncontent-length: 5\r\n\r\n").await?;
    world.orders.wait_for("/orders", |traffic| traffic.hits > hits, PATIENCE).await?;
    Ok(wire)
}

fn slow(metrics: &Metrics) -> u64 {
    metrics.sum("breakerbox_slow_calls", &[("breaker", ORDERS)])
}

#[tokio::test]
async fn sending_slowly_makes_a_call_slow_and_reading_slowly_only_if_it_is_timed_to_its_end() -> Result<()> {
    for (timing, expected) in [("headers", [1, 0]), ("complete", [1, 1])] {
        let world = start(&json!({
            "slow_call_duration": "1s", "slow_call_timing": timing, "window_size": 10_000, "minimum_calls": 10_000,
        }))
        .await?;
        for _ in 0..soak() {
            let slow_before = slow(&world.envoy.metrics().await?);
            let before = world.counts(ORDERS).await?;
            world.orders.on("/orders", Answer::Status(200));
            let mut wire = begin(&world).await?;
            for byte in ["h", "e", "l", "l", "o"] {
                wire.say(byte).await?;
                tokio::time::sleep(PAUSE).await;
            }
            wire.hear_all().await?;
            assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
            let slow_sent = slow(&world.envoy.metrics().await?);

            let before = world.counts(ORDERS).await?;
            world.orders.on("/orders", Answer::Bytes(MUCH));
            let mut wire = begin(&world).await?;
            wire.say("hello").await?;
            wire.hear("\r\n\r\n").await?;
            tokio::time::sleep(4 * PAUSE).await;
            // It is not over for Envoy before its client has read it.
            assert_eq!(world.counts(ORDERS).await?, before);
            wire.hear_all().await?;
            assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
            let slow_read = slow(&world.envoy.metrics().await?);
            assert_eq!([slow_sent - slow_before, slow_read - slow_sent], expected, "{timing}");
        }
    }
    Ok(())
}

/// An open breaker whose next call is its only probe, with one more setting.
async fn ready_to_probe(key: &str, value: &str) -> Result<World> {
    let mut settings = json!({
        "window_size": 4, "minimum_calls": 4, "wait_in_open": "200ms", "half_open_calls": 1,
    });
    settings[key] = value.into();
    let world = start(&settings).await?;
    world.open_orders(4).await?;
    world.orders.on("/orders", Answer::Status(200));
    wait_in_open(200).await;
    Ok(world)
}

async fn assert_full(world: &World) -> Result<()> {
    assert_eq!(Rejection::read(&world.client.get("/orders").await?)?.reason, "half_open_full");
    Ok(())
}

#[tokio::test]
async fn a_client_that_sends_slowly_has_the_probe_until_it_is_done_or_leaves() -> Result<()> {
    let world = ready_to_probe("max_wait_in_half_open", "0s").await?;
    let before = world.counts(ORDERS).await?;
    let mut leaving = begin(&world).await?;
    leaving.say("he").await?;
    assert_full(&world).await?;
    drop(leaving);
    assert_eq!(world.news(before).await?, Counts::IGNORED);

    let before = world.counts(ORDERS).await?;
    let mut staying = begin(&world).await?;
    for byte in ["h", "e", "l", "l"] {
        staying.say(byte).await?;
        assert_full(&world).await?;
    }
    staying.say("o").await?;
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    assert_eq!(world.state(ORDERS).await?, "closed");
    Ok(())
}

#[tokio::test]
async fn a_client_that_sends_for_ever_does_not_have_the_probe_for_ever() -> Result<()> {
    let world = ready_to_probe("max_wait_in_half_open", "300ms").await?;
    let mut forever = begin(&world).await?;
    forever.say("hell").await?;
    // The call that finds the time over opens it, and one after the wait is the next probe.
    while world.client.get("/orders").await?.status != 200 {}
    let metrics = world.moved(ORDERS, "half_open", "closed", 1).await?;
    let labels = [("breaker", ORDERS), ("reason", "max_wait_in_half_open")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);
    let before = world.counts(ORDERS).await?;
    forever.say("o").await?;
    assert_eq!(world.news(before).await?, [0, 0, 0, 1]);
    assert_eq!(world.state(ORDERS).await?, "closed");
    Ok(())
}

#[tokio::test]
async fn a_client_that_reads_slowly_has_the_probe_no_longer_than_the_policy_says() -> Result<()> {
    for (moment, state_while_reading) in [("headers", "closed"), ("complete", "half_open")] {
        let world = ready_to_probe("record_at", moment).await?;
        world.orders.on("/orders", Answer::Bytes(MUCH));
        let mut wire = begin(&world).await?;
        wire.say("hello").await?;
        wire.hear("\r\n\r\n").await?;
        if moment == "complete" {
            assert_full(&world).await?;
        }
        assert_eq!(world.state(ORDERS).await?, state_while_reading, "{moment}");
        wire.hear_all().await?;
        let metrics = world.recorded(ORDERS, 5).await?;
        assert_eq!((calls(&metrics, ORDERS, "successful"), state(&metrics, ORDERS)?), (1, "closed"));
    }
    Ok(())
}

#[tokio::test]
async fn a_client_that_envoy_gives_up_on_says_nothing_about_the_upstream() -> Result<()> {
    for limit in ["stream_idle_timeout", "request_timeout"] {
        let mut setup = Setup::new(&json!({
            "consecutive_failures": 1, "wait_in_open": "50ms", "half_open_calls": 1,
        }))?;
        setup.bootstrap.connection_manager()?[limit] = "0.3s".into();
        let world = setup.start().await?;
        world.open_orders(1).await?;
        world.orders.on("/orders", Answer::Status(200));
        wait_in_open(50).await;
        let before = world.counts(ORDERS).await?;
        let mut wire = begin(&world).await?;
        wire.say("he").await?;
        let head = wire.hear("\r\n\r\n").await?;
        assert!(head.starts_with("HTTP/1.1 408 "), "{limit}: {head}");
        assert_eq!(world.news(before).await?, Counts::IGNORED, "{limit}");
        assert_eq!(world.client.get("/orders").await?.status, 200);
        world.moved(ORDERS, "half_open", "closed", 1).await?;
    }
    Ok(())
}

/// To a gRPC client Envoy says so with status 200, and what it is in `grpc-status`.
#[tokio::test]
async fn a_grpc_client_that_envoy_gives_up_on_says_nothing_about_it_either() -> Result<()> {
    for limit in ["stream_idle_timeout", "request_timeout"] {
        let mut setup = Setup::new(&json!({ "consecutive_failures": 1 }))?;
        setup.bootstrap.connection_manager()?[limit] = "0.3s".into();
        let world = setup.start().await?;
        let before = world.counts(ORDERS).await?;
        let mut wire = Wire::open(&world).await?;
        let head = "POST /orders HTTP/1.1\r\nhost: shop\r\ncontent-type: application/grpc\r\ncontent-length: 5\r\n\r\n";
        wire.say(head).await?;
        wire.say("he").await?;
        let head = wire.hear("\r\n\r\n").await?;
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("grpc-status: "), "{limit}: {head}");
        assert_eq!(world.news(before).await?, Counts::IGNORED, "{limit}: {head}");
    }
    Ok(())
}
