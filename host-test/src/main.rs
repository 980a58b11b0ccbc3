//! The command `breakerbox`.

mod demo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows a breaker open, probe and close in a real Envoy, while another route goes on undisturbed
    Demo {
        /// Leave Envoy and the upstreams running at the end, until interrupted
        #[arg(long)]
        keep: bool,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Demo { keep } => demo::run(keep).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("breakerbox: {error:#}");
            ExitCode::FAILURE
        }
    }
}
