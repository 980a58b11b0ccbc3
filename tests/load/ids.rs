use anyhow::{Context as _, Result};
use breakerbox_host::client::Reply;
use breakerbox_host::envoy::Metrics;
use breakerbox_host::upstream::Answer;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::samples::Samples;
use crate::size::soak;
use crate::traffic::Visitor;
use crate::world::{PATIENCE, Rejection, Setup, World};

const BREAKER: HeaderName = HeaderName::from_static("x-breaker");
const IDS: u64 = 10_000;
const CLIENTS: u64 = 8;
/// The default of `max_breakers`.
const MOST: u64 = 1000;

fn get(world: &World, id: &[u8]) -> Result<Request<Full<Bytes>>> {
    let mut request = world.client.request(Method::GET, "/orders")?;
    request.headers_mut().insert(BREAKER, HeaderValue::from_bytes(id)?);
    Ok(request)
}

/// Sends a request with each of the ids of a round.
async fn strangers(world: &World, round: u64) -> Result<()> {
    let mut clients = JoinSet::new();
    for first in 0..CLIENTS {
        let mut visitor = Visitor::new(world.client, true);
        let ids = (first..IDS).step_by(usize::try_from(CLIENTS)?);
        let requests = ids.map(|nth| get(world, format!("stranger {round}/{nth}").as_bytes()));
        let requests = requests.collect::<Result<Vec<_>>>()?;
        clients.spawn(async move {
            for request in requests {
                assert_eq!(visitor.send(request).await?.status, 200);
            }
            anyhow::Ok(())
        });
    }
    clients.join_all().await.into_iter().collect()
}

fn series(metrics: &Metrics) -> usize {
    metrics.to_string().lines().count()
}

#[tokio::test]
async fn ten_thousand_ids_make_no_more_breakers_than_are_allowed_and_take_no_more_memory() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    setup.bootstrap.configure_filter(&json!({ "per": "header:x-breaker" }).to_string())?;
    let world = setup.start().await?;
    let rounds = 2 + 2 * u64::from(soak());
    let mut samples = Samples::default();
    let mut known = None;
    for round in 1..=rounds {
        strangers(&world, round).await?;
        let unguarded = round * IDS - MOST;
        let passed = |metrics: &Metrics| metrics.sum("breakerbox_unguarded_calls", &[]) >= unguarded;
        let metrics = world.envoy.wait_for_metrics(passed, PATIENCE).await?;
        assert_eq!(metrics.sum("breakerbox_unguarded_calls", &[]), unguarded);
        let breakers = metrics.matching("breakerbox_state", &[]).count();
        assert_eq!(u64::try_from(breakers)?, MOST);
        let series = series(&metrics);
        assert_eq!(*known.get_or_insert(series), series);
        samples.take(&world.envoy, round * IDS)?;
    }
    println!("ids: {} series, {samples}", known.unwrap_or(0));
    assert!(samples.are_flat(), "{samples}");
    let full = |line: &String| line.contains("there are 1000 breakers (max_breakers)");
    assert_eq!(world.envoy.log().lines().iter().filter(|line| full(line)).count(), 1);
    Ok(())
}

#[tokio::test]
async fn ids_of_any_bytes_and_any_length_are_names_in_answers_metrics_and_the_list() -> Result<()> {
    let mut setup = Setup::new(&json!({}))?;
    let configuration = json!({
        "per": "header:x-breaker", "default": { "consecutive_failures": 1, "wait_in_open": "1h" },
    });
    setup.bootstrap.configure_filter(&configuration.to_string())?;
    setup.bootstrap.connection_manager()?["max_request_headers_kb"] = 96.into();
    let world = setup.start().await?;
    world.orders.on("/orders", Answer::Status(500));
    let (long, no_text) = (vec![b'x'; 60 * 1024], vec![0xff; 60 * 1024]);
    let cases: [(&[u8], &str, &str); 8] = [
        (b"\xff\xfe\x80", "%FF%FE%80", "%25FF%25FE%2580"),
        (b"a\xffb", "a%FFb", "a%25FFb"),
        ("f\u{fc}r".as_bytes(), "f\u{fc}r", "f%C3%BCr"),
        (b"x][kind=failed", "x][kind=failed", "x%5D%5Bkind=failed"),
        (b"\"><script>alert(1)</script>", "\"><script>alert(1)</script>", "\"><script>alert(1)</script>"),
        (b"a\\b;c,d={e}", "a\\b;c,d={e}", "a\\b;c,d={e}"),
        (b"tab\there", "tab\there", "tab%09here"),
        (b"../../breakers", "../../breakers", "../../breakers"),
    ];
    let mut names = Vec::new();
    for (bytes, name, label) in cases {
        assert_eq!(open(&world, bytes).await?, name);
        let metrics = world.moved(label, "closed", "open", 1).await?;
        assert_eq!(metrics.sum("breakerbox_state", &[("breaker", label)]), 1, "{metrics}");
        names.push(name.to_owned());
    }
    // Cut, with a hash of the whole, so that they stay apart; each byte that is no text takes three.
    for bytes in [&long[..], &long[1..], &no_text, &no_text[1..]] {
        let name = open(&world, bytes).await?;
        let (start, hash) = name.split_once('~').context("it is not cut")?;
        assert_eq!((start.len(), hash.len()), (239, 16), "{name}");
        assert!(start.chars().all(|letter| "x%F".contains(letter)), "{name}");
        world.moved(&name.replace('%', "%25"), "closed", "open", 1).await?;
        names.push(name);
    }
    // No id at all.
    for _ in 0..3 {
        assert_eq!(world.client.send(get(&world, b"")?).await?.status, 500);
    }
    let metrics = world.envoy.metrics().await?;
    assert_eq!(metrics.sum("breakerbox_unguarded_calls", &[]), 3);

    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 12);
    assert_eq!(metrics.matching("breakerbox_state", &[]).count(), names.len(), "{metrics}");
    let admin = world.envoy.listener("breakers").await?;
    let list: Value = serde_json::from_str(&admin.get("/breakers").await?.text())?;
    let listed = list["breakers"].as_array().context("not a list")?.iter();
    let listed: Vec<_> = listed.map(|breaker| breaker["id"].as_str().unwrap_or_default()).collect();
    assert_eq!(listed, names);
    for name in &names {
        let path = name.bytes().fold("/breakers/".to_owned(), |path, byte| format!("{path}%{byte:02x}"));
        let breaker: Value = serde_json::from_str(&admin.get(&path).await?.text())?;
        assert_eq!((&breaker["id"], &breaker["state"]), (&json!(name), &json!("open")));
    }
    assert!(!admin.get("/").await?.text().contains("alert(1)"));
    let panicked = |line: &&String| line.contains("panic");
    assert_eq!(world.envoy.log().lines().iter().find(panicked), None);
    Ok(())
}

/// Opens the breaker of an id; returns its name, as its rejections say.
async fn open(world: &World, id: &[u8]) -> Result<String> {
    let ask = async || -> Result<Reply> { world.client.send(get(world, id)?).await };
    assert_eq!(ask().await?.status, 500);
    loop {
        // A client may have its answer before it is recorded.
        if let Ok(rejection) = Rejection::read(&ask().await?) {
            return Ok(rejection.breaker);
        }
    }
}
