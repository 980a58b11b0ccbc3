//! The command `breakerbox`.

mod commands;
mod demo;

fn main() -> std::process::ExitCode {
    commands::main()
}
