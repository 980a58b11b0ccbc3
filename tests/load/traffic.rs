use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use breakerbox_host::client::{Client, Connection, Reply};
use breakerbox_host::envoy::Metrics;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request};
use tokio::task::JoinSet;

use crate::world::{Rejection, assert_moves_balance, calls};

/// How a request ended, as its client saw it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// With the upstream's answer.
    Answered(u16),
    /// With the breaker's, for this reason.
    Rejected(String),
    /// With an error that Envoy made, since the upstream did not answer.
    Error(u16),
    /// Envoy's answer in the stead of a VM that is down.
    Down,
    /// The client left.
    Left,
}

impl Seen {
    pub(crate) fn of(reply: &Reply) -> Result<Self> {
        ensure!(!reply.cut_short, "cut short: {reply:?}");
        let status = reply.status.as_u16();
        if reply.text().starts_with(&format!("{status} from")) {
            return Ok(Self::Answered(status));
        }
        if let Some(reason) = Rejection::reason(reply) {
            return Ok(Self::Rejected(reason));
        }
        match (status, reply.body.is_empty()) {
            (503, true) => Ok(Self::Down),
            (503, false) => Ok(Self::Error(status)),
            _ => bail!("neither the upstream's nor the breaker's answer, nor an error of Envoy's: {reply:?}"),
        }
    }

    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }
}

/// A client that keeps its connection, or has a new one for each request.
pub(crate) struct Visitor {
    client: Client,
    keeps: bool,
    kept: Option<Connection>,
}

impl Visitor {
    pub(crate) fn new(client: Client, keeps: bool) -> Self {
        Self { client, keeps, kept: None }
    }

    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Reply> {
        if !self.keeps {
            return self.client.send(request).await;
        }
        let mut connection = match self.kept.take() {
            Some(kept) => kept,
            None => self.client.connection().await?,
        };
        if !connection.is_open().await {
            connection = self.client.connection().await?;
        }
        let reply = connection.send(request).await?;
        self.kept = Some(connection);
        Ok(reply)
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Reply> {
        self.send(self.client.request(Method::GET, path)?).await
    }
}

/// What clients saw of each breaker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books(BTreeMap<(&'static str, Seen), u64>);

impl Books {
    pub(crate) fn note(&mut self, breaker: &'static str, seen: Seen) {
        *self.0.entry((breaker, seen)).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        for (line, count) in other.0 {
            *self.0.entry(line).or_default() += count;
        }
    }

    /// The books of all clients, once the last has gone.
    pub(crate) async fn collect(clients: JoinSet<Result<Self>>) -> Result<Self> {
        let mut all = Self::default();
        for books in clients.join_all().await {
            all.add(books?);
        }
        Ok(all)
    }

    /// How many requests to all breakers ended so.
    pub(crate) fn all(&self, ended_so: impl Fn(&Seen) -> bool) -> u64 {
        self.0.iter().filter(|((_, seen), _)| ended_so(seen)).map(|(_, count)| count).sum()
    }

    /// How many requests to this breaker ended so.
    pub(crate) fn count(&self, breaker: &str, ended_so: impl Fn(&Seen) -> bool) -> u64 {
        let of_breaker = self.0.iter().filter(|((name, seen), _)| *name == breaker && ended_so(seen));
        of_breaker.map(|(_, count)| count).sum()
    }

    /// How many requests this breaker let through.
    pub(crate) fn admitted(&self, breaker: &str) -> u64 {
        self.count(breaker, |seen| !seen.is_rejection())
    }

    /// Makes sure that a breaker's metrics agree with what clients saw, all of whose requests are over and recorded.
    pub(crate) fn assert_agree(&self, metrics: &Metrics, breaker: &str) -> Result<()> {
        let context = || format!("{breaker}: {self:?}\n{metrics}");
        for reason in ["open", "half_open_full", "forced_open"] {
            let labels = [("breaker", breaker), ("reason", reason)];
            let seen = self.count(breaker, |seen| *seen == Seen::Rejected(reason.to_owned()));
            assert_eq!(
                metrics.sum("breakerbox_not_permitted_calls", &labels),
                seen,
                "{reason} {}",
                context()
            );
        }
        // Each of those that were let through is counted once: as what its client saw, or as stale.
        let seen = [
            ("successful", self.count(breaker, |seen| matches!(seen, Seen::Answered(..500)))),
            ("failed", self.count(breaker, |seen| matches!(seen, Seen::Answered(500..) | Seen::Error(_)))),
            ("ignored", self.count(breaker, |seen| *seen == Seen::Left)),
        ];
        let mut stale = 0;
        for (kind, seen) in seen {
            let counted = calls(metrics, breaker, kind);
            assert!(counted <= seen, "{counted} {kind}, {seen} seen, {}", context());
            stale += seen - counted;
        }
        assert_eq!(calls(metrics, breaker, "stale"), stale, "{}", context());
        assert_eq!(metrics.sum("breakerbox_store_give_ups", &[("breaker", breaker)]), 0, "{}", context());
        assert_moves_balance(metrics, breaker)
    }
}
