use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
#[cfg(feature = "harness")]
use breakerbox_host::hosts::{Component, Filter};
use breakerbox_host::hosts::{Host, Native};
use breakerbox_host::scenario::{self, Observation, Scenario};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::progress::Progress;

/// Runs scenario files, and says where a breaker answered otherwise than they expect
///
/// Ends with 0 if all passed, with 1 if one failed, with 2 if a file is no scenario.
#[derive(Args)]
pub(super) struct Run {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Where the breaker runs
    #[arg(long, value_enum, default_value_t = HostName::Native)]
    host: HostName,
    /// Print what was seen, one JSON object a step, and check nothing
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum HostName {
    /// The core in this process
    Native,
    /// The component in wasmtime
    Component,
    /// The filter in a proxy-wasm host
    Filter,
}

impl HostName {
    #[cfg_attr(
        feature = "harness",
        expect(clippy::unnecessary_wraps, reason = "without it guests are missing")
    )]
    fn host(self) -> Result<Box<dyn Host>> {
        Ok(match self {
            Self::Native => Box::new(Native),
            #[cfg(feature = "harness")]
            Self::Component => Box::new(Component),
            #[cfg(feature = "harness")]
            Self::Filter => Box::new(Filter),
            #[cfg(not(feature = "harness"))]
            Self::Component | Self::Filter => bail!(
                "this breakerbox is built without the harness, which has the guests: cargo build -p breakerbox-host"
            ),
        })
    }
}

impl Run {
    pub(super) fn execute(self) -> Result<ExitCode> {
        let host = self.host.host()?;
        let scenarios = self.read()?;
        if self.json { print_observations(&scenarios, &*host) } else { check(&scenarios, &*host) }
    }

    /// All files before the first is run, so that a wrong name shows at once.
    fn read(&self) -> Result<Vec<(String, Scenario)>> {
        let (mut scenarios, mut problems) = (Vec::new(), Vec::new());
        for file in &self.files {
            let name = file.display().to_string();
            match Scenario::read(file) {
                Ok(scenario) => scenarios.push((name, scenario)),
                Err(error) => {
                    problems.extend(format!("{error:#}").lines().map(|line| format!("{name}: {line}")));
                }
            }
        }
        if !problems.is_empty() {
            bail!("{}", problems.join("\n"));
        }
        Ok(scenarios)
    }
}

fn check(scenarios: &[(String, Scenario)], host: &dyn Host) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut failed = 0;
    let mut progress = Progress::new(scenarios.len());
    for (file, scenario) in scenarios {
        progress.advance(file);
        let complaints: Vec<_> = match scenario::run(scenario, host) {
            Ok(seen) => scenario.differences(&seen).iter().map(ToString::to_string).collect(),
            Err(error) => vec![format!("{error:#}")],
        };
        if complaints.is_empty() {
            continue;
        }
        failed += 1;
        progress.clear();
        for complaint in complaints {
            writeln!(out, "{file}: {complaint}")?;
        }
    }
    progress.clear();
    writeln!(out, "{} passed, {failed} failed", scenarios.len() - failed)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    step: usize,
    at_ms: i64,
    #[serde(flatten)]
    seen: &'a Observation,
}

fn print_observations(scenarios: &[(String, Scenario)], host: &dyn Host) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for (file, scenario) in scenarios {
        let seen = scenario::run(scenario, host).map_err(|error| error.context(file.clone()))?;
        for ((step, seen), number) in scenario.steps.iter().zip(&seen).zip(1..) {
            let line = Line { file, step: number, at_ms: step.at_ms, seen };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
