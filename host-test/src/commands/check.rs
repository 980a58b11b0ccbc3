use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;

/// Checks a configuration of the Envoy filter (JSON), and prints all that is wrong or odd in it
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
                for warning in &config.warnings {
                    println!("{file}: warning: {warning}");
                }
                println!("{file}: accepted, {}", counted(config.warnings.len(), "warning"));
                Ok(ExitCode::SUCCESS)
            }
            Err(problems) => {
                for problem in &problems.0 {
                    println!("{file}: problem: {problem}");
                }
                for warning in problems.warnings() {
                    println!("{file}: warning: {warning}");
                }
                let warnings = counted(problems.warnings().len(), "warning");
                println!("{file}: refused, {}, {warnings}", counted(problems.count(), "problem"));
                Ok(ExitCode::FAILURE)
            }
        }
    }
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
