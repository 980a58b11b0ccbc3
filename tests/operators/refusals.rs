//! What the role `admin` refuses.

use anyhow::Result;
use breakerbox_host::client::Reply;
use hyper::Method;
use serde_json::{Value, json};

use crate::world::World;

const MARKED: (&str, &str) = ("x-breakerbox", "1");

async fn start() -> Result<World> {
    let world = World::start(&json!({ "role": "admin" })).await?;
    world.call("orders", "/orders").await?;
    Ok(world)
}

fn error(reply: &Reply) -> Result<String> {
    let body: Value = serde_json::from_str(&reply.text())?;
    Ok(body["error"].as_str().unwrap_or_default().to_owned())
}

async fn assert_untouched(world: &World) -> Result<()> {
    assert_eq!(world.breaker("orders").await?["state"], "closed");
    assert_eq!(world.call("orders", "/orders").await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_control_without_the_header_that_other_sites_cannot_send_is_refused() -> Result<()> {
    let world = start().await?;
    // What a form or a simple script on another site sends.
    for headers in [
        vec![],
        vec![("origin", "https://evil.example"), ("content-type", "text/plain")],
        vec![("content-type", "application/x-www-form-urlencoded")],
        vec![("x-breakerbox", "")],
    ] {
        let reply = world.ask(Method::POST, "/breakers/orders/force-open", &headers).await?;
        assert_eq!(reply.status, 403, "{headers:?}");
        assert!(error(&reply)?.contains("x-breakerbox: 1"), "{}", reply.text());
    }
    assert_untouched(&world).await?;
    let reply = world.ask(Method::POST, "/breakers/orders/force-open", &[MARKED]).await?;
    assert_eq!(reply.status, 200);
    assert_eq!(world.breaker("orders").await?["state"], "forced_open");
    Ok(())
}

#[tokio::test]
async fn a_browser_that_asks_for_another_site_whether_it_may_is_refused() -> Result<()> {
    let world = start().await?;
    let preflight = [
        ("origin", "https://evil.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "x-breakerbox"),
        MARKED,
    ];
    let reply = world.ask(Method::OPTIONS, "/breakers/orders/force-open", &preflight).await?;
    assert_eq!(reply.status, 405);
    assert!(!reply.headers.keys().any(|name| name.as_str().starts_with("access-control")), "{reply:?}");
    Ok(())
}

#[tokio::test]
async fn a_name_that_somebody_else_may_have_pointed_here_is_refused() -> Result<()> {
    let world = start().await?;
    for host in ["evil.example", "evil.example:9900", "127.0.0.1.evil.example"] {
        for (method, path) in [(Method::GET, "/breakers"), (Method::POST, "/breakers/orders/force-open")] {
            let reply = world.ask(method, path, &[("host", host), MARKED]).await?;
            assert_eq!(reply.status, 403, "{host}");
            assert!(error(&reply)?.contains("`token`"), "{}", reply.text());
        }
    }
    assert_untouched(&world).await
}

#[tokio::test]
async fn a_missing_or_wrong_token_is_refused() -> Result<()> {
    let world = World::start(&json!({ "role": "admin", "token": "s3cret" })).await?;
    world.call("orders", "/orders").await?;
    let right = ("authorization", "Bearer s3cret");
    let posts = "/breakers/orders/force-open";
    for authorization in
        ["", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET", "s3cret", "Basic s3cret"]
    {
        for (method, path) in
            [(Method::GET, "/breakers"), (Method::GET, "/breakers/orders"), (Method::POST, posts)]
        {
            let reply = world.ask(method, path, &[("authorization", authorization), MARKED]).await?;
            assert_eq!(reply.status, 401, "{authorization}");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
            assert!(!reply.text().contains("s3cret"), "{}", reply.text());
        }
    }
    // A token does not stand for the header: a browser may have been told to remember it.
    assert_eq!(world.ask(Method::POST, posts, &[right]).await?.status, 403);
    // With it any name will do.
    let reply = world.ask(Method::GET, "/breakers/orders", &[right, ("host", "breakers.example")]).await?;
    assert_eq!(reply.status, 200);
    assert!(reply.text().contains(r#""state":"closed""#), "{}", reply.text());
    // The page, which asks for the token, is no secret.
    assert_eq!(world.ask(Method::GET, "/", &[]).await?.status, 200);
    Ok(())
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_finds_nothing() -> Result<()> {
    let world = start().await?;
    for path in [
        "/breakers/../../etc/passwd",
        "/breakers/..%2F..%2Fetc%2Fpasswd",
        "/breakers/../index/0",
        "/../breakers",
        "//breakers",
        "/breakers/%00",
        "/breakers/orders%00",
        "/breakers/orders/",
        "/breakersorders",
        "/page.html",
        "/stats",
    ] {
        let reply = world.ask(Method::GET, path, &[]).await?;
        // Envoy itself refuses some of them.
        assert!(reply.status == 404 || reply.status == 400, "{path}: {reply:?}");
    }
    for path in [
        "/breakers/../index/0/reset",
        "/breakers//reset",
        "/breakers/nobody/reset",
        "/breakers/orders/explode",
    ] {
        let reply = world.ask(Method::POST, path, &[MARKED]).await?;
        assert_eq!(reply.status, 404, "{path}");
    }
    // Asking for what is not there makes nothing.
    let all: Value = serde_json::from_str(&world.ask(Method::GET, "/breakers", &[]).await?.text())?;
    assert_eq!(all["breakers"].as_array().map(Vec::len), Some(1), "{all}");
    assert_untouched(&world).await
}

#[tokio::test]
async fn an_id_longer_than_any_breakers_is_refused() -> Result<()> {
    let world = start().await?;
    for length in [1_000, 20_000, 50_000] {
        let long = "x".repeat(length);
        for (method, path) in [
            (Method::GET, format!("/breakers/{long}")),
            (Method::POST, format!("/breakers/{long}/force-open")),
        ] {
            let reply = world.ask(method, &path, &[MARKED]).await?;
            assert_eq!(reply.status, 400, "{length}");
            assert!(reply.text().len() < 200, "it repeats the id");
        }
    }
    assert_untouched(&world).await
}

#[tokio::test]
async fn other_methods_are_refused() -> Result<()> {
    let world = start().await?;
    for method in [Method::PUT, Method::DELETE, Method::PATCH, Method::HEAD, Method::TRACE] {
        for (path, allowed) in [("/", "GET"), ("/breakers", "GET, POST"), ("/breakers/orders", "GET, POST")] {
            // Whoever asks for what nobody may do is not sent for a header first.
            for headers in [&[MARKED][..], &[]] {
                let reply = world.ask(method.clone(), path, headers).await?;
                assert_eq!(
                    (reply.status.as_u16(), reply.header("allow")),
                    (405, Some(allowed)),
                    "{method} {path} {headers:?}"
                );
            }
        }
    }
    assert_eq!(world.ask(Method::POST, "/", &[MARKED]).await?.status, 405);
    assert_untouched(&world).await
}

#[tokio::test]
async fn markup_in_an_id_stays_text() -> Result<()> {
    let world = start().await?;
    let id = "<script>alert(1)</script>";
    world.call(id, "/orders").await?;
    assert_eq!(world.breaker(id).await?["state"], "closed");
    for path in ["/breakers", "/breakers/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/breakers/%3Cb%3Enobody"] {
        let reply = world.ask(Method::GET, path, &[]).await?;
        assert_eq!(reply.header("content-type"), Some("application/json"), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn a_browser_is_told_to_trust_nothing_else() -> Result<()> {
    let world = start().await?;
    for path in ["/", "/breakers", "/nothing"] {
        let reply = world.ask(Method::GET, path, &[]).await?;
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
    }
    // One file, with nothing from elsewhere.
    let page = world.ask(Method::GET, "/", &[]).await?;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let text = page.text();
    for outside in [" src=", "@import", "url(", "http://", "https://", " onclick=", " onload="] {
        assert!(!text.contains(outside), "the page has {outside}");
    }
    Ok(())
}
