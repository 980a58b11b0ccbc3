use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::demo;

/// Shows a breaker open, probe and close in a real Envoy, while another route goes on undisturbed
#[derive(Args)]
pub(super) struct Demo {
    /// Leave Envoy and the upstreams running at the end, until interrupted
    #[arg(long)]
    keep: bool,
}

impl Demo {
    pub(super) fn execute(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Runtime::new()?;
        Ok(match runtime.block_on(demo::run(self.keep)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("breakerbox: {error:#}");
                ExitCode::FAILURE
            }
        })
    }
}
