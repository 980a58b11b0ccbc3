use anyhow::{Context as _, Result};
use breakerbox_host::upstream::{Answer, Behaviour};
use hyper::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Counts, ORDERS, Rejection, Setup, calls};

const OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// Lets Envoy try again twice what fails.
fn retry(setup: &mut Setup, retry_on: &str) -> Result<()> {
    let route = &mut setup.bootstrap.route(ORDERS)?["route"];
    route["retry_policy"] = json!({
        "retry_on": retry_on, "num_retries": 2,
        "retry_back_off": { "base_interval": "0.001s", "max_interval": "0.002s" },
    });
    Ok(())
}

/// Moves the filter from the listener to the cluster of orders.
fn move_upstream(setup: &mut Setup) -> Result<()> {
    let filters = setup.bootstrap.connection_manager()?["http_filters"].as_array_mut();
    let filter = filters.context("no filters")?.remove(0);
    setup.bootstrap.cluster(ORDERS)?["typed_extension_protocol_options"][OPTIONS] = json!({
        "@type": format!("type.googleapis.com/{OPTIONS}"),
        "explicit_http_config": { "http_protocol_options": {} },
        "http_filters": [filter, {
            "name": "codec",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec",
            },
        }],
    });
    Ok(())
}

fn configure(setup: &mut Setup, configuration: &Value) -> Result<()> {
    setup.bootstrap.configure_filter(&configuration.to_string())
}

#[tokio::test]
async fn in_the_listener_a_request_is_one_call_whatever_its_retries() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    configure(&mut setup, &json!({ "default": { "consecutive_failures": 2, "wait_in_open": "1h" } }))?;
    retry(&mut setup, "5xx")?;
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    for _ in 0..2 {
        assert_eq!(world.client.get("/orders").await?.status, 500);
    }
    let metrics = world.moved(ORDERS, "closed", "open", 1).await?;
    assert_eq!((world.orders.hits("/orders"), calls(&metrics, ORDERS, "failed")), (6, 2));
    Rejection::read(&world.client.get("/orders").await?)?;
    assert_eq!(world.orders.hits("/orders"), 6);
    Ok(())
}

#[tokio::test]
async fn upstream_each_attempt_is_a_call_and_an_open_breaker_ends_the_retries() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    let settings = json!({ "consecutive_failures": 5, "wait_in_open": "1h" });
    configure(&mut setup, &json!({ "per": "upstream_host", "default": settings }))?;
    retry(&mut setup, "5xx")?;
    move_upstream(&mut setup)?;
    let world = setup.start().await?;
    let host = world.orders.address().to_string();
    world.orders.on("/orders", Answer::Status(500));
    assert_eq!(world.client.get("/orders").await?.status, 500);
    let metrics = world.recorded(&host, 3).await?;
    assert_eq!((world.orders.hits("/orders"), calls(&metrics, &host, "failed")), (3, 3));

    // Two more attempts open it; the third is not made, and is the last word.
    let reply = world.client.get("/orders").await?;
    assert_eq!(Rejection::read(&reply)?.breaker, host);
    let metrics = world.moved(&host, "closed", "open", 1).await?;
    assert_eq!((world.orders.hits("/orders"), calls(&metrics, &host, "failed")), (5, 5));
    assert_eq!(metrics.sum("breakerbox_not_permitted_calls", &[("breaker", &host)]), 1);

    Rejection::read(&world.client.get("/orders").await?)?;
    assert_eq!(world.orders.hits("/orders"), 5);
    Ok(())
}

#[tokio::test]
async fn upstream_every_ending_is_what_it_is_in_the_listener() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.route(ORDERS)?["route"]["timeout"] = "0.3s".into();
    setup.bootstrap.connection_manager()?["stream_idle_timeout"] = "1s".into();
    move_upstream(&mut setup)?;
    let mut world = setup.start().await?;
    for (behaviour, expected) in [
        (Behaviour::from(Answer::Status(200)), Counts::SUCCESSFUL),
        (Answer::Status(404).into(), Counts::SUCCESSFUL),
        (Answer::Status(503).into(), Counts::FAILED),
        (Answer::CloseBeforeHeaders.into(), Counts::FAILED),
        (Answer::ResetInBody.into(), Counts::FAILED),
        (Answer::StallInBody.into(), Counts::FAILED),
        (Behaviour::hang(), Counts::FAILED),
    ] {
        world.orders.on("/orders", behaviour.clone());
        let before = world.counts(ORDERS).await?;
        world.client.get("/orders").await?;
        assert_eq!(world.news(before).await?, expected, "{behaviour:?}");
    }

    world.orders.on("/orders", Answer::StallInBody);
    let before = world.counts(ORDERS).await?;
    let exchange = world.client.open(world.client.request(Method::GET, "/orders")?).await?;
    assert_eq!(exchange.status(), 200);
    drop(exchange);
    assert_eq!(world.news(before).await?, Counts::IGNORED, "the client left");

    world.orders.on("/orders", Behaviour::hang());
    let before = world.counts(ORDERS).await?;
    world.waiting_at_orders().await?.abort();
    assert_eq!(world.news(before).await?, Counts::IGNORED, "the client left before the response");

    for (content_type, expected) in [("text/plain", b"HTTP/1.1 408"), ("application/grpc", b"HTTP/1.1 200")] {
        let before = world.counts(ORDERS).await?;
        let mut stream = TcpStream::connect(world.client.server()).await?;
        let head = format!("POST /orders HTTP/1.1\r\nhost: shop\r\ncontent-type: {content_type}\r\n");
        stream.write_all(format!("{head}content-length: 9\r\n\r\nstart").as_bytes()).await?;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await?;
        assert_eq!(&status, expected);
        assert_eq!(
            world.news(before).await?,
            Counts::IGNORED,
            "the client did not go on sending {content_type}"
        );
    }

    let before = world.counts(ORDERS).await?;
    world.orders.stop_listening().await;
    assert_eq!(world.client.get("/orders").await?.status, 503);
    assert_eq!(world.news(before).await?, Counts::FAILED, "connection refused");
    Ok(())
}

#[tokio::test]
async fn upstream_causes_tell_connections_that_fail_from_answers_that_break_off() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    configure(&mut setup, &json!({ "default": { "record_on": ["connect_failure"] } }))?;
    move_upstream(&mut setup)?;
    let mut world = setup.start().await?;
    for answer in [Answer::CloseBeforeHeaders, Answer::ResetInBody, Answer::Status(500)] {
        world.orders.on("/orders", answer);
        let before = world.counts(ORDERS).await?;
        world.client.get("/orders").await?;
        assert_eq!(world.news(before).await?, Counts::SUCCESSFUL, "{answer:?}");
    }
    let before = world.counts(ORDERS).await?;
    world.orders.stop_listening().await;
    world.client.get("/orders").await?;
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn upstream_an_answer_that_is_dropped_for_a_retry_counts_as_what_it_says() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    retry(&mut setup, "retriable-4xx")?;
    move_upstream(&mut setup)?;
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(409));
    assert_eq!(world.client.get("/orders").await?.status, 409);
    // 409 is no failure, though the answers to the first attempts were never read to their end.
    let hits = world.orders.hits("/orders");
    let metrics = world.recorded(ORDERS, hits).await?;
    assert_eq!((hits, calls(&metrics, ORDERS, "successful")), (3, 3));
    Ok(())
}
