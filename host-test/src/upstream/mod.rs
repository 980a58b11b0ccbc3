//! A server that fails on demand: what stands behind Envoy in tests and in the demo.
//!
//! It speaks HTTP/1 and HTTP/2 without TLS on one port, and answers 200 on paths that it was not told about.

mod behaviour;
mod broken_body;
mod service;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub use behaviour::{Answer, Behaviour, Gate};

/// A running server. Dropping it closes all its connections.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    script: Arc<Script>,
    server: Option<JoinHandle<()>>,
    /// Bound, never listening: keeps the port ours, and connections to it refused, while the server is stopped.
    _reservation: TcpSocket,
}

/// What a path has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests that arrived.
    pub hits: u64,
    /// Those of them that have neither got the beginning of an answer nor gone away.
    pub waiting: u64,
}

#[derive(Debug, Default)]
struct Script {
    behaviours: Mutex<HashMap<String, Behaviour>>,
    traffic: watch::Sender<HashMap<String, Traffic>>,
}

impl Upstream {
    /// Starts a server on a free port of the loopback interface.
    ///
    /// # Errors
    /// The system gives no port.
    ///
    /// # Panics
    /// It is called outside of a tokio runtime.
    pub fn start() -> Result<Self> {
        let reservation = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = reservation.local_addr()?;
        let mut upstream = Self { address, script: Arc::default(), server: None, _reservation: reservation };
        upstream.listen()?;
        Ok(upstream)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Treats requests of exactly this path so from now on. Requests that already arrived are not affected.
    pub fn on(&self, path: &str, behaviour: impl Into<Behaviour>) {
        let mut behaviours = self.script.behaviours.lock().unwrap_or_else(PoisonError::into_inner);
        behaviours.insert(path.to_owned(), behaviour.into());
    }

    /// What exactly this path has seen so far.
    pub fn traffic(&self, path: &str) -> Traffic {
        self.script.traffic.borrow().get(path).copied().unwrap_or_default()
    }

    /// How many requests of exactly this path arrived.
    pub fn hits(&self, path: &str) -> u64 {
        self.traffic(path).hits
    }

    /// Waits until a path has seen what the condition asks for.
    ///
    /// # Errors
    /// That does not happen in time.
    pub async fn wait_for(
        &self,
        path: &str,
        condition: impl Fn(Traffic) -> bool,
        patience: Duration,
    ) -> Result<Traffic> {
        let mut traffic = self.script.traffic.subscribe();
        let seen = |all: &HashMap<String, Traffic>| all.get(path).copied().unwrap_or_default();
        let done = traffic.wait_for(|all| condition(seen(all)));
        let all = tokio::time::timeout(patience, done).await.with_context(|| {
            format!("{path} of the upstream saw {:?} and no more in {patience:?}", self.traffic(path))
        })?;
        Ok(seen(&*all?))
    }

    /// Closes all connections; from now on connections are refused.
    pub async fn stop_listening(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            // The port is closed once the task is gone; that it was aborted is no news.
            let _ = server.await;
            // But a process that another thread is just starting has a copy of the socket until it runs its program.
            while TcpStream::connect(self.address).await.is_ok() {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Listens again, on the same port. Does nothing if it already listens.
    ///
    /// # Errors
    /// The system does not let us listen.
    ///
    /// # Panics
    /// It is called outside of a tokio runtime.
    pub fn listen(&mut self) -> Result<()> {
        if self.server.is_none() {
            let listener = bind(self.address)?
                .listen(1024)
                .with_context(|| format!("the upstream cannot listen on {}", self.address))?;
            self.server = Some(tokio::spawn(serve(listener, Arc::clone(&self.script))));
        }
        Ok(())
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

fn bind(address: SocketAddr) -> Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address).with_context(|| format!("the upstream cannot bind {address}"))?;
    Ok(socket)
}

async fn serve(listener: TcpListener, script: Arc<Script>) {
    // Owned by this task, so that aborting it closes them.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let script = Arc::clone(&script);
                connections.spawn(async move {
                    let service = service_fn(|request| service::answer(request, Arc::clone(&script)));
                    // Connections end in errors here on purpose; the client's view of it is what tests look at.
                    let _ = auto::Builder::new(TokioExecutor::new())
                        .serve_connection_with_upgrades(TokioIo::new(stream), service)
                        .await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
