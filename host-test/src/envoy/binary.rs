use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;
use tokio::sync::OnceCell;

const FETCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../envoy/fetch-envoy.sh");

/// The Envoy to run, fetched if it is missing; `ENVOY` in the environment names another.
pub(super) async fn path() -> Result<&'static Path> {
    static PATH: OnceCell<PathBuf> = OnceCell::const_new();
    PATH.get_or_try_init(fetch).await.map(PathBuf::as_path)
}

async fn fetch() -> Result<PathBuf> {
    let output = Command::new(FETCH)
        .stderr(Stdio::inherit())
        .output()
        .await
        .with_context(|| format!("cannot run {FETCH}; is bash installed?"))?;
    ensure!(output.status.success(), "{FETCH} found no Envoy: see above");
    Ok(String::from_utf8(output.stdout)?.trim_end().into())
}
