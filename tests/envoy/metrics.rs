use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use breakerbox_host::upstream::Answer;
use serde_json::json;
use tokio::task::JoinSet;

use crate::world::{
    CATALOG, Counts, ORDERS, PATIENCE, Rejection, Setup, World, assert_moves_balance, calls, wait_in_open,
};

#[tokio::test]
async fn metrics_agree_with_what_clients_and_upstreams_saw() -> Result<()> {
    let world = World::start(&json!({
        "window_size": 40, "minimum_calls": 40, "wait_in_open": "200ms", "half_open_calls": 5,
    }))
    .await?;
    world.orders.on("/orders/broken", Answer::Status(500));
    // In turns a healthy and a failing upstream, so that it opens, probes and closes, each of them perhaps many times.
    let mut seen = BTreeMap::new();
    for round in 0..12 {
        let path = if round % 3 == 2 { "/orders" } else { "/orders/broken" };
        let mut requests = JoinSet::new();
        for _ in 0..50 {
            let client = world.client;
            requests.spawn(async move { client.get(path).await });
        }
        while let Some(reply) = requests.join_next().await {
            let reply = reply??;
            let outcome = match reply.status.as_u16() {
                200 => "successful".to_owned(),
                500 => "failed".to_owned(),
                _ => Rejection::read(&reply)?.reason,
            };
            *seen.entry(outcome).or_insert(0) += 1;
        }
        if world.state(ORDERS).await? == "open" {
            wait_in_open(200).await;
        }
    }
    let seen = |outcome: &str| seen.get(outcome).copied().unwrap_or(0);
    let hits = world.orders.hits("/orders") + world.orders.hits("/orders/broken");
    assert_eq!(hits, seen("successful") + seen("failed"));

    let metrics = world.recorded(ORDERS, hits).await?;
    let counted = |kind| calls(&metrics, ORDERS, kind);
    assert_eq!(counted("successful") + counted("failed") + counted("stale"), hits);
    assert!(counted("successful") <= seen("successful") && counted("failed") <= seen("failed"));
    assert_eq!(counted("ignored"), 0);
    for reason in ["open", "half_open_full", "forced_open"] {
        let labels = [("breaker", ORDERS), ("reason", reason)];
        assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &labels), seen(reason), "{reason}");
    }
    let moves = |from, to| metrics.moves(ORDERS, from, to);
    assert!(moves("closed", "open") > 0 && moves("half_open", "closed") > 0, "{metrics}");
    assert_moves_balance(&metrics, ORDERS)?;
    Ok(())
}

#[tokio::test]
async fn every_metric_has_the_breaker_as_a_label_and_nothing_of_it_in_its_name() -> Result<()> {
    let world = World::start(&json!({ "consecutive_failures": 2, "wait_in_open": "1m" })).await?;
    assert_eq!(world.client.get("/catalog").await?.status, 200);
    world.recorded(CATALOG, 1).await?;
    world.open_orders(2).await?;
    world.client.get("/orders").await?;

    let metrics = world.envoy.metrics().await?;
    for name in ["breakerbox_state", "breakerbox_calls", "breakerbox_not_permitted_calls"] {
        for breaker in [ORDERS, CATALOG] {
            assert!(metrics.matching(name, &[("breaker", breaker)]).count() > 0, "{name} of {breaker}");
        }
    }
    let labels =
        [("breaker", ORDERS), ("from", "closed"), ("to", "open"), ("reason", "consecutive_failures")];
    assert_eq!(metrics.sum("breakerbox_transitions", &labels), 1);
    let text = world.envoy.admin().get("/stats/prometheus").await?.text();
    for line in text.lines().filter(|line| line.starts_with("breakerbox")) {
        let (name, _) = line.split_once('{').with_context(|| line.to_owned())?;
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
    }
    Ok(())
}

#[tokio::test]
async fn each_transition_is_logged_once_and_says_why() -> Result<()> {
    let world = World::start(&json!({
        "window_size": 4, "minimum_calls": 4, "failure_rate_threshold": 75, "wait_in_open": "300ms",
        "half_open_calls": 2,
    }))
    .await?;
    assert_eq!(world.client.get("/orders").await?.status, 200);
    world.recorded(ORDERS, 1).await?;
    world.open_orders(3).await?;
    wait_in_open(300).await;
    world.client.get_many(2, "/orders").await?;
    world.moved(ORDERS, "half_open", "open", 1).await?;
    wait_in_open(300).await;
    world.orders.on("/orders", Answer::Status(200));
    world.client.get_many(2, "/orders").await?;
    world.moved(ORDERS, "half_open", "closed", 1).await?;

    let said = |line: &str| line.split_once("breakerbox: \"orders\" ").map(|(_, said)| said.to_owned());
    let last = |line: &str| said(line).is_some_and(|said| said.starts_with("half_open -> closed"));
    world.envoy.log().wait_for(last, PATIENCE).await?;
    let lines: Vec<_> = world.envoy.log().lines().iter().filter_map(|line| said(line)).collect();
    assert_eq!(
        lines,
        [
            "closed -> open: failure rate 75.00% reached 75.00% (3 of 4 calls failed); next probe in 300ms",
            "open -> half_open: the wait is over and a call became the first probe",
            "half_open -> open: failure rate 100.00% reached 75.00% (2 of 2 probes failed); next probe in 300ms",
            "open -> half_open: the wait is over and a call became the first probe",
            "half_open -> closed: probes succeeded (2 ended, 0 failed, 0 slow)",
        ]
    );
    Ok(())
}

#[tokio::test]
async fn a_request_without_a_route_or_a_name_of_it_passes_and_is_counted() -> Result<()> {
    let mut setup = Setup::new(&json!({ "consecutive_failures": 1 }))?;
    setup.add_route(json!({ "match": { "prefix": "/nameless" }, "route": { "cluster": "orders" } }))?;
    let world = setup.start().await?;
    world.orders.on("/nameless", Answer::Status(500));
    for _ in 0..5 {
        assert_eq!(world.client.get("/nameless").await?.status, 500);
    }
    assert_eq!(world.orders.hits("/nameless"), 5);
    for _ in 0..3 {
        assert_eq!(world.client.get("/no-route").await?.status, 404);
    }
    let metrics = world.envoy.metrics().await?;
    assert_eq!(metrics.sum("breakerbox_unguarded_calls", &[]), 8);
    assert_eq!(metrics.matching("breakerbox_state", &[]).count(), 0);

    // What has a name is guarded as ever.
    let before = world.counts(ORDERS).await?;
    assert_eq!(world.client.get("/orders").await?.status, 200);
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    Ok(())
}
