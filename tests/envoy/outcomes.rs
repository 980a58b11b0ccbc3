use anyhow::Result;
use breakerbox_host::upstream::{Answer, Behaviour};
use http_body_util::Full;
use hyper::Method;
use serde_json::json;

use crate::world::{CATALOG, Counts, ORDERS, PATIENCE, Setup, World};

#[tokio::test]
async fn each_way_for_an_upstream_to_fail_is_a_failure() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.route(ORDERS)?["route"]["timeout"] = "0.3s".into();
    let mut world = setup.start().await?;
    let cases = [
        ("an error", Behaviour::from(Answer::Status(500)), 500),
        ("a bad gateway further on", Answer::Status(502).into(), 502),
        ("too many requests", Answer::Status(429).into(), 429),
        ("closed before headers", Answer::CloseBeforeHeaders.into(), 503),
        ("timeout", Behaviour::hang(), 504),
        ("reset in mid-body", Answer::ResetInBody.into(), 200),
        ("timeout in mid-body", Answer::StallInBody.into(), 200),
    ];
    for (what, behaviour, status) in cases {
        world.orders.on("/orders", behaviour);
        let before = world.counts(ORDERS).await?;
        let reply = world.client.get("/orders").await?;
        assert_eq!(reply.status, status, "{what}");
        assert_eq!(world.news(before).await?, Counts::FAILED, "{what}");
    }

    let before = world.counts(ORDERS).await?;
    world.orders.stop_listening().await;
    assert_eq!(world.client.get("/orders").await?.status, 503);
    assert_eq!(world.news(before).await?, Counts::FAILED, "connection refused");
    Ok(())
}

#[tokio::test]
async fn no_healthy_upstream_is_a_failure() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.cluster(ORDERS)?["load_assignment"]["endpoints"] = json!([]);
    let world = setup.start().await?;
    let before = world.counts(ORDERS).await?;
    let reply = world.client.get("/orders").await?;
    assert_eq!((reply.status.as_u16(), reply.text().as_str()), (503, "no healthy upstream"));
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn every_other_answer_of_an_upstream_is_a_success() -> Result<()> {
    let world = World::start(&json!({})).await?;
    for status in [200, 204, 301, 400, 401, 404, 418] {
        world.orders.on("/orders", Answer::Status(status));
        let before = world.counts(ORDERS).await?;
        assert_eq!(world.client.get("/orders").await?.status, status);
        assert_eq!(world.news(before).await?, Counts::SUCCESSFUL, "{status}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_is_one_call_however_often_the_router_tries_it() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.route(ORDERS)?["route"]["retry_policy"] =
        json!({ "retry_on": "5xx", "num_retries": 2, "retry_back_off": { "base_interval": "0.01s" } });
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(503));
    let before = world.counts(ORDERS).await?;
    assert_eq!(world.client.get("/orders").await?.status, 503);
    assert_eq!(world.orders.hits("/orders"), 3);
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn a_client_that_leaves_is_ignored() -> Result<()> {
    let world = World::start(&json!({})).await?;
    let client = world.client;

    world.orders.on("/orders", Behaviour::hang());
    let before = world.counts(ORDERS).await?;
    world.waiting_at_orders().await?.abort();
    assert_eq!(world.news(before).await?, Counts::IGNORED, "before the response");

    world.orders.on("/orders", Answer::StallInBody);
    let before = world.counts(ORDERS).await?;
    let exchange = client.open(client.request(Method::GET, "/orders")?).await?;
    assert_eq!(exchange.status(), 200);
    drop(exchange);
    assert_eq!(world.news(before).await?, Counts::IGNORED, "HTTP/1, after the response's headers");

    world.orders.on("/orders", Behaviour::hang());
    let before = world.counts(ORDERS).await?;
    let request = hyper::Request::get(format!("http://{}/orders", client.server()));
    let leaving = tokio::spawn(async move { client.open_http2(request.body(Full::default())?).await });
    world.orders.wait_for("/orders", |traffic| traffic.waiting == 1, PATIENCE).await?;
    leaving.abort();
    assert_eq!(world.news(before).await?, Counts::IGNORED, "HTTP/2, before the response");
    Ok(())
}

#[tokio::test]
async fn what_is_not_sent_upstream_is_ignored() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.inject_faults()?;
    setup.add_route(json!({
        "name": "direct", "match": { "path": "/direct" }, "direct_response": { "status": 503 },
    }))?;
    setup.add_route(json!({
        "name": "nowhere", "match": { "path": "/nowhere" }, "route": { "cluster_header": "x-cluster" },
    }))?;
    let world = setup.start().await?;

    let mut to_unknown_cluster = world.client.request(Method::GET, "/nowhere")?;
    to_unknown_cluster.headers_mut().insert("x-cluster", "nowhere".parse()?);
    let cases = [
        ("a direct response", "direct", world.client.request(Method::GET, "/direct")?, 503),
        ("a later filter's answer", CATALOG, world.faulty("/catalog")?, 500),
        ("an unknown cluster", "nowhere", to_unknown_cluster, 503),
    ];
    for (what, breaker, request, status) in cases {
        let before = world.counts(breaker).await?;
        assert_eq!(world.client.send(request).await?.status, status, "{what}");
        assert_eq!(world.news(before).await?, Counts::IGNORED, "{what}");
    }
    assert_eq!(world.catalog.hits("/catalog"), 0);
    Ok(())
}
