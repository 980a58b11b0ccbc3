use anyhow::{Result, bail};

use super::{Reply, Stream};

/// What became of a request in the module.
#[derive(Debug)]
pub enum Answer {
    /// It passed, and waits for its response.
    Passed(Stream),
    /// The module replied in the upstream's stead. The request is over.
    Replied(Reply),
}

impl Answer {
    /// The request that passed.
    ///
    /// # Errors
    /// It did not pass.
    pub fn into_stream(self) -> Result<Stream> {
        match self {
            Self::Passed(stream) => Ok(stream),
            Self::Replied(reply) => {
                bail!("the request did not pass, but was answered {}: {}", reply.status, reply.text())
            }
        }
    }

    /// The module's reply.
    ///
    /// # Errors
    /// The request passed.
    pub fn into_reply(self) -> Result<Reply> {
        match self {
            Self::Replied(reply) => Ok(reply),
            Self::Passed(_) => bail!("the request passed, and was not replied to"),
        }
    }
}
