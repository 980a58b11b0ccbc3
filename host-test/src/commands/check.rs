use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

/// Checks a configuration of the Envoy filter (JSON), and prints all that is wrong with it
///
/// Ends with 0 if it would be accepted, with 1 if it would be refused, with 2 if the file cannot be read.
#[derive(Args)]
pub(super) struct Check {
    /// The configuration, as it stands in the plugin's configuration
    file: PathBuf,
}

impl Check {
    pub(super) fn execute(self) -> Result<ExitCode> {
        let file = self.file.display();
        let json = fs::read_to_string(&self.file).with_context(|| format!("{file} cannot be read"))?;
        match breakerbox_config::filter(&json) {
            Ok(config) => {
                println!("{file}: accepted, {} breakers with settings of their own", config.breakers.len());
                Ok(ExitCode::SUCCESS)
            }
            Err(problems) => {
                for problem in problems.0 {
                    println!("{file}: {problem}");
                }
                Ok(ExitCode::FAILURE)
            }
        }
    }
}
