use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{Bootstrap, Envoy, POLL};

/// The file, in an Envoy's directory, that holds its listeners; Envoy watches it.
pub(super) const FILE: &str = "listeners.json";

const PATIENCE: Duration = Duration::from_secs(20);

/// What Envoy did with a new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// It serves new connections with the new one.
    Applied,
    /// It refused the new one, for the reason that it logged, and goes on with the old one.
    Refused(String),
}

/// Envoy's counts of what happened to configurations of listeners.
#[derive(Clone, Copy, Debug)]
struct Counts {
    refused: u64,
    accepted: u64,
    warming: u64,
    on_workers: u64,
}

impl Envoy {
    /// Replaces the listeners, and with them routes and filter, while Envoy serves. The rest of the document is not read.
    ///
    /// # Errors
    /// Envoy does neither accept nor refuse it in time, as when nothing has changed.
    pub async fn update(&self, bootstrap: &Bootstrap) -> Result<Update> {
        let before = self.listener_counts().await?;
        let logged = self.log.lines().len();
        let fresh = self.directory.path().join("listeners.new");
        fs::write(&fresh, bootstrap.listeners().to_string())?;
        // Envoy reads the file when another is moved into its place.
        fs::rename(&fresh, self.directory.path().join(FILE))?;

        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self.listener_counts().await?;
            if now.refused > before.refused {
                let lines = self.log.lines();
                let news = lines.get(logged..).unwrap_or_default();
                return Ok(Update::Refused(news.join("\n")));
            }
            let everywhere = now.on_workers >= before.on_workers + u64::from(self.workers);
            if now.accepted > before.accepted && now.warming == 0 && everywhere {
                return Ok(Update::Applied);
            }
            if Instant::now() > deadline {
                bail!(
                    "Envoy has not taken up the new listeners within {PATIENCE:?}: {now:?}, was {before:?}"
                );
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn listener_counts(&self) -> Result<Counts> {
        Ok(Counts {
            refused: self.stat("listener_manager.lds.update_rejected").await?,
            accepted: self.stat("listener_manager.lds.update_success").await?,
            warming: self.stat("listener_manager.total_listeners_warming").await?,
            on_workers: self.stat("listener_manager.listener_create_success").await?,
        })
    }
}
