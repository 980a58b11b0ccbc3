use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};

use super::{AbortOnDrop, Client, Reply, name};

/// A connection that is kept for one request after the other, and so stays with one of Envoy's workers, under the
/// configuration that it was accepted under. Dropping it closes it.
#[derive(Debug)]
pub struct Connection {
    client: Client,
    sender: SendRequest<Full<Bytes>>,
    _driver: AbortOnDrop,
}

impl Client {
    /// A connection to keep.
    ///
    /// # Errors
    /// The server does not listen.
    pub async fn connection(&self) -> Result<Connection> {
        let (sender, connection) =
            http1::handshake(self.connect().await?).await.context("HTTP/1 handshake")?;
        Ok(Connection { client: *self, sender, _driver: AbortOnDrop::spawn(connection) })
    }
}

impl Connection {
    /// Whether it takes another request; not after an answer that announced its end.
    pub async fn is_open(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Sends a request, made from [`Client::request`] as a rule, and waits for the whole answer.
    ///
    /// # Errors
    /// The server does not answer with HTTP, or not in time.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Reply> {
        let name = name(&request);
        let client = self.client;
        let exchange = async {
            self.sender.ready().await.with_context(|| format!("{name}: the connection has ended"))?;
            let response = self.sender.send_request(request).await;
            let response = response.with_context(|| format!("{name}: no answer from {}", client.server))?;
            anyhow::Ok(Reply::read(response).await)
        };
        client.in_time(&name, exchange).await
    }
}
