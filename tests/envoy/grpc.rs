use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::{Value, json};

use crate::world::{CATALOG, Counts, Setup, World, calls};

const METHOD: &str = "/catalog.Items/List";

async fn grpc_upstream(settings: &Value) -> Result<World> {
    let mut setup = Setup::new(settings)?;
    setup.bootstrap.use_http2(CATALOG)?;
    setup.start().await
}

#[tokio::test]
async fn statuses_that_mean_trouble_are_failures_in_trailers_and_in_headers_that_nothing_follows()
-> Result<()> {
    const TROUBLE: [u16; 5] = [2, 4, 8, 13, 14];
    let world = grpc_upstream(&json!({})).await?;
    for status in 0..=16 {
        let expected = if TROUBLE.contains(&status) { Counts::FAILED } else { Counts::SUCCESSFUL };
        for answer in [Answer::Grpc(status), Answer::GrpcTrailersOnly(status), Answer::GrpcEmptyBody(status)]
        {
            world.catalog.on(METHOD, answer);
            let before = world.counts(CATALOG).await?;
            let reply = world.client.grpc(METHOD).await?;
            assert_eq!(reply.status, 200);
            assert_eq!(reply.header("grpc-status"), Some(status.to_string().as_str()));
            assert_eq!(world.news(before).await?, expected, "{answer:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_reset_in_mid_body_and_a_refused_connection_are_failures() -> Result<()> {
    let mut world = grpc_upstream(&json!({})).await?;
    world.catalog.on(METHOD, Answer::ResetInBody);
    let before = world.counts(CATALOG).await?;
    assert!(world.client.grpc(METHOD).await?.cut_short);
    assert_eq!(world.news(before).await?, Counts::FAILED);

    world.catalog.stop_listening().await;
    let before = world.counts(CATALOG).await?;
    let reply = world.client.grpc(METHOD).await?;
    assert_eq!((reply.status.as_u16(), reply.header("grpc-status")), (200, Some("14")));
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn a_rejection_is_unavailable_and_says_which_breaker_and_why() -> Result<()> {
    let settings = json!({ "consecutive_failures": 3, "wait_in_open": "90500ms" });
    let world = grpc_upstream(&settings).await?;
    world.catalog.on(METHOD, Answer::Grpc(14));
    for _ in 0..3 {
        assert_eq!(world.client.grpc(METHOD).await?.body.len(), 5);
    }
    world.moved(CATALOG, "closed", "open", 1).await?;

    let reply = world.client.grpc(METHOD).await?;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (200, 0));
    assert_eq!(reply.header("grpc-status"), Some("14"));
    let message = reply.header("grpc-message").unwrap_or_default();
    assert!(message.starts_with(r#"circuit breaker "catalog" rejected the call: open, retry after 90"#));
    assert_eq!(reply.header("retry-after"), Some("91"));
    assert_eq!(world.catalog.hits(METHOD), 3);
    assert_eq!(calls(&world.envoy.metrics().await?, CATALOG, "failed"), 3);
    Ok(())
}
