//! The examples in `tests/hosts/` of hosts in other languages: each opens, rejects, probes and closes a breaker with a
//! clock set by hand, and fails if anything is not as it should be. (The one in Rust is a test by itself.)

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::guests::COMPONENT_WASM;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn other_hosts_run_the_component() -> Result<()> {
    // One test, so that two do not set up the same thing at the same time.
    run(Command::new("make").arg("hosts").env_remove("MAKEFLAGS"), "")?;
    javascript()?;
    python()
}

fn javascript() -> Result<()> {
    let jco = "tests/hosts/javascript/node_modules/.bin/jco";
    let out = "tests/hosts/javascript/generated";
    run(Command::new(jco).args(["transpile", COMPONENT_WASM, "--name", "breakerbox", "--out-dir", out]), "")?;
    run(Command::new("node").arg("tests/hosts/javascript/breaker.js"), END)
}

fn python() -> Result<()> {
    let packages = Path::new(ROOT).join("target/hosts/python");
    let example = "tests/hosts/python/breaker.py";
    run(Command::new("python3").args([example, COMPONENT_WASM]).env("PYTHONPATH", packages), END)
}

/// The last line of every example.
const END: &str = "opened, rejected, probed, closed\n";

fn run(command: &mut Command, end: &str) -> Result<()> {
    let output = command.current_dir(ROOT).output().with_context(|| format!("cannot run {command:?}"))?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success() && stdout.ends_with(end), "{command:?} failed:\n{stdout}{stderr}");
    Ok(())
}
