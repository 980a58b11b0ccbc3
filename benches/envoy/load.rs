use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

pub(crate) const PATH: &str = "/";
pub(crate) const FAILING_PATH: &str = "/fails";

/// So many that Envoy, as it does under load, finds several requests each time that it wakes: with few, what it costs to wake
/// hides what they cost.
const CONNECTIONS: usize = 32;

/// Connections to one listener that are kept open.
pub(crate) struct Load {
    connections: Vec<SendRequest<Empty<Bytes>>>,
    one_in_ten_fails: bool,
}

impl Load {
    pub(crate) async fn connect(address: SocketAddr, one_in_ten_fails: bool) -> Result<Self> {
        let mut connections = vec![];
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            connections.push(sender);
        }
        Ok(Self { connections, one_in_ten_fails })
    }

    /// One request on one of the connections; the status.
    pub(crate) async fn send(&mut self, path: &str) -> Result<u16> {
        send(self.connections.first_mut().context("there are no connections")?, path).await
    }

    /// So many requests, spread over the connections, one after the other on each.
    pub(crate) async fn run(&mut self, requests: u32) -> Result<()> {
        let one_in_ten_fails = self.one_in_ten_fails;
        let each = requests as usize / CONNECTIONS;
        let mut running = JoinSet::new();
        for mut connection in self.connections.drain(..) {
            running.spawn(async move {
                for number in 0..each {
                    let fails = one_in_ten_fails && number % 10 == 0;
                    send(&mut connection, if fails { FAILING_PATH } else { PATH }).await?;
                }
                anyhow::Ok(connection)
            });
        }
        while let Some(ended) = running.join_next().await {
            self.connections.push(ended??);
        }
        Ok(())
    }
}

async fn send(connection: &mut SendRequest<Empty<Bytes>>, path: &str) -> Result<u16> {
    connection.ready().await?;
    let request = Request::get(path).header("host", "bench").body(Empty::new())?;
    let response = connection.send_request(request).await?;
    let status = response.status().as_u16();
    response.into_body().collect().await?;
    Ok(status)
}
