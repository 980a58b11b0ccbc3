use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use breakerbox_host::upstream::{Answer, Behaviour, Upstream};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::size::soak;
use crate::traffic::{Books, Seen, Visitor};
use crate::world::{CATALOG, ORDERS, PATIENCE, Setup, World};

const CLIENTS: u32 = 12;
const SHARE: u32 = 250;
/// How many requests in a row find the upstream healthy, or failing.
const SPELL: u32 = 300;

/// A route to a port where nobody listens.
const NOWHERE: &str = "nowhere";

#[tokio::test]
async fn under_a_mixed_load_the_books_balance() -> Result<()> {
    let settings = json!({
        "window_size": 20, "minimum_calls": 10, "wait_in_open": "30ms", "half_open_calls": 3,
    });
    let mut setup = Setup::new(&settings)?;
    let mut nowhere = Upstream::start()?;
    nowhere.stop_listening().await;
    let clusters = setup.bootstrap.part("/static_resources/clusters")?;
    let mut cluster = clusters[0].clone();
    cluster["name"] = NOWHERE.into();
    clusters.as_array_mut().context("there are no clusters")?.push(cluster);
    setup.bootstrap.point_cluster_at(NOWHERE, nowhere.address())?;
    setup.add_route(json!({
        "name": NOWHERE, "match": { "prefix": "/nowhere" }, "route": { "cluster": NOWHERE },
    }))?;
    // Whoever hangs waits for its client to leave, however busy the machine is.
    setup.bootstrap.route(ORDERS)?["route"]["timeout"] = "60s".into();
    let world = Arc::new(setup.start().await?);
    world.orders.on("/orders/broken", Answer::Status(500));
    world.orders.on("/orders/stall", Answer::StallInBody);

    let sent = Arc::new(AtomicU32::new(0));
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (world, sent) = (Arc::clone(&world), Arc::clone(&sent));
        clients.spawn(async move { visit(&world, number, &sent).await });
    }
    let mut books = Books::collect(clients).await?;
    // Healthy from now on, so that it ends closed.
    world.hammer("/catalog", 1, 1).await?;
    books.note(CATALOG, Seen::Answered(200));
    loop {
        let seen = Seen::of(&world.client.get("/orders").await?)?;
        let is_rejection = seen.is_rejection();
        books.note(ORDERS, seen);
        if !is_rejection && world.state(ORDERS).await? == "closed" {
            break;
        }
    }

    for breaker in [ORDERS, CATALOG, NOWHERE] {
        let metrics = world.recorded(breaker, books.admitted(breaker)).await?;
        books.assert_agree(&metrics, breaker)?;
    }
    let metrics = world.envoy.metrics().await?;
    assert_eq!(metrics.sum("breakerbox_unguarded_calls", &[]), 0);
    let paths = ["/orders", "/orders/broken", "/orders/stall"].map(str::to_owned);
    let hits: u64 =
        paths.into_iter().chain((0..CLIENTS).map(hang)).map(|path| world.orders.hits(&path)).sum();
    let hits = hits + world.catalog.hits("/catalog");
    let rejections = books.all(Seen::is_rejection);
    let errors = books.all(|seen| matches!(seen, Seen::Error(_)));
    let requests = world.envoy.stat("http.ingress.downstream_rq_total").await?;
    assert_eq!(requests, hits + rejections + errors, "{books:?}");
    assert_eq!(requests, books.all(|_| true));
    assert_eq!(books.all(|seen| *seen == Seen::Down), 0);

    let opened = metrics.moves(ORDERS, "closed", "open");
    let closed = metrics.moves(ORDERS, "half_open", "closed");
    assert!(opened > 0 && closed > 0 && errors > 0 && books.all(|seen| *seen == Seen::Left) > 0, "{books:?}");
    println!(
        "books: {requests} requests = {hits} hits + {rejections} rejections + {errors} errors of Envoy's"
    );
    println!("books: opened {opened} times, closed {closed} times");
    for worker in world.envoy.connections_by_worker().await? {
        assert!(worker > 0, "a worker had nothing to do, so this test shows nothing");
    }
    Ok(())
}

/// Where the requests of one client hang.
fn hang(client: u32) -> String {
    format!("/orders/hang/{client}")
}

/// What one client does.
async fn visit(world: &World, number: u32, sent: &AtomicU32) -> Result<Books> {
    let client = world.client;
    let mut visitor = Visitor::new(client, number.is_multiple_of(2));
    let hang = hang(number);
    world.orders.on(&hang, Behaviour::hang());
    let mut books = Books::default();
    for nth in 0..SHARE * soak() {
        let is_broken = (sent.fetch_add(1, Ordering::Relaxed) / SPELL) % 2 == 1;
        let orders = if is_broken { "/orders/broken" } else { "/orders" };
        let (breaker, seen) = match (number + nth) % 10 {
            0..4 => (ORDERS, Seen::of(&visitor.get(orders).await?)?),
            way @ 4..8 => {
                let (breaker, path) = if way < 6 { (ORDERS, orders) } else { (CATALOG, "/catalog") };
                let mut request = client.request(Method::POST, path)?;
                *request.body_mut() = Full::new(Bytes::from(vec![b'x'; 20_000]));
                (breaker, Seen::of(&visitor.send(request).await?)?)
            }
            8 => (NOWHERE, Seen::of(&visitor.get("/nowhere").await?)?),
            _ if nth % 2 == 0 => (ORDERS, leave_before_the_answer(world, &hang).await?),
            _ => (ORDERS, leave_in_mid_answer(world).await?),
        };
        books.note(breaker, seen);
    }
    Ok(books)
}

/// Leaves as soon as the upstream has the request, unless the breaker answers before that.
async fn leave_before_the_answer(world: &World, hang: &str) -> Result<Seen> {
    let hits = world.orders.hits(hang);
    tokio::select! {
        reply = world.client.get(hang) => Seen::of(&reply?),
        there = world.orders.wait_for(hang, |traffic| traffic.hits > hits, PATIENCE) => there.map(|_| Seen::Left),
    }
}

async fn leave_in_mid_answer(world: &World) -> Result<Seen> {
    let exchange = world.client.open(world.client.request(Method::GET, "/orders/stall")?).await?;
    if exchange.status() == 200 { Ok(Seen::Left) } else { Seen::of(&exchange.finish().await) }
}
