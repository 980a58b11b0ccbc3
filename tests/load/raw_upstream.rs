use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::world::PATIENCE;

const HEAD_START: Duration = Duration::from_millis(20);

/// What an upstream says to a request, byte by byte, and then does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Says {
    /// And takes the next request.
    Whole(&'static str),
    /// And nothing more.
    ThenWaits(&'static str),
    /// And closes the connection.
    ThenCloses(&'static str),
    /// And breaks the connection off.
    ThenResets(&'static str),
}

/// An upstream that can stop anywhere in an answer. Dropping it closes its connections.
pub(crate) struct RawUpstream {
    pub(crate) address: SocketAddr,
    says: watch::Sender<Says>,
    heads: watch::Sender<u64>,
    server: JoinHandle<()>,
}

impl RawUpstream {
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (says, heads) = (watch::Sender::new(Says::ThenWaits("")), watch::Sender::new(0));
        let server = tokio::spawn(serve(listener, says.clone(), heads.clone()));
        Ok(Self { address, says, heads, server })
    }

    /// Treats requests so that come from now on.
    pub(crate) fn says(&self, says: Says) {
        self.says.send_replace(says);
    }

    /// How many requests came; of each at least its head.
    pub(crate) fn heads(&self) -> u64 {
        *self.heads.borrow()
    }

    /// Waits until so many came.
    pub(crate) async fn wait_for(&self, heads: u64) -> Result<()> {
        let mut count = self.heads.subscribe();
        tokio::time::timeout(PATIENCE, count.wait_for(|count| *count >= heads)).await??;
        Ok(())
    }
}

impl Drop for RawUpstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, says: watch::Sender<Says>, heads: watch::Sender<u64>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream, says.clone(), heads.clone()));
    }
}

async fn answer(mut stream: TcpStream, says: watch::Sender<Says>, heads: watch::Sender<u64>) -> Result<()> {
    let mut heard = Vec::new();
    loop {
        while !heard.windows(4).any(|window| window == b"\r\n\r\n") {
            if stream.read_buf(&mut heard).await? == 0 {
                return Ok(());
            }
        }
        heard.clear();
        heads.send_modify(|heads| *heads += 1);
        let says = *says.borrow();
        match says {
            Says::Whole(text) => stream.write_all(text.as_bytes()).await?,
            Says::ThenWaits(text) => {
                stream.write_all(text.as_bytes()).await?;
                // Until the other side has had enough.
                tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
                return Ok(());
            }
            Says::ThenCloses(text) => {
                stream.write_all(text.as_bytes()).await?;
                return Ok(());
            }
            Says::ThenResets(text) => {
                stream.write_all(text.as_bytes()).await?;
                // A reset overtakes what is still queued; after this long that has gone out.
                tokio::time::sleep(HEAD_START).await;
                stream.set_zero_linger()?;
                return Ok(());
            }
        }
    }
}
