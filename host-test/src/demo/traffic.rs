use std::ops::Sub;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use breakerbox_host::client::{Client, Reply};
use hyper::header::RETRY_AFTER;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// 40 requests a second: enough to fill the window in a blink, little enough for any machine.
const PACE: Duration = Duration::from_millis(25);

/// What became of a route's requests, as its client saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) sent: u64,
    pub(super) ok: u64,
    pub(super) failed: u64,
    pub(super) rejected: u64,
}

impl Sub for Tally {
    type Output = Self;

    /// What happened since.
    fn sub(self, earlier: Self) -> Self {
        Self {
            sent: self.sent - earlier.sent,
            ok: self.ok - earlier.ok,
            failed: self.failed - earlier.failed,
            rejected: self.rejected - earlier.rejected,
        }
    }
}

/// A steady stream of requests to one path, each independent of how the others fare.
pub(super) struct Traffic {
    tally: Arc<Mutex<Tally>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Traffic {
    pub(super) fn start(client: Client, path: &'static str) -> Self {
        let tally = Arc::new(Mutex::new(Tally::default()));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(send_until(stopped, client, path, Arc::clone(&tally)));
        Self { tally, stop, task }
    }

    pub(super) fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends no more, and waits for what is under way.
    pub(super) async fn stop(self) -> Result<Tally> {
        // It can only fail if the task has ended, which the next line tells.
        let _ = self.stop.send(());
        self.task.await?;
        Ok(*self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn send_until(
    mut stopped: oneshot::Receiver<()>,
    client: Client,
    path: &'static str,
    tally: Arc<Mutex<Tally>>,
) {
    let count = |change: fn(&mut Tally)| {
        change(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
    };
    let mut requests = JoinSet::new();
    let mut pace = tokio::time::interval(PACE);
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            _ = pace.tick() => {
                count(|tally| tally.sent += 1);
                requests.spawn(async move { client.get(path).await });
            }
            Some(Ok(reply)) = requests.join_next() => count(outcome(reply.ok().as_ref())),
        }
    }
    while let Some(reply) = requests.join_next().await {
        count(outcome(reply.ok().and_then(Result::ok).as_ref()));
    }
}

fn outcome(reply: Option<&Reply>) -> fn(&mut Tally) {
    match reply {
        Some(reply) if reply.status.is_success() => |tally| tally.ok += 1,
        Some(reply) if is_rejection(reply) => |tally| tally.rejected += 1,
        Some(_) | None => |tally| tally.failed += 1,
    }
}

/// Whether this is the breaker's answer and not the upstream's: it says who rejects, and when to come back.
fn is_rejection(reply: &Reply) -> bool {
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let when = reply.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    reply.status == 503
        && when.is_some_and(|seconds| seconds.parse::<u64>().is_ok())
        && body.is_some_and(|body| body["breaker"].is_string() && body["reason"].is_string())
}
