use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use breakerbox_config::{Problem, Warning};
use clap::Args;

use super::UNUSABLE;

/// Checks configurations of the Envoy filter (JSON), and prints all that is wrong or odd in them
///
/// Ends with 0 if all would be accepted, with 1 if one would be refused, with 2 if a file cannot be read.
#[derive(Args)]
pub(super) struct Check {
    /// Configurations, each as it stands in the plugin's configuration; - is the standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// End with 1 also if something is odd
    #[arg(long)]
    deny_warnings: bool,
}

impl Check {
    pub(super) fn execute(self) -> ExitCode {
        let (mut all_read, mut all_passed) = (true, true);
        for file in &self.files {
            match read(file) {
                Ok(json) => all_passed &= self.passes(file, &json),
                // The others are checked all the same.
                Err(error) => {
                    eprintln!("breakerbox: {error:#}");
                    all_read = false;
                }
            }
        }
        match (all_read, all_passed) {
            (false, _) => ExitCode::from(UNUSABLE),
            (true, false) => ExitCode::FAILURE,
            (true, true) => ExitCode::SUCCESS,
        }
    }

    fn passes(&self, file: &Path, json: &str) -> bool {
        match breakerbox_config::filter(json) {
            Ok(config) => {
                let warnings = print(file, &[], &config.warnings);
                println!("{}: accepted, {warnings}", file.display());
                config.warnings.is_empty() || !self.deny_warnings
            }
            Err(problems) => {
                let warnings = print(file, &problems.0, problems.warnings());
                println!("{}: refused, {}, {warnings}", file.display(), counted(problems.count(), "problem"));
                false
            }
        }
    }
}

fn read(file: &Path) -> Result<String> {
    let text = if file == "-" { io::read_to_string(io::stdin()) } else { fs::read_to_string(file) };
    text.with_context(|| format!("{} cannot be read", file.display()))
}

/// Prints what was found, and says how many of it are warnings.
fn print(file: &Path, problems: &[Problem], warnings: &[Warning]) -> String {
    let file = file.display();
    for problem in problems {
        println!("{file}: problem: {problem}");
    }
    for warning in warnings {
        println!("{file}: warning: {warning}");
    }
    counted(warnings.len(), "warning")
}

fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
