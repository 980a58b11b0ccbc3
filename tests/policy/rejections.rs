use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;

use crate::request::{BREAKER, ask, ask_grpc, get};
use crate::world::{PATIENCE, Rejection, Setup, World};

async fn start() -> Result<World> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker",
        "default": { "consecutive_failures": 1, "wait_in_open": "1h" },
        "breakers": {
            "page": { "reject": {
                "status": 429, "headers": { "x-from": "the breaker" }, "body": "<h1>Later</h1>",
                "content_type": "text/html", "retry_after": "90500ms", "envoy_ratelimited": true,
            } },
            "silent": { "reject": { "retry_after": false } },
            "rpc": { "reject": { "status": 429, "grpc_status": "RESOURCE_EXHAUSTED", "body": "not for gRPC" } },
            "*": {},
        },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    setup.log_access(
        "access: %RESPONSE_CODE% %FILTER_STATE(wasm.breakerbox.breaker:PLAIN)% \
         %FILTER_STATE(wasm.breakerbox.decision:PLAIN)%",
    )?;
    setup.start().await
}

async fn open(world: &World, breaker: &str) -> Result<()> {
    world.orders.on("/orders", Answer::Status(500));
    assert_eq!(ask(world, breaker, "/orders").await?.status, 500);
    world.moved(breaker, "closed", "open", 1).await?;
    Ok(())
}

#[tokio::test]
async fn a_rejected_client_gets_what_the_configuration_says() -> Result<()> {
    let world = start().await?;
    for breaker in ["page", "silent", "plain", "rpc"] {
        open(&world, breaker).await?;
    }
    let page = ask(&world, "page", "/orders").await?;
    assert_eq!((page.status.as_u16(), page.text().as_str()), (429, "<h1>Later</h1>"));
    for (name, value) in [
        ("content-type", "text/html"),
        ("retry-after", "91"),
        ("x-from", "the breaker"),
        ("x-envoy-ratelimited", "true"),
    ] {
        assert_eq!(page.header(name), Some(value), "{name}");
    }

    let silent = ask(&world, "silent", "/orders").await?;
    assert_eq!((Rejection::read(&silent)?.reason.as_str(), silent.header("retry-after")), ("open", None));

    let plain = ask(&world, "plain", "/orders").await?;
    assert_eq!(Rejection::read(&plain)?.breaker, "plain");
    assert_eq!((plain.header("retry-after"), plain.header("x-envoy-ratelimited")), (Some("3600"), None));

    let rpc = ask_grpc(&world, "rpc", "/orders").await?;
    assert_eq!((rpc.status.as_u16(), rpc.header("grpc-status")), (200, Some("8")));
    assert!(rpc.header("grpc-message").is_some_and(|message| message.contains("rpc")), "{rpc:?}");
    assert_eq!(world.orders.hits("/orders"), 4);
    Ok(())
}

#[tokio::test]
async fn access_logs_name_the_breaker_and_what_it_decided() -> Result<()> {
    let world = start().await?;
    open(&world, "plain").await?;
    ask(&world, "plain", "/orders").await?;
    let logged = |line: &str| line == "access: 503 plain rejected";
    world.envoy.log().wait_for(logged, PATIENCE).await?;
    // Requests that pass pay nothing for it.
    let lines = world.envoy.log().lines();
    assert!(lines.iter().any(|line| line == "access: 500 - -"), "{lines:#?}");
    Ok(())
}

#[tokio::test]
async fn a_client_cannot_write_into_the_answer_or_the_log() -> Result<()> {
    let world = start().await?;
    let strange = r#"a"b\c[d]%"#;
    world.orders.on("/orders", Answer::Status(500));
    let request = || get(&world, "/orders", &[(BREAKER, strange)]);
    assert_eq!(world.client.send(request()?).await?.status, 500);
    world.moved(r#"a"b\c%5Bd%5D%25"#, "closed", "open", 1).await?;
    let rejection = Rejection::read(&world.client.send(request()?).await?)?;
    assert_eq!(rejection.breaker, strange);
    let logged = |line: &str| line.contains(r#"breakerbox: "a\"b\\c[d]%" closed -> open"#);
    world.envoy.log().wait_for(logged, PATIENCE).await?;
    Ok(())
}
