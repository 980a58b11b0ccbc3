use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

/// A reset overtakes what is still queued on its stream; after this long the first part has gone out.
const HEAD_START: Duration = Duration::from_millis(20);

/// A body that breaks off after its first part: with an error, or never to be continued.
#[derive(Debug)]
pub(super) struct BrokenBody {
    first: Option<Bytes>,
    reset: Option<Pin<Box<Sleep>>>,
}

impl BrokenBody {
    pub(super) fn reset() -> Self {
        Self { reset: Some(Box::pin(tokio::time::sleep(HEAD_START))), ..Self::stalled() }
    }

    pub(super) fn stalled() -> Self {
        Self { first: Some(Bytes::from_static(b"the first part, ")), reset: None }
    }
}

impl Body for BrokenBody {
    type Data = Bytes;
    type Error = anyhow::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, anyhow::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(reset) = &mut self.reset else { return Poll::Pending };
        ready!(reset.as_mut().poll(context));
        Poll::Ready(Some(Err(anyhow::anyhow!("told to reset in the body"))))
    }
}
