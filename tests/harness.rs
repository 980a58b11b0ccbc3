//! The harness does what tests rely on: the upstream fails as it is told to, and Envoy takes or refuses updates.

use std::time::Duration;

use anyhow::Result;
use breakerbox_host::client::Client;
use breakerbox_host::envoy::{Bootstrap, Envoy, Update};
use breakerbox_host::upstream::{Answer, Behaviour, Gate, Traffic, Upstream};
use hyper::Method;

const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::test]
async fn the_upstream_fails_as_it_is_told_to() -> Result<()> {
    let upstream = Upstream::start()?;
    let client = Client::new(upstream.address());
    assert_eq!(client.get("/a").await?.status, 200);

    upstream.on("/a", Answer::Status(503));
    assert_eq!(client.get("/a").await?.status, 503);
    assert_eq!(client.get("/a?with=query").await?.status, 503);
    assert_eq!(client.get("/a/below").await?.status, 200);

    upstream.on("/a", Answer::CloseBeforeHeaders);
    client.get("/a").await.unwrap_err();

    upstream.on("/a", Answer::ResetInBody);
    let reply = client.get("/a").await?;
    assert_eq!((reply.status.as_u16(), reply.cut_short), (200, true));
    assert_eq!(reply.text(), "the first part, ");

    upstream.on("/a", Answer::StallInBody);
    let exchange = client.open(client.request(Method::GET, "/a")?).await?;
    assert_eq!(exchange.status(), 200);
    tokio::time::timeout(Duration::from_millis(200), exchange.finish()).await.unwrap_err();

    assert_eq!(upstream.traffic("/a"), Traffic { hits: 6, waiting: 0 });
    Ok(())
}

#[tokio::test]
async fn grpc_statuses_come_in_trailers_or_in_headers() -> Result<()> {
    let upstream = Upstream::start()?;
    let client = Client::new(upstream.address());

    upstream.on("/shop.Orders/List", Answer::Grpc(14));
    let reply = client.grpc("/shop.Orders/List").await?;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 5));
    assert_eq!(reply.trailers.get("grpc-status").map(|value| value.as_bytes()), Some(&b"14"[..]));

    for answer in [Answer::GrpcTrailersOnly(4), Answer::GrpcEmptyBody(4)] {
        upstream.on("/shop.Orders/List", answer);
        let reply = client.grpc("/shop.Orders/List").await?;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 0));
        assert_eq!(reply.headers.get("grpc-status").map(|value| value.as_bytes()), Some(&b"4"[..]));
    }

    upstream.on("/shop.Orders/List", Answer::ResetInBody);
    let reply = client.grpc("/shop.Orders/List").await?;
    assert_eq!((reply.status.as_u16(), reply.cut_short), (200, true));
    Ok(())
}

#[tokio::test]
async fn an_upgrade_is_accepted() -> Result<()> {
    let upstream = Upstream::start()?;
    let client = Client::new(upstream.address());
    upstream.on("/live", Answer::Upgrade);
    let session = client.open(client.websocket_request("/live")?).await?;
    assert_eq!(session.status(), 101);
    Ok(())
}

#[tokio::test]
async fn held_requests_wait_for_the_gate_and_those_that_leave_are_noticed() -> Result<()> {
    let upstream = Upstream::start()?;
    let client = Client::new(upstream.address());
    let gate = Gate::new();
    upstream.on("/a", Behaviour::from(Answer::Status(200)).held_by(&gate));
    let held = tokio::spawn(async move { client.get_many(3, "/a").await });
    upstream.wait_for("/a", |traffic| traffic.waiting == 3, PATIENCE).await?;
    gate.open();
    assert!(held.await??.iter().all(|reply| reply.status == 200));

    upstream.on("/a", Behaviour::hang());
    let leaving = tokio::spawn(async move { client.get("/a").await });
    upstream.wait_for("/a", |traffic| traffic.waiting == 1, PATIENCE).await?;
    leaving.abort();
    upstream.wait_for("/a", |traffic| traffic.waiting == 0, PATIENCE).await?;
    Ok(())
}

#[tokio::test]
async fn a_stopped_upstream_refuses_connections_until_it_listens_again() -> Result<()> {
    let mut upstream = Upstream::start()?;
    let client = Client::new(upstream.address());
    upstream.on("/a", Behaviour::hang());
    let cut_off = tokio::spawn(async move { client.get("/a").await });
    upstream.wait_for("/a", |traffic| traffic.waiting == 1, PATIENCE).await?;

    upstream.stop_listening().await;
    cut_off.await?.unwrap_err();
    let error = client.get("/").await.unwrap_err();
    let cause = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    assert_eq!(cause, Some(std::io::ErrorKind::ConnectionRefused), "{error:#}");

    upstream.listen()?;
    assert_eq!(client.get("/").await?.status, 200);
    Ok(())
}

fn answering(status: u16) -> Result<Bootstrap> {
    Bootstrap::from_yaml(&format!(
        r#"
        static_resources:
          listeners:
            - name: ingress
              filter_chains:
                - filters:
                    - name: envoy.filters.network.http_connection_manager
                      typed_config:
                        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                        stat_prefix: ingress
                        route_config:
                          virtual_hosts:
                            - name: all
                              domains: ["*"]
                              routes: [{{ match: {{ prefix: / }}, direct_response: {{ status: {status} }} }}]
                        http_filters:
                          - name: envoy.filters.http.router
                            typed_config: {{ "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router }}
        "#
    ))
}

#[tokio::test]
async fn envoy_applies_an_update_and_refuses_a_bad_one() -> Result<()> {
    let envoy = Envoy::start(&answering(200)?, 2).await?;
    assert_eq!(envoy.client().get("/").await?.status, 200);

    assert_eq!(envoy.update(&answering(204)?).await?, Update::Applied);
    let replies = envoy.client().get_many(20, "/").await?;
    assert!(replies.iter().all(|reply| reply.status == 204), "{replies:?}");

    let Update::Refused(why) = envoy.update(&answering(7)?).await? else {
        panic!("a status of 7 was accepted");
    };
    assert!(why.contains("DirectResponseAction"), "{why}");
    assert_eq!(envoy.client().get("/").await?.status, 204);
    Ok(())
}

#[tokio::test]
async fn an_envoy_that_refuses_its_configuration_says_why() -> Result<()> {
    let error = Envoy::start(&answering(7)?, 1).await.unwrap_err();
    assert!(format!("{error:#}").contains("DirectResponseAction"), "{error:#}");
    Ok(())
}

#[tokio::test]
async fn without_the_filter_envoy_passes_every_kind_of_failure_on() -> Result<()> {
    const METHOD: &str = "/catalog.Items/List";
    let mut orders = Upstream::start()?;
    let catalog = Upstream::start()?;
    let mut bootstrap = Bootstrap::shipped()?;
    bootstrap.remove_filter()?;
    bootstrap.point_cluster_at("orders", orders.address())?;
    bootstrap.point_cluster_at("catalog", catalog.address())?;
    bootstrap.use_http2("catalog")?;
    bootstrap.allow_websocket()?;
    bootstrap.route("orders")?["route"]["timeout"] = "0.3s".into();
    let envoy = Envoy::start(&bootstrap, 2).await?;
    let client = envoy.client();

    let cases = [
        (Behaviour::from(Answer::Status(500)), 500, false),
        (Behaviour::from(Answer::CloseBeforeHeaders), 503, false),
        (Behaviour::hang(), 504, false),
        (Behaviour::from(Answer::ResetInBody), 200, true),
        (Behaviour::from(Answer::StallInBody), 200, true),
        (Behaviour::from(Answer::Status(200)), 200, false),
    ];
    for (behaviour, status, cut_short) in cases {
        orders.on("/orders", behaviour.clone());
        let reply = client.get("/orders").await?;
        assert_eq!((reply.status.as_u16(), reply.cut_short), (status, cut_short), "{behaviour:?}");
    }
    orders.stop_listening().await;
    assert_eq!(client.get("/orders").await?.status, 503);
    orders.listen()?;

    for answer in [Answer::Grpc(14), Answer::GrpcTrailersOnly(14)] {
        catalog.on(METHOD, answer);
        let reply = client.grpc(METHOD).await?;
        assert_eq!((reply.status.as_u16(), reply.header("grpc-status")), (200, Some("14")));
    }

    orders.on("/orders/live", Answer::Upgrade);
    let session = client.open(client.websocket_request("/orders/live")?).await?;
    assert_eq!(session.status(), 101);
    Ok(())
}

#[tokio::test]
async fn envoy_ends_with_the_handle() -> Result<()> {
    let envoy = Envoy::start(&answering(200)?, 1).await?;
    let client = envoy.client();
    drop(envoy);
    // Its end is near, but nobody waits for it.
    let gone = async {
        while client.get("/").await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await?;
    Ok(())
}
