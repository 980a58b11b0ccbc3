use std::time::Duration;

use tokio::sync::watch;

/// How an upstream treats the requests of a path.
#[derive(Clone, Debug)]
pub struct Behaviour {
    pub(super) hold: Hold,
    pub(super) answer: Answer,
}

#[derive(Clone, Debug)]
pub(super) enum Hold {
    No,
    For(Duration),
    UntilOpen(Gate),
}

/// What an upstream does with a request in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response with this status and a short body, once the whole request is there.
    Status(u16),
    /// A 200 with so many bytes of body, once the whole request is there.
    Bytes(usize),
    /// Closes the connection (HTTP/2: resets the stream) without a response.
    CloseBeforeHeaders,
    /// Sends a 200's headers and a part of the body, then closes the connection (HTTP/2: resets the stream).
    ResetInBody,
    /// Sends a 200's headers and a part of the body, then nothing more.
    StallInBody,
    /// Sends a 200's headers and a part of the body, and the rest after this long.
    SlowBody(Duration),
    /// A gRPC response: headers, a message, and this `grpc-status` in the trailers.
    Grpc(u16),
    /// A gRPC response that is nothing but headers, with this `grpc-status` among them.
    GrpcTrailersOnly(u16),
    /// A gRPC response with this `grpc-status` among its headers, after which its body ends without a byte.
    GrpcEmptyBody(u16),
    /// Accepts an upgrade, then echoes what it gets. It does not compute `sec-websocket-accept`, which no proxy checks.
    Upgrade,
}

impl Behaviour {
    /// Never answers.
    pub fn hang() -> Self {
        Self { hold: Hold::UntilOpen(Gate::new()), answer: Answer::CloseBeforeHeaders }
    }

    /// Takes this long before it does what it does.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { hold: Hold::For(delay), ..self }
    }

    /// Does nothing before the gate is opened.
    #[must_use]
    pub fn held_by(self, gate: &Gate) -> Self {
        Self { hold: Hold::UntilOpen(gate.clone()), ..self }
    }
}

impl From<Answer> for Behaviour {
    fn from(answer: Answer) -> Self {
        Self { hold: Hold::No, answer }
    }
}

impl Answer {
    pub(super) fn waits_for_the_whole_request(self) -> bool {
        matches!(self, Self::Status(_) | Self::Bytes(_))
    }
}

impl Hold {
    pub(super) async fn wait(&self) {
        match self {
            Self::No => {}
            Self::For(delay) => tokio::time::sleep(*delay).await,
            Self::UntilOpen(gate) => gate.opened().await,
        }
    }
}

/// Holds requests until a test opens it, so that a test knows which of them are under way together.
#[derive(Clone, Debug)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Lets through all that wait and all that come.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
