use anyhow::Result;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::Answer;
use serde_json::{Value, json};

use crate::request::{get, unguarded};
use crate::world::{ORDERS, PATIENCE, Setup, World, calls};

const FALLBACK: &str = "x-breaker-fallback";

/// Orders whose breaker sends requests to the other upstream when it is open.
async fn start(manager: impl FnOnce(&mut Value)) -> Result<World> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({ "default": {
        "consecutive_failures": 1, "wait_in_open": "1h", "fallback": { "header": { FALLBACK: "yes" } },
    } });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    setup.add_route(json!({
        "name": "cached",
        "match": { "prefix": "/orders", "headers": [{ "name": FALLBACK, "present_match": true }] },
        "route": { "cluster": "catalog" },
    }))?;
    manager(setup.bootstrap.connection_manager()?);
    setup.start().await
}

#[tokio::test]
async fn a_rejected_request_takes_another_route_and_is_not_recorded() -> Result<()> {
    let world = start(|_| {}).await?;
    world.open_orders(1).await?;
    for _ in 0..3 {
        assert_eq!(world.client.get("/orders").await?.status, 200);
    }
    assert_eq!((world.orders.hits("/orders"), world.catalog.hits("/orders")), (1, 3));
    let counted = |metrics: &Metrics| metrics.sum("breakerbox_fallback_calls", &[("breaker", ORDERS)]) == 3;
    let metrics = world.envoy.wait_for_metrics(counted, PATIENCE).await?;
    assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &[("breaker", ORDERS)]), 3);
    let kinds = ["successful", "failed", "ignored", "stale"].map(|kind| calls(&metrics, ORDERS, kind));
    assert_eq!(kinds, [0, 1, 0, 0]);
    Ok(())
}

#[tokio::test]
async fn a_client_cannot_choose_the_fallback_itself() -> Result<()> {
    let world = start(|_| {}).await?;
    world.orders.on("/orders", Answer::Status(404));
    let reply = world.client.send(get(&world, "/orders", &[(FALLBACK, "yes")])?).await?;
    assert_eq!(reply.status, 404);
    assert_eq!((world.orders.hits("/orders"), world.catalog.hits("/orders")), (1, 0));
    // Which breaker guards the route that it gets instead cannot be known in time.
    unguarded(&world, 1).await?;
    Ok(())
}

#[tokio::test]
async fn a_client_that_claims_the_fallback_is_guarded_where_envoy_strips_the_header_first() -> Result<()> {
    let world = start(|manager| {
        manager["early_header_mutation_extensions"] = json!([{
            "name": "strip",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
                "mutations": [{ "remove": FALLBACK }],
            },
        }]);
    })
    .await?;
    world.open_orders(1).await?;
    let reply = world.client.send(get(&world, "/orders", &[(FALLBACK, "yes")])?).await?;
    assert_eq!(reply.status, 200);
    assert_eq!((world.orders.hits("/orders"), world.catalog.hits("/orders")), (1, 1));
    assert_eq!(world.envoy.metrics().await?.sum("breakerbox_unguarded_calls", &[]), 0);
    Ok(())
}
