//! The guests run in other people's proxies and hosts: they link what CONTRIBUTING.md lists, and are not large.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::guests::{COMPONENT_WASM, FILTER_WASM};

const CONTRIBUTING: &str = include_str!("../CONTRIBUTING.md");

/// The crates that a guest links, its own and those of this workspace left out.
fn linked(package: &str, target: &str) -> Result<BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["tree", "--locked", "--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--package", package, "--target", target])
        .output()?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout)?;
    let names = names.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.filter(|name| !name.starts_with("breakerbox-")).map(str::to_owned).collect())
}

/// The crates that the table of CONTRIBUTING.md lists in the row of a package.
fn listed(package: &str) -> Result<BTreeSet<String>> {
    let row = CONTRIBUTING.lines().find(|line| line.starts_with(&format!("| `{package}` |")));
    let cell = row.and_then(|row| row.split('|').nth(2)).with_context(|| format!("no row of {package}"))?;
    Ok(cell.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect())
}

/// A tenth above what was reached.
#[test]
fn guests_stay_below_their_ceilings() -> Result<()> {
    for (guest, most) in [(FILTER_WASM, 670_000), (COMPONENT_WASM, 130_000)] {
        let bytes = fs::metadata(guest)?.len();
        ensure!(bytes <= most, "{guest} has {bytes} bytes, more than {most}: worth it?");
    }
    Ok(())
}

#[test]
fn guests_link_what_is_listed_and_nothing_else() -> Result<()> {
    for (package, target) in
        [("breakerbox-filter", "wasm32-wasip1"), ("breakerbox-component", "wasm32-unknown-unknown")]
    {
        let (linked, listed) = (linked(package, target)?, listed(package)?);
        ensure!(linked == listed, "{package} links {linked:?}, and CONTRIBUTING.md lists {listed:?}");
    }
    Ok(())
}
