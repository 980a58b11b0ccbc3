//! A small HTTP client that does what clients of a proxy do, leaving early included.
//!
//! A request has a connection of its own, unless it is sent over a [`Connection`]. That spreads requests over Envoy's workers,
//! and it makes leaving simple: whoever drops a request, or its [`Exchange`], closes its connection.

mod connection;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, TE, UPGRADE};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};

pub use connection::Connection;

/// A client of one server.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    server: SocketAddr,
    patience: Duration,
}

/// A whole answer.
#[derive(Debug)]
pub struct Reply {
    /// The status of the response.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The body, as far as it came.
    pub body: Bytes,
    /// The trailers of the response; empty without any.
    pub trailers: HeaderMap,
    /// Whether the body broke off.
    pub cut_short: bool,
}

impl Reply {
    async fn read(response: Response<Incoming>) -> Self {
        let (parts, mut incoming) = response.into_parts();
        let mut body = BytesMut::new();
        let mut trailers = HeaderMap::new();
        let mut cut_short = false;
        while let Some(frame) = incoming.frame().await {
            match frame.map(hyper::body::Frame::into_data) {
                Ok(Ok(data)) => body.extend_from_slice(&data),
                Ok(Err(frame)) => trailers.extend(frame.into_trailers().unwrap_or_default()),
                Err(_) => {
                    cut_short = true;
                    break;
                }
            }
        }
        let (status, headers, body) = (parts.status, parts.headers, body.freeze());
        Self { status, headers, body, trailers, cut_short }
    }

    /// A header or trailer as text; `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name).or_else(|| self.trailers.get(name))?;
        value.to_str().ok()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request whose response has begun. Dropping it closes the connection.
#[derive(Debug)]
pub struct Exchange {
    response: Response<Incoming>,
    _connection: AbortOnDrop,
}

impl Exchange {
    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Waits for the rest of the response.
    pub async fn finish(self) -> Reply {
        Reply::read(self.response).await
    }
}

impl Client {
    /// A client of the server at this address, which waits 20 seconds at most for an answer.
    pub fn new(server: SocketAddr) -> Self {
        Self { server, patience: Duration::from_secs(20) }
    }

    /// The server's address.
    pub fn server(&self) -> SocketAddr {
        self.server
    }

    /// Sends a GET and waits for the whole answer.
    ///
    /// # Errors
    /// The server does not answer with HTTP, or not in time.
    pub async fn get(&self, path: &str) -> Result<Reply> {
        self.send(self.request(Method::GET, path)?).await
    }

    /// Sends a request, made from [`Client::request`] as a rule, and waits for the whole answer.
    ///
    /// # Errors
    /// The server does not answer with HTTP, or not in time.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Reply> {
        let name = name(&request);
        let exchange = async { anyhow::Ok(self.open(request).await?.finish().await) };
        self.in_time(&name, exchange).await
    }

    /// Sends a request and waits for the headers of the response only.
    ///
    /// # Errors
    /// The server does not answer with HTTP.
    pub async fn open(&self, request: Request<Full<Bytes>>) -> Result<Exchange> {
        let name = name(&request);
        let io = self.connect().await?;
        let (mut sender, connection) =
            http1::handshake(io).await.with_context(|| format!("{name}: HTTP/1 handshake"))?;
        let connection = AbortOnDrop::spawn(connection.with_upgrades());
        let response = sender.send_request(request).await;
        let response = response.with_context(|| format!("{name}: no answer from {}", self.server))?;
        Ok(Exchange { response, _connection: connection })
    }

    /// Sends this many GETs at once and waits for all answers, in no particular order.
    ///
    /// # Errors
    /// One of them is not answered with HTTP, or not in time.
    pub async fn get_many(&self, count: usize, path: &str) -> Result<Vec<Reply>> {
        let mut requests = JoinSet::new();
        for _ in 0..count {
            let (client, path) = (*self, path.to_owned());
            requests.spawn(async move { client.get(&path).await });
        }
        requests.join_all().await.into_iter().collect()
    }

    /// Calls a gRPC method, such as `/shop.Orders/List`, over HTTP/2 with an empty message.
    ///
    /// # Errors
    /// The server does not answer with HTTP/2, or not in time.
    pub async fn grpc(&self, method: &str) -> Result<Reply> {
        const EMPTY_MESSAGE: &[u8] = &[0; 5];
        let request = Request::post(format!("http://{}{method}", self.server))
            .header(CONTENT_TYPE, "application/grpc")
            .header(TE, "trailers")
            .body(Full::new(Bytes::from_static(EMPTY_MESSAGE)))
            .with_context(|| format!("{method} is not the path of a gRPC method"))?;
        let exchange = async { anyhow::Ok(self.open_http2(request).await?.finish().await) };
        self.in_time(method, exchange).await
    }

    /// Sends a request over HTTP/2 and waits for the headers of the response only.
    ///
    /// # Errors
    /// The server does not answer with HTTP/2.
    pub async fn open_http2(&self, request: Request<Full<Bytes>>) -> Result<Exchange> {
        let name = name(&request);
        let io = self.connect().await?;
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io)
            .await
            .with_context(|| format!("{name}: HTTP/2 handshake"))?;
        let connection = AbortOnDrop::spawn(connection);
        let response = sender.send_request(request).await;
        let response = response.with_context(|| format!("{name}: no answer from {}", self.server))?;
        Ok(Exchange { response, _connection: connection })
    }

    /// A request without a body.
    ///
    /// # Errors
    /// `path` is not a path.
    pub fn request(&self, method: Method, path: &str) -> Result<Request<Full<Bytes>>> {
        Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.server.to_string())
            .body(Full::default())
            .with_context(|| format!("{path} is not a path to request"))
    }

    /// A request to speak websocket from here on.
    ///
    /// # Errors
    /// `path` is not a path.
    pub fn websocket_request(&self, path: &str) -> Result<Request<Full<Bytes>>> {
        let mut request = self.request(Method::GET, path)?;
        let fields = [
            (CONNECTION, "upgrade"),
            (UPGRADE, "websocket"),
            (hyper::header::SEC_WEBSOCKET_VERSION, "13"),
            (hyper::header::SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        for (name, value) in fields {
            request.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
        }
        Ok(request)
    }

    async fn in_time(&self, name: &str, answer: impl Future<Output = Result<Reply>>) -> Result<Reply> {
        tokio::time::timeout(self.patience, answer).await.with_context(|| {
            format!("{name}: no whole answer from {} within {:?}", self.server, self.patience)
        })?
    }

    async fn connect(&self) -> Result<TokioIo<TcpStream>> {
        let stream = TcpStream::connect(self.server)
            .await
            .with_context(|| format!("cannot connect to {}", self.server))?;
        stream.set_nodelay(true)?;
        Ok(TokioIo::new(stream))
    }
}

fn name<T>(request: &Request<T>) -> String {
    format!("{} {}", request.method(), request.uri())
}

/// A task that ends with its owner; here the one that drives a connection.
#[derive(Debug)]
struct AbortOnDrop(AbortHandle);

impl AbortOnDrop {
    fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(task).abort_handle())
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
