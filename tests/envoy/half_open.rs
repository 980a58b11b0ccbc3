use anyhow::{Context as _, Result};
use breakerbox_host::upstream::{Answer, Behaviour, Gate, Traffic};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::world::{ORDERS, PATIENCE, Rejection, Setup, World, calls, state, wait_in_open};

/// Opens at the fourth failure, for a short time.
fn probes(count: u32) -> Value {
    json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "300ms", "half_open_calls": count })
}

/// An open breaker before `/orders` whose next call is a probe. Its upstream has been hit 4 times.
async fn ready_to_probe(settings: &Value) -> Result<World> {
    let world = World::start(settings).await?;
    world.open_orders(4).await?;
    wait_in_open(300).await;
    Ok(world)
}

#[tokio::test]
async fn exactly_as_many_probes_as_configured_reach_the_upstream_and_close_it() -> Result<()> {
    let world = ready_to_probe(&probes(3)).await?;
    let gate = Gate::new();
    world.orders.on("/orders", Behaviour::from(Answer::Status(200)).held_by(&gate));
    let mut requests = JoinSet::new();
    for _ in 0..50 {
        let client = world.client;
        requests.spawn(async move { client.get("/orders").await });
    }
    for _ in 0..47 {
        let reply = requests.join_next().await.context("50 requests were sent")???;
        assert_eq!(Rejection::reason(&reply).as_deref(), Some("half_open_full"), "{reply:?}");
    }
    world.orders.wait_for("/orders", |traffic| traffic.waiting == 3, PATIENCE).await?;
    assert_eq!(world.orders.hits("/orders"), 4 + 3);
    assert_eq!(world.state(ORDERS).await?, "half_open");

    gate.open();
    while let Some(reply) = requests.join_next().await {
        assert_eq!(reply??.status, 200);
    }
    world.moved(ORDERS, "half_open", "closed", 1).await?;
    let replies = world.client.get_many(30, "/orders").await?;
    assert!(replies.iter().all(|reply| reply.status == 200), "{replies:?}");
    assert_eq!(world.state(ORDERS).await?, "closed");
    assert_eq!(world.orders.traffic("/orders"), Traffic { hits: 4 + 3 + 30, waiting: 0 });
    Ok(())
}

#[tokio::test]
async fn each_of_many_half_opens_under_load_sends_as_many_probes_as_configured() -> Result<()> {
    let mut settings = probes(3);
    settings["wait_in_open"] = "5ms".into();
    let world = World::start(&settings).await?;
    world.open_orders(4).await?;
    world.hammer("/orders", 24, 150).await?;
    let hits = world.orders.hits("/orders");
    let metrics = world.recorded(ORDERS, hits).await?;
    let half_opens = metrics.sum("breakerbox_transitions", &[("breaker", ORDERS), ("to", "half_open")]);
    assert!(half_opens >= 10, "only {half_opens} times half-open");
    // All probes failed, so each half-open but perhaps the last had all of its probes.
    let probes = hits - 4;
    assert!((3 * half_opens - 2..=3 * half_opens).contains(&probes), "{probes} probes, {metrics}");
    assert_eq!(calls(&metrics, ORDERS, "failed"), hits);
    Ok(())
}

#[tokio::test]
async fn probes_that_fail_open_it_again_and_it_recovers_with_the_upstream() -> Result<()> {
    let mut settings = probes(2);
    settings["wait_in_open"] = "1s".into();
    let world = World::start(&settings).await?;
    world.open_orders(4).await?;
    wait_in_open(1000).await;
    for _ in 0..2 {
        assert!(world.client.get("/orders").await?.text().starts_with("503 from"));
    }
    world.moved(ORDERS, "half_open", "open", 1).await?;
    let replies = world.client.get_many(20, "/orders").await?;
    assert!(replies.iter().all(|reply| Rejection::read(reply).is_ok()), "{replies:?}");
    assert_eq!(world.orders.hits("/orders"), 4 + 2);

    world.orders.on("/orders", Answer::Status(200));
    wait_in_open(1000).await;
    for _ in 0..2 {
        assert_eq!(world.client.get("/orders").await?.status, 200);
    }
    world.moved(ORDERS, "half_open", "closed", 1).await?;
    assert_eq!(world.client.get("/orders").await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_probe_whose_client_leaves_gives_its_permit_back() -> Result<()> {
    let world = ready_to_probe(&probes(1)).await?;
    world.orders.on("/orders", Behaviour::hang());
    let leaving = world.waiting_at_orders().await?;
    let reply = world.client.get("/orders").await?;
    assert_eq!(Rejection::reason(&reply).as_deref(), Some("half_open_full"));
    leaving.abort();

    let metrics = world.recorded(ORDERS, 5).await?;
    assert_eq!((calls(&metrics, ORDERS, "ignored"), state(&metrics, ORDERS)?), (1, "half_open"));
    world.orders.on("/orders", Answer::Status(200));
    assert_eq!(world.client.get("/orders").await?.status, 200);
    world.moved(ORDERS, "half_open", "closed", 1).await?;
    Ok(())
}

#[tokio::test]
async fn a_probe_that_a_later_filter_answers_gives_its_permit_back() -> Result<()> {
    let mut setup = Setup::new(&probes(1))?;
    setup.inject_faults()?;
    let world = setup.start().await?;
    world.open_orders(4).await?;
    wait_in_open(300).await;
    world.orders.on("/orders", Answer::Status(200));

    assert_eq!(world.client.send(world.faulty("/orders")?).await?.status, 500);
    let metrics = world.recorded(ORDERS, 5).await?;
    assert_eq!((calls(&metrics, ORDERS, "ignored"), state(&metrics, ORDERS)?), (1, "half_open"));
    assert_eq!(world.client.get("/orders").await?.status, 200);
    world.moved(ORDERS, "half_open", "closed", 1).await?;
    Ok(())
}

#[tokio::test]
async fn a_probe_that_does_not_end_in_time_opens_it_again_and_is_stale_when_it_does() -> Result<()> {
    let mut settings = probes(1);
    settings["max_wait_in_half_open"] = "300ms".into();
    let world = ready_to_probe(&settings).await?;
    let gate = Gate::new();
    world.orders.on("/orders", Behaviour::from(Answer::Status(200)).held_by(&gate));
    let probe = world.waiting_at_orders().await?;

    // Nothing moves by itself: the call that finds the time over opens it.
    while world.state(ORDERS).await? == "half_open" {
        assert!(Rejection::read(&world.client.get("/orders").await?).is_ok());
    }
    let metrics = world.moved(ORDERS, "half_open", "open", 1).await?;
    let labels = [("breaker", ORDERS), ("reason", "max_wait_in_half_open")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);

    gate.open();
    assert_eq!(probe.await??.status, 200);
    let metrics = world.recorded(ORDERS, 5).await?;
    assert_eq!((calls(&metrics, ORDERS, "stale"), state(&metrics, ORDERS)?), (1, "open"));
    Ok(())
}
