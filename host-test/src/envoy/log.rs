use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::sync::watch;

/// What an Envoy has logged so far, line by line.
#[derive(Clone, Debug)]
pub struct Log(watch::Receiver<Vec<String>>);

impl Log {
    /// Collects lines until the source ends.
    pub(super) fn read(source: impl AsyncRead + Send + Unpin + 'static) -> Self {
        let (sender, receiver) = watch::channel(Vec::new());
        tokio::spawn(async move {
            let mut lines = BufReader::new(source).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                let line = String::from_utf8_lossy(&line).into_owned();
                sender.send_modify(|lines| lines.push(line));
            }
        });
        Self(receiver)
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Waits for a line that satisfies the condition, and returns the first that does. Lines of the past count.
    ///
    /// # Errors
    /// None comes in time, or Envoy has ended.
    pub async fn wait_for(&self, condition: impl Fn(&str) -> bool, patience: Duration) -> Result<String> {
        let mut lines = self.0.clone();
        let found = lines.wait_for(|lines| lines.iter().any(|line| condition(line)));
        let found = match tokio::time::timeout(patience, found).await {
            Ok(Ok(lines)) => lines.iter().find(|line| condition(line)).cloned(),
            Ok(Err(_)) | Err(_) => None,
        };
        found.with_context(|| {
            format!("no such line in Envoy's log within {patience:?}; it says\n{}", self.tail())
        })
    }

    /// The last lines, to be shown when something went wrong.
    pub(super) fn tail(&self) -> String {
        let lines = self.0.borrow();
        lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
    }
}
