use anyhow::{Context as _, Result};
use breakerbox_host::envoy::Update;
use breakerbox_host::upstream::Answer;
use serde_json::json;

use crate::world::{CATALOG, Counts, ORDERS, Rejection, Setup, World, calls, state};

#[tokio::test]
async fn a_configuration_may_be_a_struct() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.filter()?["configuration"] = json!({
        "@type": "type.googleapis.com/google.protobuf.Struct",
        "value": {
            "default": { "window_size": 3, "minimum_calls": 3, "failure_rate_threshold": 99.5 },
            "breakers": { "catalog": { "enabled": false } },
        },
    });
    let world = setup.start().await?;
    world.open_orders(3).await?;
    assert_eq!(world.client.get("/catalog").await?.status, 200);
    assert_eq!(world.state(CATALOG).await?, "disabled");
    Ok(())
}

#[tokio::test]
async fn without_a_configuration_each_route_has_a_breaker_with_the_default_settings() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.filter()?.as_object_mut().context("it is an object")?.remove("configuration");
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    world.client.get_many(99, "/orders").await?;
    let metrics = world.recorded(ORDERS, 99).await?;
    assert_eq!(state(&metrics, ORDERS)?, "closed");
    world.open_orders(1).await?;
    let wait = Rejection::read(&world.client.get("/orders").await?)?.retry_after_ms.unwrap_or_default();
    assert!((30_000..=60_000).contains(&wait), "{wait}");
    Ok(())
}

#[tokio::test]
async fn with_one_breaker_per_cluster_routes_to_one_cluster_share_a_breaker() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.add_route(json!({
        "name": "returns", "match": { "prefix": "/returns" }, "route": { "cluster": "orders" },
    }))?;
    let configuration = json!({ "per": "cluster", "default": { "window_size": 4, "minimum_calls": 4 } });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    world.open_orders(4).await?;
    assert_eq!(Rejection::read(&world.client.get("/returns").await?)?.breaker, "orders");
    assert_eq!(world.orders.hits("/returns"), 0);
    assert_eq!(world.client.get("/catalog").await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn envoy_does_not_start_with_a_configuration_that_is_refused_and_says_why() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.configure_filter("{\"per\": \"rout\"")?;
    let Err(error) = setup.start().await else { panic!("it was accepted") };
    let why = format!("{error:#}");
    assert!(why.contains("configuration refused: ") && why.contains("[bad_json]"), "{why}");
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_is_refused_leaves_the_old_one_serving_and_all_its_problems_in_the_log()
-> Result<()> {
    let mut world =
        World::start(&json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "1m" })).await?;
    world.open_orders(4).await?;
    let update = json!({
        "default": { "windwSize": 20, "failure_rate_threshold": 101 },
        "breakers": { "orders": { "wait_in_open": "soon" } },
    });
    let Update::Refused(why) = world.configure(&update).await? else { panic!("it was accepted") };
    for problem in [
        "default.windwSize: unknown key; did you mean `window_size`?",
        "default.failure_rate_threshold: 101",
        "breakers.orders.wait_in_open: \"soon\"",
    ] {
        assert!(why.contains(problem), "{problem} is missing in\n{why}");
    }

    let replies = world.client.get_many(20, "/orders").await?;
    assert!(replies.iter().all(|reply| Rejection::read(reply).is_ok()), "{replies:?}");
    world.catalog.on("/catalog", Answer::Status(500));
    for _ in 0..4 {
        let before = world.counts(CATALOG).await?;
        assert_eq!(world.client.get("/catalog").await?.status, 500);
        assert_eq!(world.news(before).await?, Counts::FAILED);
    }
    world.moved(CATALOG, "closed", "open", 1).await?;
    Ok(())
}

#[tokio::test]
async fn an_update_leaves_open_breakers_open_until_the_same_instant() -> Result<()> {
    let settings = json!({ "window_size": 4, "minimum_calls": 4, "wait_in_open": "20s" });
    let mut world = World::start(&settings).await?;
    world.open_orders(4).await?;
    let before = world.end_of_wait().await?;

    // Of another shape too.
    let update = json!({ "default": { "window_size": 50, "wait_in_open": "1h", "half_open_calls": 1 } });
    assert_eq!(world.configure(&update).await?, Update::Applied);
    for _ in 0..20 {
        let after = world.end_of_wait().await?;
        assert!(before.0 <= after.1 && after.0 <= before.1, "{before:?} {after:?}");
    }
    assert_eq!(world.orders.hits("/orders"), 4);
    let metrics = world.envoy.metrics().await?;
    assert_eq!(state(&metrics, ORDERS)?, "open");
    assert_eq!(calls(&metrics, ORDERS, "failed"), 4);
    Ok(())
}

#[tokio::test]
async fn an_update_of_the_thresholds_holds_at_once_for_the_calls_that_were_counted() -> Result<()> {
    let mut world = World::start(&json!({ "window_size": 10, "minimum_calls": 10 })).await?;
    world.orders.on("/orders", Answer::Status(500));
    for _ in 0..5 {
        assert_eq!(world.client.get("/orders").await?.status, 500);
    }
    world.recorded(ORDERS, 5).await?;
    let update = json!({ "default": { "window_size": 10, "minimum_calls": 6, "wait_in_open": "1m" } });
    assert_eq!(world.configure(&update).await?, Update::Applied);
    assert_eq!(world.state(ORDERS).await?, "closed");
    // The sixth.
    world.open_orders(1).await?;
    Ok(())
}
