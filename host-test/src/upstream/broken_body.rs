use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

/// A reset overtakes what is still queued on its stream; after this long the first part has gone out.
const HEAD_START: Duration = Duration::from_millis(20);

/// A body that does not go on after its first part as it should: it breaks off, pauses, or never ends.
#[derive(Debug)]
pub(super) struct BrokenBody {
    first: Option<Bytes>,
    then: Option<Then>,
}

#[derive(Debug)]
enum Then {
    Pause(Pin<Box<Sleep>>, End),
    Never,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Regular,
    Reset,
}

impl BrokenBody {
    /// Breaks off.
    pub(super) fn reset() -> Self {
        Self::new(Then::Pause(Box::pin(tokio::time::sleep(HEAD_START)), End::Reset))
    }

    /// Never goes on.
    pub(super) fn stalled() -> Self {
        Self::new(Then::Never)
    }

    /// Ends as it should, but only after a while.
    pub(super) fn slow(pause: Duration) -> Self {
        Self::new(Then::Pause(Box::pin(tokio::time::sleep(pause)), End::Regular))
    }

    fn new(then: Then) -> Self {
        Self { first: Some(Bytes::from_static(b"the first part, ")), then: Some(then) }
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
        let end = match &mut self.then {
            Some(Then::Never) => return Poll::Pending,
            Some(Then::Pause(pause, end)) => {
                ready!(pause.as_mut().poll(context));
                *end
            }
            None => return Poll::Ready(None),
        };
        self.then = None;
        Poll::Ready(match end {
            End::Regular => Some(Ok(Frame::data(Bytes::from_static(b"the rest\n")))),
            End::Reset => Some(Err(anyhow::anyhow!("told to reset in the body"))),
        })
    }
}
