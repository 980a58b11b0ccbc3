//! `breakerbox demo`: a breaker at work in a real Envoy, told as it happens, and judged at the end.

mod screen;
mod timeline;
mod traffic;
mod verdict;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use breakerbox_host::envoy::{Bootstrap, Envoy};
use breakerbox_host::upstream::{Answer, Upstream};

use screen::Screen;
use timeline::Timeline;
use traffic::Traffic;
use verdict::Facts;

/// The routes of envoy/envoy.yaml, which are also the names of their clusters, and breakers.
const ORDERS: &str = "orders";
const CATALOG: &str = "catalog";
const ORDERS_PATH: &str = "/orders";
const CATALOG_PATH: &str = "/catalog";

/// The listener of envoy/envoy.yaml where operators look.
const BREAKERS: &str = "breakers";

const WORKERS: u32 = 2;

/// How long all is well at the beginning and at the end.
const CALM: Duration = Duration::from_secs(4);
/// After this long, requests that were under way at a transition have ended, on a busy machine too. Less than `wait_in_open`.
const SETTLE: Duration = Duration::from_secs(1);
/// How long a breaker may take to see a failing upstream.
const NOTICE: Duration = Duration::from_secs(5);
/// How long it may take to send its probes: `wait_in_open` of envoy.yaml, with time to spare.
const PROBE: Duration = Duration::from_secs(10);

/// Runs the demo.
///
/// # Errors
/// A breaker did not do what it must, or something needed for the demo is missing.
pub(crate) async fn run(keep: bool) -> Result<()> {
    let mut screen = Screen::new();
    let orders = Upstream::start()?;
    let catalog = Upstream::start()?;
    let mut bootstrap = Bootstrap::shipped()?;
    bootstrap.point_cluster_at(ORDERS, orders.address())?;
    bootstrap.point_cluster_at(CATALOG, catalog.address())?;
    let half_open_calls = bootstrap.filter_configuration()?["default"]["half_open_calls"]
        .as_u64()
        .context("envoy/envoy.yaml does not set half_open_calls")?;
    let envoy = Envoy::start(&bootstrap, WORKERS).await?;

    screen.line(&format!(
        "Envoy with {WORKERS} workers on {}, configured by envoy/envoy.yaml: two routes, a breaker each.\n\
         Every route gets steady traffic. What breakers say is marked with *.",
        envoy.address()
    ));
    let facts = play(&mut screen, &envoy, &orders, half_open_calls).await?;
    screen.line(&facts.summary());
    facts.check()?;
    screen.line("All as it must be.");

    if keep {
        // Told to fail for ever, on the same route and so with the same breaker as /orders.
        orders.on(&failing_path(), Answer::Status(503));
        let breakers = envoy.listener(BREAKERS).await?.server();
        screen.line(&what_to_try(envoy.address(), breakers, envoy.admin().server()));
        tokio::signal::ctrl_c().await?;
    }
    Ok(())
}

/// Lets the upstream of one route fail and recover.
async fn play(screen: &mut Screen, envoy: &Envoy, orders: &Upstream, half_open_calls: u64) -> Result<Facts> {
    let orders_traffic = Traffic::start(envoy.client(), ORDERS_PATH);
    let catalog_traffic = Traffic::start(envoy.client(), CATALOG_PATH);
    let mut timeline = Timeline::new(envoy, &orders_traffic, &catalog_traffic, screen);
    timeline.go_on(CALM).await?;
    timeline
        .go_on_until(Duration::ZERO, |metrics| {
            [ORDERS, CATALOG].iter().all(|breaker| metrics.state(breaker) == Some("closed"))
        })
        .await?
        .context("Envoy does not show the breakers as closed (metric breakerbox_state) although nothing has failed yet")?;

    timeline.act("the upstream of orders begins to fail: it answers 503");
    orders.on(ORDERS_PATH, Answer::Status(503));
    let failing_since = timeline.time();
    let before_outage = orders_traffic.tally();
    let hits_before_outage = orders.hits(ORDERS_PATH);
    timeline
        .go_on_until(NOTICE, |metrics| metrics.moves(ORDERS, "closed", "open") == 1)
        .await?
        .context("the breaker of orders did not open although its upstream fails")?;
    let opened_after = timeline.time().saturating_sub(failing_since);
    timeline.go_on(SETTLE).await?;
    let hits_at_open = orders.hits(ORDERS_PATH);

    let metrics = timeline
        .go_on_until(PROBE, |metrics| metrics.moves(ORDERS, "half_open", "open") > 0)
        .await?
        .context("the open breaker of orders did not probe its upstream and open again")?;
    let reopened = metrics.moves(ORDERS, "half_open", "open");
    timeline.go_on(SETTLE).await?;

    timeline.act("the upstream of orders has recovered: it answers 200");
    orders.on(ORDERS_PATH, Answer::Status(200));
    let healthy_since = timeline.time();
    let outage = orders_traffic.tally() - before_outage;
    let hits_of_probes = orders.hits(ORDERS_PATH) - hits_at_open;
    timeline
        .go_on_until(PROBE, |metrics| metrics.moves(ORDERS, "half_open", "closed") == 1)
        .await?
        .context("the breaker of orders did not close although its upstream has recovered")?;
    let closed_after = timeline.time().saturating_sub(healthy_since);
    timeline.go_on(SETTLE).await?;
    let at_close = orders_traffic.tally();
    timeline.go_on(CALM).await?;

    let metrics = envoy.metrics().await?;
    let orders_tally = orders_traffic.stop().await?;
    let catalog_tally = catalog_traffic.stop().await?;
    Ok(Facts {
        opened_after,
        closed_after,
        outage,
        hits_before_open: hits_at_open - hits_before_outage,
        hits_of_probes,
        reopened,
        half_open_calls,
        orders: orders_tally,
        orders_hits: orders.hits(ORDERS_PATH),
        healed: orders_tally - at_close,
        catalog: catalog_tally,
        catalog_transitions: metrics.sum("breakerbox_transitions", &[("breaker", CATALOG)]),
    })
}

fn failing_path() -> String {
    format!("{ORDERS_PATH}/failing")
}

fn what_to_try(envoy: SocketAddr, breakers: SocketAddr, admin: SocketAddr) -> String {
    let failing = failing_path();
    format!(
        "\nLeft running until interrupted (Ctrl-C). Both breakers, live, with buttons: http://{breakers}/\nTry:\n\
         \x20 curl -i http://{envoy}{ORDERS_PATH}\n\
         \x20 for i in $(seq 20); do curl -s -o /dev/null -w '%{{http_code}} ' http://{envoy}{failing}; done    # opens the breaker\n\
         \x20 curl -i http://{envoy}{ORDERS_PATH}    # rejected; from 5 s later on, a probe\n\
         \x20 curl -s http://{breakers}/breakers/{ORDERS}\n\
         \x20 curl -X POST -H 'x-breakerbox: 1' http://{breakers}/breakers/{ORDERS}/reset\n\
         \x20 curl -s http://{admin}/stats/prometheus | grep ^breakerbox"
    )
}
