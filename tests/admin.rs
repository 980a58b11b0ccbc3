//! The filter's role `admin`: what an operator sees and does.

use anyhow::Result;
use breakerbox_host::proxy::{Module, Plugin, Proxy, Reply, Request, Response, Worker};
use serde_json::{Value, json};

const FILTER: &str = r#"{"default": {"consecutive_failures": 1, "wait_in_open": "30s"}}"#;

fn start(admin: &str) -> Result<(Proxy, Worker)> {
    let proxy = Proxy::new();
    let plugins = [Plugin::new(FILTER), Plugin::new(admin).named("admin")];
    let worker = proxy.start(&Module::filter()?, &plugins.each_ref())?;
    for route in ["orders", "httproute/shop/carts", "a b"] {
        worker.request(Request::get("/").route(route))?.into_stream()?.respond(Response::new(200))?;
    }
    Ok((proxy, worker))
}

/// With what the admin asks of those who change something.
fn request(method: &str, path: &str) -> Request {
    Request::new(method, path).header("x-breakerbox", "1")
}

fn ask(worker: &Worker, method: &str, path: &str) -> Result<Reply> {
    worker.request_to("admin", request(method, path))?.into_reply()
}

fn json(reply: &Reply) -> Result<Value> {
    assert_eq!(reply.header("content-type"), Some("application/json"));
    Ok(serde_json::from_str(&reply.text())?)
}

#[test]
fn all_breakers_are_listed_by_id() -> Result<()> {
    let (_, worker) = start(r#"{"role": "admin"}"#)?;
    let reply = ask(&worker, "GET", "/breakers")?;
    assert_eq!(reply.status, 200);
    let all = json(&reply)?;
    let ids: Vec<_> = all["breakers"].as_array().unwrap().iter().map(|breaker| &breaker["id"]).collect();
    assert_eq!(ids, ["a b", "httproute/shop/carts", "orders"]);
    assert_eq!(all["breakers"][2]["state"], "closed");
    assert_eq!(all["breakers"][2]["calls"], 1);
    Ok(())
}

#[test]
fn a_breaker_says_where_it_stands_and_why() -> Result<()> {
    let (proxy, worker) = start(r#"{"role": "admin"}"#)?;
    worker.request(Request::get("/").route("orders"))?.into_stream()?.respond(Response::new(503))?;
    proxy.clock().advance(std::time::Duration::from_secs(10));
    let breaker = json(&ask(&worker, "GET", "/breakers/orders?pretty")?)?;
    assert_eq!(breaker["state"], "open");
    assert_eq!(breaker["state_age_ms"], 10_000);
    assert_eq!(breaker["retry_after_ms"], 20_000.0);
    assert_eq!(breaker["last_transition"]["reason"], "consecutive_failures");
    assert_eq!(
        breaker["last_transition"]["why"],
        "closed -> open: failures in a row reached 1; next probe in 30s"
    );
    Ok(())
}

#[test]
fn a_breaker_shows_the_settings_that_decide_when_it_opens_and_closes() -> Result<()> {
    let written = r#"{"default": {
        "window_size": 50, "minimum_calls": 20, "failure_rate_threshold": 25.5, "slow_call_duration": "1500ms",
        "slow_call_rate_threshold": 80, "consecutive_failures": 5, "wait_in_open": "30s",
        "open_backoff": { "multiplier": 1.5, "max": "5m" }, "open_jitter": 0.2, "half_open_calls": 3,
        "half_open_policy": "all_must_succeed", "max_wait_in_half_open": "10s", "enabled": false
    }}"#;
    let shown = json!({
        "enabled": false, "window_type": "count", "window_size": 50, "minimum_calls": 20,
        "failure_rate_threshold": 25.5, "slow_call_duration_ms": 1500.0, "slow_call_rate_threshold": 80.0,
        "consecutive_failures": 5, "wait_in_open_ms": 30_000.0,
        "open_backoff": { "multiplier": 1.5, "max_ms": 300_000.0 }, "open_jitter": 0.2, "half_open_calls": 3,
        "half_open_policy": "all_must_succeed", "max_wait_in_half_open_ms": 10_000.0,
    });
    let off = json!({
        "enabled": true, "window_type": "count", "window_size": 100, "minimum_calls": 100,
        "failure_rate_threshold": 50.0, "slow_call_duration_ms": null, "slow_call_rate_threshold": null,
        "consecutive_failures": null, "wait_in_open_ms": 60_000.0, "open_backoff": null, "open_jitter": 0.0,
        "half_open_calls": 10, "half_open_policy": "rate", "max_wait_in_half_open_ms": null,
    });
    for (filter, settings) in [(written, shown), (r#"{"default": {"max_wait_in_half_open": "0s"}}"#, off)] {
        let plugins = [Plugin::new(filter), Plugin::new(r#"{"role": "admin"}"#).named("admin")];
        let worker = Proxy::new().start(&Module::filter()?, &plugins.each_ref())?;
        worker.request(Request::get("/").route("orders"))?.into_stream()?.respond(Response::new(200))?;
        assert_eq!(json(&ask(&worker, "GET", "/breakers/orders")?)?["settings"], settings);
    }
    Ok(())
}

#[test]
fn an_id_may_have_slashes_and_is_percent_decoded() -> Result<()> {
    let (_, worker) = start(r#"{"role": "admin"}"#)?;
    for (path, id) in [
        ("/breakers/httproute/shop/carts", "httproute/shop/carts"),
        ("/breakers/httproute%2Fshop%2Fcarts", "httproute/shop/carts"),
        ("/breakers/a%20b", "a b"),
    ] {
        assert_eq!(json(&ask(&worker, "GET", path)?)?["id"], id);
    }
    let forced = ask(&worker, "POST", "/breakers/httproute/shop/carts/force-open")?;
    assert_eq!(json(&forced)?["state"], "forced_open");
    Ok(())
}

#[test]
fn controls_hold_in_every_worker_and_are_logged() -> Result<()> {
    let (proxy, worker) = start(r#"{"role": "admin"}"#)?;
    let other = proxy.start(&Module::filter()?, &[&Plugin::new(FILTER)])?;
    let passes =
        || Ok::<_, anyhow::Error>(other.request(Request::get("/").route("orders"))?.into_reply().is_err());
    assert!(passes()?);

    assert_eq!(json(&ask(&worker, "POST", "/breakers/orders/force-open")?)?["state"], "forced_open");
    assert!(!passes()?);
    assert!(proxy.log().contains(r#""orders" closed -> forced_open: opened by hand"#), "{}", proxy.log());

    assert_eq!(json(&ask(&worker, "POST", "/breakers/orders/disable")?)?["state"], "disabled");
    assert!(passes()?);
    assert_eq!(json(&ask(&worker, "POST", "/breakers/orders/reset")?)?["state"], "closed");
    assert!(passes()?);
    Ok(())
}

#[test]
fn what_is_unknown_is_404_with_a_suggestion() -> Result<()> {
    let (_, worker) = start(r#"{"role": "admin"}"#)?;
    for (method, path, error) in [
        ("GET", "/breakers/ordres", "no breaker ordres; did you mean `orders`?"),
        ("POST", "/breakers/ordres/reset", "no breaker ordres; did you mean `orders`?"),
        ("POST", "/breakers/orders/rest", "no control rest; did you mean `reset`?"),
        ("POST", "/breakers/orders", "post to /breakers/ID/force-open"),
        ("GET", "/breaker", "there are /breakers and /breakers/ID"),
        ("GET", "/breakersorders", "there are /breakers and /breakers/ID"),
    ] {
        let reply = ask(&worker, method, path)?;
        assert_eq!(reply.status, 404, "{method} {path}");
        assert!(json(&reply)?["error"].as_str().unwrap().starts_with(error), "{}", reply.text());
    }
    let reply = ask(&worker, "DELETE", "/breakers/orders")?;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, POST")));
    Ok(())
}

#[test]
fn before_the_first_request_it_says_that_requests_make_breakers() -> Result<()> {
    let worker = Proxy::new().start(
        &Module::filter()?,
        &[&Plugin::new(FILTER), &Plugin::new(r#"{"role": "admin"}"#).named("admin")],
    )?;
    assert_eq!(json(&ask(&worker, "GET", "/breakers")?)?["breakers"], Value::Array(vec![]));
    for (method, path) in [("GET", "/breakers/orders"), ("POST", "/breakers/orders/force-open")] {
        let reply = ask(&worker, method, path)?;
        assert_eq!(reply.status, 404, "{method}");
        let error = "no breaker orders (a breaker exists once a request has met it)";
        assert_eq!(json(&reply)?["error"], error, "{method}");
    }
    Ok(())
}

#[test]
fn a_token_keeps_others_out() -> Result<()> {
    let (_, worker) = start(r#"{"role": "admin", "token": "s3cret"}"#)?;
    let with = |value| {
        worker.request_to("admin", Request::get("/breakers").header("authorization", value))?.into_reply()
    };
    for right in ["Bearer s3cret", "bearer s3cret", "BEARER s3cret"] {
        assert_eq!(with(right)?.status, 200, "{right}");
    }
    for wrong in ["Bearer s3cre", "Bearer", "s3cret", "Basic s3cret"] {
        assert_eq!(with(wrong)?.status, 401, "{wrong}");
    }
    let reply = ask(&worker, "POST", "/breakers/orders/force-open")?;
    assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")));
    Ok(())
}

#[test]
fn an_admin_without_filters_shows_what_others_guard() -> Result<()> {
    let (proxy, _worker) = start(r#"{"role": "admin"}"#)?;
    let alone = proxy.start(&Module::filter()?, &[&Plugin::new(r#"{"role": "admin"}"#)])?;
    let ask = |method, path| alone.request(request(method, path))?.into_reply();
    assert_eq!(json(&ask("GET", "/breakers/orders")?)?["calls"], 1);
    assert_eq!(json(&ask("POST", "/breakers/orders/force-open")?)?["state"], "forced_open");
    Ok(())
}
