use anyhow::Result;
use breakerbox_host::upstream::Answer;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Counts, Setup, World};

const TUNNEL: &str = "tunnel";

async fn start() -> Result<World> {
    let mut setup = Setup::new(&json!({ "consecutive_failures": 2 }))?;
    setup.bootstrap.connection_manager()?["upgrade_configs"] = json!([{ "upgrade_type": "CONNECT" }]);
    // Envoy ends the tunnel, and what comes out of it goes to the upstream.
    setup.add_route(json!({
        "name": TUNNEL, "match": { "connect_matcher": {} },
        "route": {
            "cluster": "orders", "upgrade_configs": [{ "upgrade_type": "CONNECT", "connect_config": {} }],
        },
    }))?;
    setup.start().await
}

/// Asks for a tunnel; returns the connection and the beginning of the answer.
async fn connect(world: &World) -> Result<(TcpStream, String)> {
    let mut stream = TcpStream::connect(world.client.server()).await?;
    stream.write_all(b"CONNECT orders.example:80 HTTP/1.1\r\nhost: orders.example:80\r\n\r\n").await?;
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await?;
    Ok((stream, String::from_utf8_lossy(&answer[..length]).into_owned()))
}

#[tokio::test]
async fn a_tunnel_is_judged_by_its_opening() -> Result<()> {
    let mut world = start().await?;
    let before = world.counts(TUNNEL).await?;
    let (mut tunnel, answer) = connect(&world).await?;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(world.news(before).await?, Counts::SUCCESSFUL);
    tunnel.write_all(b"GET /orders HTTP/1.1\r\nhost: orders.example\r\n\r\n").await?;
    let mut first = [0; 12];
    tunnel.read_exact(&mut first).await?;
    assert_eq!(&first, b"HTTP/1.1 200");

    // How it ends is no news: the next that is recorded is one that fails to open.
    let before = world.counts(TUNNEL).await?;
    world.orders.stop_listening().await;
    drop(tunnel);
    let (_, answer) = connect(&world).await?;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}

#[tokio::test]
async fn a_request_with_a_body_is_no_tunnel() -> Result<()> {
    let world = start().await?;
    world.orders.on("/orders", Answer::ResetInBody);
    let before = world.counts("orders").await?;
    let mut stream = TcpStream::connect(world.client.server()).await?;
    // The answer comes before the body has ended.
    stream.write_all(b"POST /orders HTTP/1.1\r\nhost: shop\r\ncontent-length: 100\r\n\r\nstart").await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(world.news(before).await?, Counts::FAILED);
    Ok(())
}
