//! Every scenario file has the expected answers on every host, and all hosts have the same ones.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use breakerbox_host::hosts::{Component, Filter, Host, Native};
use breakerbox_host::scenario::{Scenario, run};

/// All scenario files, sorted by path.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let folders = fs::read_dir(root).unwrap().map(|folder| folder.unwrap().path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert_ne!(files.len(), 0);
    files
}

/// Runs a scenario on the host and on the core, and returns what was not as expected, and what was not as on the core:
/// everything that a snapshot shows, in every step.
fn complaints(file: &Path, host: &dyn Host) -> Result<Vec<String>> {
    let scenario = Scenario::read(file)?;
    let seen = run(&scenario, host)?;
    let unexpected = scenario.differences(&seen).into_iter().map(|it| it.to_string());
    let native = run(&scenario, &Native)?;
    let unlike =
        native.iter().zip(&seen).zip(1..).flat_map(|((native, seen), step)| native.differences(step, seen));
    Ok(unexpected.chain(unlike.map(|it| format!("unlike the core: {it}"))).collect())
}

fn assert_all_pass(host: &dyn Host) {
    let of_file = |file: PathBuf| {
        let complaints = complaints(&file, host).unwrap_or_else(|error| vec![format!("{error:#}")]);
        complaints.into_iter().map(move |complaint| format!("{}: {complaint}", file.display()))
    };
    let complaints: Vec<_> = files().into_iter().flat_map(of_file).collect();
    assert!(complaints.is_empty(), "on the host {}:\n{}", host.name(), complaints.join("\n"));
}

#[test]
fn the_core_answers_as_expected_in_one_process_and_on_a_shared_slot() {
    assert_all_pass(&Native);
}

#[test]
fn the_component_answers_like_the_core() {
    assert_all_pass(&Component);
}

#[test]
fn the_filter_answers_like_the_core() {
    assert_all_pass(&Filter);
}
