use anyhow::Result;
use breakerbox_host::upstream::Answer;
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::json;

use crate::world::{Counts, ORDERS, Rejection, Setup, wait_in_open};

#[tokio::test]
async fn a_websocket_is_judged_at_its_handshake_and_holds_no_probe() -> Result<()> {
    let settings = json!({ "consecutive_failures": 3, "wait_in_open": "300ms", "half_open_calls": 1 });
    let mut setup = Setup::new(&settings)?;
    setup.bootstrap.allow_websocket()?;
    let world = setup.start().await?;
    let client = world.client;

    // A refused handshake counts as what it is.
    world.orders.on("/orders", Answer::Status(500));
    let before = world.counts(ORDERS).await?;
    assert_eq!(client.open(client.websocket_request("/orders")?).await?.status(), 500);
    assert_eq!(world.news(before).await?, Counts::FAILED);
    world.open_orders(2).await?;
    wait_in_open(300).await;

    world.orders.on("/orders", Answer::Upgrade);
    let before = world.counts(ORDERS).await?;
    let session = client.open(client.websocket_request("/orders")?).await?;
    assert_eq!(session.status(), 101);
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    world.moved(ORDERS, "half_open", "closed", 1).await?;

    // The end of the session is no news: the next thing that is recorded is the next call.
    let before = world.counts(ORDERS).await?;
    drop(session);
    world.orders.on("/orders", Answer::Status(404));
    assert_eq!(client.get("/orders").await?.status, 404);
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    Ok(())
}

#[tokio::test]
async fn header_bytes_that_are_no_text_crash_no_vm() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    // Every header that the filter reads, and one whose value is the name of a breaker.
    let configuration = json!({
        "per": "header:x-tenant",
        "default": { "consecutive_failures": 3, "wait_in_open": "1m" },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    let strange = || -> Result<_> {
        let mut request = world.client.request(Method::GET, "/orders")?;
        for name in ["content-type", "upgrade", "te", "user-agent", "x-tenant"] {
            request
                .headers_mut()
                .insert(HeaderName::from_static(name), HeaderValue::from_bytes(b"\xff\xfe\x80")?);
        }
        Ok(request)
    };
    for _ in 0..20 {
        assert_eq!(world.client.send(strange()?).await?.status, 200);
    }
    world.orders.on("/orders", Answer::Status(500));
    for _ in 0..3 {
        assert_eq!(world.client.send(strange()?).await?.status, 500);
    }
    world.moved("%25FF%25FE%2580", "closed", "open", 1).await?;
    for _ in 0..20 {
        let rejection = Rejection::read(&world.client.send(strange()?).await?)?;
        assert_eq!((rejection.breaker.as_str(), rejection.reason.as_str()), ("%FF%FE%80", "open"));
    }
    let lines = world.envoy.log().lines();
    assert!(!lines.iter().any(|line| line.contains("panic")), "{lines:#?}");
    Ok(())
}
