//! The commands of `breakerbox`, each in a file of its own.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod check;
mod demo;
mod progress;
mod run;
mod settings;

/// Checks configurations of the breakerbox filter, plays scenarios on its breakers, and shows one at work in Envoy
#[derive(Parser)]
#[command(name = "breakerbox", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Demo(demo::Demo),
    Run(run::Run),
    /// Prints the table of settings: a breaker's, and what the filter's configuration has around them
    Settings,
}

/// The command could not do its work at all; clap says the same of arguments that it does not understand.
const UNUSABLE: u8 = 2;

pub(crate) fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Check(check) => Ok(check.execute()),
        Command::Demo(demo) => demo.execute(),
        Command::Run(run) => run.execute(),
        Command::Settings => settings::execute(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("breakerbox: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}
