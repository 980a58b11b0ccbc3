use anyhow::{Context as _, Result};
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::{Answer, Behaviour};
use serde_json::{Value, json};

use crate::request::{BREAKER, ask, ask_grpc, get};
use crate::world::{Counts, ORDERS, PATIENCE, Setup, World};

/// An Envoy with a breaker for each value of `x-breaker`, and the policies of some.
async fn start(breakers: &Value) -> Result<World> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({ "per": "header:x-breaker", "breakers": breakers });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let route = setup.bootstrap.route(ORDERS)?;
    route["route"]["timeout"] = "0.3s".into();
    // So that a test can say what the upstream answers.
    route["response_headers_to_add"] =
        json!([{ "header": { "key": "x-outcome", "value": "%REQ(x-want)%" } }]);
    setup.bootstrap.use_http2("catalog")?;
    // A cluster that Envoy lets nothing through to.
    let clusters = setup.bootstrap.part("/static_resources/clusters")?.as_array_mut();
    let clusters = clusters.context("no list of clusters")?;
    let mut busy = clusters.first().context("no cluster")?.clone();
    busy["name"] = "busy".into();
    busy["circuit_breakers"] = json!({ "thresholds": [{ "max_pending_requests": 0, "max_requests": 0 }] });
    clusters.push(busy);
    setup.add_route(json!({
        "name": "busy", "match": { "prefix": "/busy" }, "route": { "cluster": "busy" },
    }))?;
    setup.start().await
}

#[tokio::test]
async fn statuses_and_causes_are_what_the_lists_say() -> Result<()> {
    let world = start(&json!({
        "teapots": { "record_on": [418, "5xx"] },
        "no-gateways": { "record_on": ["500-501"] },
        "never-404": { "ignore_on": ["404"] },
        "both": { "record_on": [500], "ignore_on": [500] },
        "no-timeouts": { "ignore_on": ["timeout"] },
        "timeouts": { "record_on": ["timeout"] },
        "no-resets": { "ignore_on": ["reset"] },
        "resets": { "record_on": ["reset"] },
        "overflows": { "record_on": ["overflow"] },
    }))
    .await?;
    let status = |status| Behaviour::from(Answer::Status(status));
    let cases = [
        ("teapots", "/orders", status(418), Counts::FAILED),
        ("teapots", "/orders", status(429), Counts::SUCCESSFUL),
        ("no-gateways", "/orders", status(501), Counts::FAILED),
        ("no-gateways", "/orders", status(502), Counts::SUCCESSFUL),
        ("never-404", "/orders", status(404), Counts::IGNORED),
        ("both", "/orders", status(500), Counts::IGNORED),
        ("no-timeouts", "/orders", Behaviour::hang(), Counts::IGNORED),
        ("timeouts", "/orders", Behaviour::hang(), Counts::FAILED),
        ("timeouts", "/orders", Answer::StallInBody.into(), Counts::FAILED),
        ("timeouts", "/orders", status(500), Counts::SUCCESSFUL),
        ("no-resets", "/orders", Answer::ResetInBody.into(), Counts::IGNORED),
        ("resets", "/orders", Answer::ResetInBody.into(), Counts::FAILED),
        ("resets", "/orders", Answer::CloseBeforeHeaders.into(), Counts::FAILED),
        ("overflows", "/busy", status(200), Counts::FAILED),
        ("default", "/busy", status(200), Counts::IGNORED),
    ];
    for (breaker, path, behaviour, expected) in cases {
        world.orders.on(path, behaviour.clone());
        let before = world.counts(breaker).await?;
        ask(&world, breaker, path).await?;
        assert_eq!(world.news(before).await?, expected, "{breaker}: {behaviour:?}");
    }
    assert_eq!(world.orders.hits("/busy"), 0);
    Ok(())
}

#[tokio::test]
async fn an_upstream_may_say_by_a_header_how_a_call_ended() -> Result<()> {
    let lists = json!({ "record_on": ["header:x-outcome=failed"], "ignore_on": ["header:X-Outcome=unsure"] });
    let world = start(&json!({ "by-header": lists })).await?;
    for (outcome, expected) in [
        ("failed", Counts::FAILED),
        ("unsure", Counts::IGNORED),
        ("Failed", Counts::SUCCESSFUL),
        ("well", Counts::SUCCESSFUL),
    ] {
        let before = world.counts("by-header").await?;
        let request = get(&world, "/orders", &[(BREAKER, "by-header"), ("x-want", outcome)])?;
        assert_eq!(world.client.send(request).await?.header("x-outcome"), Some(outcome));
        assert_eq!(world.news(before).await?, expected, "{outcome}");
    }
    Ok(())
}

#[tokio::test]
async fn grpc_statuses_count_by_name_and_by_number_in_trailers_and_in_headers() -> Result<()> {
    const METHOD: &str = "/catalog/List";
    let world = start(&json!({
        "by-name": { "record_on": ["grpc:NOT_FOUND"] },
        "by-number": { "record_on": ["grpc:5"] },
        "ignoring": { "ignore_on": ["grpc:UNAVAILABLE"] },
    }))
    .await?;
    for (breaker, status, expected) in [
        ("by-name", 5, Counts::FAILED),
        ("by-name", 14, Counts::SUCCESSFUL),
        ("by-number", 5, Counts::FAILED),
        ("ignoring", 14, Counts::IGNORED),
        ("ignoring", 13, Counts::FAILED),
    ] {
        for answer in [Answer::Grpc(status), Answer::GrpcTrailersOnly(status)] {
            world.catalog.on(METHOD, answer);
            let before = world.counts(breaker).await?;
            ask_grpc(&world, breaker, METHOD).await?;
            assert_eq!(world.news(before).await?, expected, "{breaker}: {answer:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn who_wants_it_counts_clients_that_leave_as_failures() -> Result<()> {
    let world = start(&json!({ "leaving": { "record_on": ["client_gone"] } })).await?;
    world.orders.on("/orders", Answer::StallInBody);
    let before = world.counts("leaving").await?;
    let exchange = world.client.open(get(&world, "/orders", &[(BREAKER, "leaving")])?).await?;
    assert_eq!(exchange.status(), 200);
    drop(exchange);
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn recorded_at_the_headers_a_call_is_over_while_its_body_is_not() -> Result<()> {
    let world = start(&json!({ "early": { "record_at": "headers" } })).await?;
    // What goes wrong later is not seen, and what went wrong before is.
    for (behaviour, expected) in [
        (Behaviour::from(Answer::ResetInBody), Counts::SUCCESSFUL),
        (Answer::Status(500).into(), Counts::FAILED),
        (Answer::CloseBeforeHeaders.into(), Counts::FAILED),
        (Behaviour::hang(), Counts::FAILED),
    ] {
        world.orders.on("/orders", behaviour.clone());
        let before = world.counts("early").await?;
        ask(&world, "early", "/orders").await?;
        assert_eq!(world.news(before).await?, expected, "{behaviour:?}");
    }
    world.orders.on("/orders", Answer::StallInBody);
    let before = world.counts("early").await?;
    let exchange = world.client.open(get(&world, "/orders", &[(BREAKER, "early")])?).await?;
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    drop(exchange);
    Ok(())
}

#[tokio::test]
async fn recorded_at_the_headers_a_grpc_call_is_what_its_headers_say() -> Result<()> {
    const METHOD: &str = "/catalog/List";
    let world = start(&json!({ "early": { "record_at": "headers" } })).await?;
    for (answer, expected) in [
        (Answer::GrpcTrailersOnly(14), Counts::FAILED),
        (Answer::GrpcEmptyBody(14), Counts::FAILED),
        (Answer::Grpc(14), Counts::SUCCESSFUL),
    ] {
        world.catalog.on(METHOD, answer);
        let before = world.counts("early").await?;
        ask_grpc(&world, "early", METHOD).await?;
        assert_eq!(world.news(before).await?, expected, "{answer:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_slow_body_makes_a_call_slow_only_if_it_is_timed_to_its_end() -> Result<()> {
    let slow = |timing| json!({ "slow_call_duration": "250ms", "slow_call_timing": timing });
    let world = start(&json!({ "headers": slow("headers"), "complete": slow("complete") })).await?;
    // Envoy ends it after 300 ms.
    world.orders.on("/orders", Answer::StallInBody);
    for breaker in ["headers", "complete"] {
        ask(&world, breaker, "/orders").await?;
        world.recorded(breaker, 1).await?;
    }
    let slow =
        |metrics: &Metrics, breaker: &str| metrics.sum("breakerbox_slow_calls", &[("breaker", breaker)]);
    let metrics = world.envoy.wait_for_metrics(|metrics| slow(metrics, "complete") == 1, PATIENCE).await?;
    assert_eq!(slow(&metrics, "headers"), 0);
    Ok(())
}
