use std::collections::BTreeSet;

use anyhow::Result;
use breakerbox_host::client::Reply;
use breakerbox_host::envoy::Update;
use breakerbox_host::upstream::Answer;
use serde_json::json;
use tokio::task::JoinSet;

use crate::request::{BREAKER, ask, get, unguarded};
use crate::world::{PATIENCE, Rejection, Setup, World};

/// The breaker that guards a request for `path` with these headers, found by having it open.
async fn breaker_of(world: &World, path: &str, headers: &[(&str, &str)]) -> Result<String> {
    let send = || async { anyhow::Ok(world.client.send(get(world, path, headers)?).await?) };
    world.orders.on(path.split('?').next().unwrap_or(path), Answer::Status(500));
    let mut replies: Vec<Reply> = vec![send().await?];
    while Rejection::read(&replies[replies.len() - 1]).is_err() {
        // A client may have its answer before it is recorded.
        assert!(replies.len() < 100, "no breaker opens: {replies:?}");
        replies.push(send().await?);
    }
    Ok(Rejection::read(&replies[replies.len() - 1])?.breaker)
}

#[tokio::test]
async fn a_breaker_is_found_by_what_the_configuration_says() -> Result<()> {
    let mut world = Setup::new(&json!({}))?.start().await?;
    for (per, path, headers, breaker) in [
        ("route", "/orders", &[][..], "orders"),
        ("cluster", "/orders", &[], "orders"),
        ("virtual_host", "/orders", &[], "shop"),
        ("host", "/orders", &[("host", "Shop.Example:80")], "shop.example:80"),
        ("header:X-Tenant", "/orders", &[("x-tenant", "Acme")], "Acme"),
        ("path_prefix:2", "/orders/a/b?c=/d", &[], "/orders/a"),
        ("fixed:everything", "/orders", &[], "everything"),
    ] {
        // Breakers outlive configurations: each starts here under a name of its own.
        let settings = json!({ "consecutive_failures": 1, "wait_in_open": "1h" });
        let configuration = json!({ "per": per, "default": settings });
        assert_eq!(world.configure(&configuration).await?, Update::Applied, "{per}");
        assert_eq!(breaker_of(&world, path, headers).await?, breaker, "{per}");
    }
    // Without the header there is no breaker.
    let configuration = json!({ "per": "header:x-tenant", "default": { "consecutive_failures": 1 } });
    assert_eq!(world.configure(&configuration).await?, Update::Applied);
    for _ in 0..3 {
        assert_eq!(world.client.get("/orders").await?.status, 500);
    }
    unguarded(&world, 3).await?;
    Ok(())
}

#[tokio::test]
async fn ids_share_a_breaker_that_the_configuration_gives_them() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker",
        "configs": { "payments": { "window_size": 4, "minimum_calls": 4, "wait_in_open": "1h" } },
        "breakers": {
            "checkout": { "base": "payments", "breaker": "payments" },
            "refund-*": { "base": "payments", "breaker": "payments", "reject": { "status": 504 } },
        },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    for id in ["checkout", "refund-1", "refund-2", "payments"] {
        assert_eq!(ask(&world, id, "/orders").await?.status, 500);
    }
    let metrics = world.moved("payments", "closed", "open", 1).await?;
    assert_eq!(metrics.matching("breakerbox_state", &[]).count(), 1);
    assert_eq!(Rejection::read(&ask(&world, "checkout", "/orders").await?)?.breaker, "payments");
    // Each has its own way to say no.
    assert_eq!(ask(&world, "refund-3", "/orders").await?.status, 504);
    assert_eq!(ask(&world, "others", "/orders").await?.status, 500);
    Ok(())
}

#[tokio::test]
async fn clients_cannot_make_more_breakers_than_are_allowed() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker", "max_breakers": 3,
        "default": { "consecutive_failures": 1, "wait_in_open": "1h" },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    for id in ["a", "b"] {
        assert_eq!(ask(&world, id, "/orders").await?.status, 500);
        world.moved(id, "closed", "open", 1).await?;
    }
    world.orders.on("/orders", Answer::Status(200));
    // Many at once, over both workers, for the one place that is left.
    let mut strangers = JoinSet::new();
    for nth in 0..60 {
        let request = get(&world, "/orders", &[(BREAKER, &format!("stranger-{nth}"))])?;
        let client = world.client;
        strangers.spawn(async move { client.send(request).await });
    }
    for reply in strangers.join_all().await {
        assert_eq!(reply?.status, 200);
    }
    let metrics = unguarded(&world, 59).await?;
    assert_eq!(metrics.matching("breakerbox_state", &[]).count(), 3, "{metrics}");
    // Those that were there stay guarded in every worker.
    for _ in 0..20 {
        assert_eq!(Rejection::read(&ask(&world, "a", "/orders").await?)?.breaker, "a");
    }
    let said = |line: &String| line.contains("there are 3 breakers (max_breakers)");
    world.envoy.log().wait_for(|line| said(&line.to_owned()), PATIENCE).await?;
    assert_eq!(world.envoy.log().lines().iter().filter(|line| said(line)).count(), 1);
    Ok(())
}

#[tokio::test]
async fn long_ids_are_cut_and_stay_apart() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker", "default": { "consecutive_failures": 1, "wait_in_open": "1h" },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    let world = setup.start().await?;
    let mut names = BTreeSet::new();
    for last in ["a", "b"] {
        let id = format!("{}{last}", "x".repeat(1000));
        let name = breaker_of(&world, "/orders", &[(BREAKER, &id)]).await?;
        assert_eq!(name.len(), 256);
        world.moved(&name, "closed", "open", 1).await?;
        names.insert(name);
    }
    assert_eq!(names.len(), 2);
    Ok(())
}
