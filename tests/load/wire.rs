use anyhow::{Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{PATIENCE, World};

/// A client that speaks HTTP/1 byte by byte, so that it can be slow, say what no library would, and stop anywhere.
/// Dropping it closes the connection.
pub(crate) struct Wire(TcpStream);

impl Wire {
    pub(crate) async fn open(world: &World) -> Result<Self> {
        let stream = TcpStream::connect(world.client.server()).await?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        Ok(self.0.write_all(bytes.as_ref()).await?)
    }

    /// Reads until this text came, and returns all up to it.
    pub(crate) async fn hear(&mut self, text: &str) -> Result<String> {
        let mut heard = Vec::new();
        let listening = async {
            while !heard.windows(text.len()).any(|window| window == text.as_bytes()) {
                let mut some = [0; 4096];
                let length = self.0.read(&mut some).await?;
                ensure!(length > 0, "it ended");
                heard.extend_from_slice(&some[..length]);
            }
            anyhow::Ok(())
        };
        let result = tokio::time::timeout(PATIENCE, listening).await;
        let heard = String::from_utf8_lossy(&heard).into_owned();
        ensure!(matches!(result, Ok(Ok(()))), "{result:?}: no {text:?} in {heard:?}");
        Ok(heard)
    }

    /// Reads until the other side has closed the connection, and returns how much that was.
    pub(crate) async fn hear_all(&mut self) -> Result<usize> {
        let mut heard = Vec::new();
        Ok(tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut heard)).await??)
    }

    /// Breaks the connection off, in the way of a program that crashed.
    pub(crate) fn reset(self) -> Result<()> {
        Ok(self.0.set_zero_linger()?)
    }
}
