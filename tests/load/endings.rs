use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::raw_upstream::{RawUpstream, Says};
use crate::wire::Wire;
use crate::world::{Counts, ORDERS, Rejection, Setup, World, wait_in_open};

const WELL: Says = Says::Whole("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
const BADLY: Says = Says::Whole("HTTP/1.1 500 Oh\r\ncontent-length: 0\r\n\r\n");
const WAIT_MILLIS: u64 = 20;

const GET: &str = "GET /orders HTTP/1.1\r\nhost: shop\r\n\r\n";
const POST: &str = "POST /orders HTTP/1.1\r\nhost: shop\r\ntransfer-encoding: chunked\r\n\r\n";

/// One breaker with one probe before an upstream and filters that can end a request anywhere.
struct Stage {
    world: World,
    upstream: RawUpstream,
    recorded: u64,
}

impl Stage {
    async fn set() -> Result<Self> {
        let upstream = RawUpstream::start().await?;
        let mut setup = Setup::new(&json!({}))?;
        let wait = format!("{WAIT_MILLIS}ms");
        let configuration = json!({
            "per": format!("fixed:{ORDERS}"),
            "default": { "consecutive_failures": 1, "wait_in_open": wait, "half_open_calls": 1 },
        });
        setup.bootstrap.configure_filter(&configuration.to_string())?;
        setup.bootstrap.point_cluster_at(ORDERS, upstream.address)?;
        // Trailers of HTTP/1 are dropped otherwise.
        let options = json!({ "enable_trailers": true });
        setup.bootstrap.connection_manager()?["http_protocol_options"] = options.clone();
        let kind = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        setup.bootstrap.cluster(ORDERS)?["typed_extension_protocol_options"][kind] = json!({
            "@type": format!("type.googleapis.com/{kind}"),
            "explicit_http_config": { "http_protocol_options": options },
        });

        let filters = setup.bootstrap.connection_manager()?["http_filters"].as_array_mut();
        let filters = filters.context("there are no filters")?;
        filters.insert(0, fault("earlier"));
        filters.insert(2, fault("later"));
        let limit =
            |kind: &str| format!("type.googleapis.com/envoy.extensions.filters.http.buffer.v3.{kind}");
        filters.insert(
            3,
            json!({
                "name": "limit", "disabled": true,
                "typed_config": { "@type": limit("Buffer"), "max_request_bytes": 8 },
            }),
        );
        for route in [
            json!({
                "name": "limited", "match": { "prefix": "/limited" }, "route": { "cluster": ORDERS },
                "typed_per_filter_config": {
                    "limit": { "@type": limit("BufferPerRoute"), "buffer": { "max_request_bytes": 8 } },
                },
            }),
            json!({
                "name": "timed", "match": { "prefix": "/timed" },
                "route": { "cluster": ORDERS, "timeout": "0.1s" },
            }),
            json!({ "name": "direct", "match": { "path": "/direct" }, "direct_response": { "status": 503 } }),
        ] {
            setup.add_route(route)?;
        }
        setup.bootstrap.route(ORDERS)?["route"]["timeout"] = "60s".into();
        Ok(Self { world: setup.start().await?, upstream, recorded: 0 })
    }

    async fn counts(&self) -> Result<Counts> {
        self.world.counts(ORDERS).await
    }

    /// A closed breaker opens, and waits until the next call is its probe.
    async fn open(&mut self) -> Result<()> {
        self.upstream.says(BADLY);
        let before = self.counts().await?;
        assert_eq!(self.world.client.get("/orders").await?.status, 500);
        assert_eq!(self.world.news(before).await?, Counts::FAILED);
        self.recorded += 1;
        wait_in_open(WAIT_MILLIS).await;
        Ok(())
    }

    /// Sends a request that becomes the probe, and waits until the upstream has it.
    async fn probe(&mut self, says: Says, request: &str) -> Result<Wire> {
        self.upstream.says(says);
        let heads = self.upstream.heads();
        let mut wire = Wire::open(&self.world).await?;
        wire.say(request).await?;
        self.upstream.wait_for(heads + 1).await?;
        let rejection = Rejection::read(&self.world.client.get("/orders").await?)?;
        assert_eq!(rejection.reason, "half_open_full");
        Ok(wire)
    }

    /// The probe has ended: it counts as that, once, and the next probe is admitted.
    async fn next(&mut self, what: &str, before: Counts, expected: Option<[u64; 4]>) -> Result<()> {
        if let Some(expected) = expected {
            assert_eq!(self.world.news(before).await?, expected, "{what}");
            self.recorded += 1;
        }
        if expected == Some(Counts::FAILED) {
            wait_in_open(WAIT_MILLIS).await;
        }
        if expected != Some(Counts::SUCCESSFUL) {
            assert_ne!(self.world.state(ORDERS).await?, "closed", "{what}");
            self.upstream.says(WELL);
            let before = self.counts().await?;
            assert_eq!(self.world.client.get("/orders").await?.status, 200, "{what}");
            assert_eq!(self.world.news(before).await?, Counts::SUCCESSFUL, "{what}");
            self.recorded += 1;
        }
        assert_eq!(self.world.state(ORDERS).await?, "closed", "{what}");
        Ok(())
    }

    /// Nothing was counted twice, late.
    async fn strike(self) -> Result<()> {
        let metrics = self.world.envoy.metrics().await?;
        let calls = metrics.sum("breakerbox_calls", &[("breaker", ORDERS)]);
        assert_eq!(calls, self.recorded, "{metrics}");
        assert_eq!(metrics.sum("breakerbox_calls", &[("kind", "stale")]), 0, "{metrics}");
        Ok(())
    }
}

/// A filter that answers requests which ask for it.
fn fault(name: &str) -> Value {
    json!({
        "name": name,
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
            "abort": { "http_status": 418, "percentage": { "numerator": 100 } },
            "headers": [{ "name": "x-fault", "string_match": { "exact": name } }],
        },
    })
}

#[tokio::test]
async fn wherever_a_client_leaves_its_probe_is_ignored_once_and_the_next_is_admitted() -> Result<()> {
    let mut stage = Stage::set().await?;
    let silent = Says::ThenWaits("");
    let post = |rest: &str| format!("{POST}{rest}");
    let trailer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nstart\r\n0\r\nx-tr";
    let cases = [
        ("before the request's body", post(""), silent, None),
        ("in the request's body", post("5\r\nhello\r\n"), silent, None),
        ("in the request's trailers", post("5\r\nhello\r\n0\r\nx-tr"), silent, None),
        ("after the request's trailers", post("5\r\nhello\r\n0\r\nx-trailer: a\r\n\r\n"), silent, None),
        ("waiting", GET.to_owned(), silent, None),
        ("in the response's headers", GET.to_owned(), Says::ThenWaits("HTTP/1.1 200 OK\r\ncontent-le"), None),
        (
            "before the response's body",
            GET.to_owned(),
            Says::ThenWaits("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
            Some("\r\n\r\n"),
        ),
        (
            "in the response's body",
            GET.to_owned(),
            Says::ThenWaits("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nstart"),
            Some("start"),
        ),
        ("in the response's trailers", GET.to_owned(), Says::ThenWaits(trailer), Some("start")),
        (
            "with an early answer, in the request's body",
            post("5\r\nhello\r\n"),
            Says::ThenWaits("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nstart"),
            Some("start"),
        ),
    ];
    for (what, request, says, heard) in &cases {
        for resets in [false, true] {
            stage.open().await?;
            let before = stage.counts().await?;
            let mut wire = stage.probe(*says, request).await?;
            if let Some(heard) = heard {
                wire.hear(heard).await?;
            }
            if resets {
                wire.reset()?;
            } else {
                drop(wire);
            }
            stage.next(what, before, Some(Counts::IGNORED)).await?;
        }
    }

    // Nothing has come to the filter yet.
    for resets in [false, true] {
        stage.open().await?;
        let before = stage.counts().await?;
        let mut wire = Wire::open(&stage.world).await?;
        wire.say("GET /orders HTTP/1.1\r\nhost: sh").await?;
        if resets {
            wire.reset()?;
        } else {
            drop(wire);
        }
        stage.next("in the request's headers", before, None).await?;
    }
    stage.strike().await
}

#[tokio::test]
async fn wherever_an_upstream_breaks_off_its_probe_fails_once_and_the_next_is_admitted() -> Result<()> {
    let mut stage = Stage::set().await?;
    for (what, text) in [
        ("before the headers", ""),
        ("in the headers", "HTTP/1.1 200 OK\r\ncontent-le"),
        ("before the body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"),
        ("in the body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nstart"),
        ("in the trailers", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nstart\r\n0\r\nx-tr"),
        ("after nonsense", "and now for something\r\n\r\n"),
    ] {
        for says in [Says::ThenCloses(text), Says::ThenResets(text)] {
            for request in [GET, &format!("{POST}5\r\nhello\r\n")] {
                stage.open().await?;
                let before = stage.counts().await?;
                stage.upstream.says(says);
                let mut wire = Wire::open(&stage.world).await?;
                wire.say(request).await?;
                stage.next(&format!("{what}: {says:?} to {request}"), before, Some(Counts::FAILED)).await?;
            }
        }
    }
    stage.strike().await
}

#[tokio::test]
async fn whoever_else_answers_a_probe_it_counts_once_at_most_and_the_next_is_admitted() -> Result<()> {
    let mut stage = Stage::set().await?;
    let fault = |name: &str| format!("GET /orders HTTP/1.1\r\nhost: shop\r\nx-fault: {name}\r\n\r\n");
    let too_long = "POST /limited HTTP/1.1\r\nhost: shop\r\ncontent-length: 99\r\n\r\nmore than eight bytes";
    let cases = [
        ("an earlier filter", fault("earlier"), "418", None),
        ("a later filter", fault("later"), "418", Some(Counts::IGNORED)),
        ("a later filter in mid-body", too_long.to_owned(), "413", Some(Counts::IGNORED)),
        ("the route", GET.replace("orders", "direct"), "503", Some(Counts::IGNORED)),
        ("a timeout", GET.replace("orders", "timed"), "504", Some(Counts::FAILED)),
    ];
    for (what, request, status, expected) in cases {
        stage.open().await?;
        let before = stage.counts().await?;
        stage.upstream.says(Says::ThenWaits(""));
        let mut wire = Wire::open(&stage.world).await?;
        wire.say(request).await?;
        let head = wire.hear("\r\n\r\n").await?;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{what}: {head}");
        stage.next(what, before, expected).await?;
    }
    stage.strike().await
}
