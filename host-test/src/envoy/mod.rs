//! A real Envoy, run for as long as a test needs it.

mod binary;
mod bootstrap;
mod listeners;
mod log;
mod metrics;
mod watchdog;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::client::Client;
use watchdog::Watchdog;

pub use bootstrap::Bootstrap;
pub use listeners::Update;
pub use log::Log;
pub use metrics::{Metrics, Sample};

/// Loading and compiling the filter is most of it, on a machine that is busy with other tests.
/// Under a debugger or valgrind Envoy takes its time.
const START: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);

/// A running Envoy. Dropping it kills it; so does the end of this process.
#[derive(Debug)]
pub struct Envoy {
    // In this order: the watchdog must be gone when the child is reaped.
    _watchdog: Watchdog,
    child: Child,
    admin: Client,
    address: SocketAddr,
    workers: u32,
    log: Log,
    directory: TempDir,
}

impl Envoy {
    /// Starts an Envoy with this many workers and waits until it serves.
    ///
    /// # Errors
    /// There is no Envoy, or it refuses the configuration; what it logged is in the error.
    pub async fn start(bootstrap: &Bootstrap, workers: u32) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("breakerbox-envoy-").tempdir()?;
        let listeners = directory.path().join(listeners::FILE);
        fs::write(&listeners, bootstrap.listeners().to_string())?;
        let config = directory.path().join("bootstrap.json");
        fs::write(&config, bootstrap.without_listeners(&listeners).to_string())?;
        let admin_file = directory.path().join("admin");

        let binary = binary::path().await?;
        let mut child = Command::new(binary)
            .arg("--config-path")
            .arg(&config)
            .arg("--admin-address-path")
            .arg(&admin_file)
            .args(["--concurrency", &workers.to_string()])
            // Watching the file of the listeners asks for a name; any will do.
            .args(["--service-node", "breakerbox", "--service-cluster", "breakerbox"])
            // Envoys with the default would fight over one shared memory segment.
            .arg("--disable-hot-restart")
            .args(["--log-level", "warning", "--component-log-level", "wasm:info"])
            .args(["--log-format", "[%l][%n] %v"])
            // Access logs are flushed every 10 s otherwise.
            .args(["--file-flush-interval-msec", "50"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot run {}", binary.display()))?;
        let watchdog = Watchdog::watch(child.id().context("Envoy ended at once")?)
            .context("cannot run sh, which watches over Envoy")?;
        let log = Log::read(child.stderr.take().context("its stderr is a pipe")?);

        let first = bootstrap.first_listener().context("its first listener has no name")?;
        let started = wait_until_ready(&mut child, &admin_file, first).await;
        let (admin, address) =
            started.with_context(|| format!("Envoy does not start; its log says\n{}", log.tail()))?;
        Ok(Self { _watchdog: watchdog, child, admin, address, workers, log, directory })
    }

    /// Its process, until that ends.
    pub fn process(&self) -> Option<u32> {
        self.child.id()
    }

    /// How many bytes of memory it occupies.
    ///
    /// # Errors
    /// It is gone, or the system does not tell.
    pub fn memory(&self) -> Result<u64> {
        let process = self.process().context("Envoy has ended")?;
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB"));
        let kilobytes: u64 = resident.context("its status has no VmRSS")?.trim().parse()?;
        Ok(kilobytes * 1024)
    }

    /// Where its first listener listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A client of its first listener.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// A client of the listener of this name.
    ///
    /// # Errors
    /// There is none, or Envoy is gone.
    pub async fn listener(&self, name: &str) -> Result<Client> {
        Ok(Client::new(address_of(self.admin, name).await?))
    }

    /// A client of its admin interface.
    pub fn admin(&self) -> Client {
        self.admin
    }

    /// What it logged: warnings, and what the filter says.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Its counters and gauges.
    ///
    /// # Errors
    /// It is gone; what it logged last is in the error.
    pub async fn metrics(&self) -> Result<Metrics> {
        let reply = self.admin.get("/stats/prometheus").await;
        let reply = reply.with_context(|| format!("Envoy is gone; {}", self.log.tail()))?;
        Ok(Metrics::parse(&reply.text()))
    }

    /// Waits until its counters and gauges are as the condition asks for.
    ///
    /// # Errors
    /// They are not in time, or it is gone.
    pub async fn wait_for_metrics(
        &self,
        condition: impl Fn(&Metrics) -> bool,
        patience: Duration,
    ) -> Result<Metrics> {
        let deadline = Instant::now() + patience;
        loop {
            let metrics = self.metrics().await?;
            if condition(&metrics) {
                return Ok(metrics);
            }
            if Instant::now() > deadline {
                bail!("Envoy's metrics are not as expected within {patience:?}:\n{metrics}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// How many connections each of its workers has taken from its listeners so far.
    ///
    /// # Errors
    /// It is gone.
    pub async fn connections_by_worker(&self) -> Result<Vec<u64>> {
        let stats = self.admin.get("/stats").await?.text();
        let of_worker = |worker| {
            let suffix = format!(".worker_{worker}.downstream_cx_total: ");
            let values = stats.lines().filter_map(|line| line.split_once(&suffix)?.1.parse::<u64>().ok());
            values.sum()
        };
        Ok((0..self.workers).map(of_worker).collect())
    }

    /// One of its counters or gauges under Envoy's own name for it; 0 if there is none.
    ///
    /// # Errors
    /// It is gone.
    pub async fn stat(&self, name: &str) -> Result<u64> {
        let stats = self.admin.get("/stats").await?.text();
        let value = stats.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.map_or(Ok(0), |value| value.parse().with_context(|| format!("{name} is {value}")))
    }
}

/// Waits until Envoy serves; returns its admin interface and the address of its first listener.
async fn wait_until_ready(
    child: &mut Child,
    admin_file: &Path,
    first_listener: &str,
) -> Result<(Client, SocketAddr)> {
    let deadline = Instant::now() + START;
    loop {
        if let Some(status) = child.try_wait()? {
            bail!("it ended with {status}");
        }
        // The file appears, empty at first, when the admin interface listens.
        let address = fs::read_to_string(admin_file).ok().and_then(|text| text.trim().parse().ok());
        if let Some(admin) = address.map(Client::new)
            && admin.get("/ready").await.is_ok_and(|reply| reply.status.is_success())
        {
            return Ok((admin, address_of(admin, first_listener).await?));
        }
        if Instant::now() > deadline {
            bail!("it is not ready after {START:?}");
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn address_of(admin: Client, listener: &str) -> Result<SocketAddr> {
    let listeners: Value = serde_json::from_str(&admin.get("/listeners?format=json").await?.text())?;
    let mut all = listeners["listener_statuses"].as_array().into_iter().flatten();
    let found = all.find(|status| status["name"] == listener);
    let socket = found.and_then(|status| status.pointer("/local_address/socket_address"));
    let Some((ip, port)) =
        socket.and_then(|socket| Some((socket["address"].as_str()?, socket["port_value"].as_u64()?)))
    else {
        bail!("it refused the listener {listener}, or the configuration has none of this name");
    };
    Ok(SocketAddr::new(ip.parse()?, u16::try_from(port)?))
}
