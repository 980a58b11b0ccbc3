//! Every scenario file has the expected answers on every host.

use std::fs;
use std::path::{Path, PathBuf};

use breakerbox_host::hosts::{Host, Native};
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

fn assert_all_pass(host: &dyn Host) {
    let mut complaints = Vec::new();
    for file in files() {
        let complaint = |what: String| format!("{}: {what}", file.display());
        let seen = Scenario::read(&file).and_then(|scenario| Ok((run(&scenario, host)?, scenario)));
        match seen {
            Ok((seen, scenario)) => {
                complaints.extend(scenario.differences(&seen).iter().map(|it| complaint(it.to_string())));
            }
            Err(error) => complaints.push(complaint(format!("{error:#}"))),
        }
    }
    assert!(complaints.is_empty(), "on the host {}:\n{}", host.name(), complaints.join("\n"));
}

#[test]
fn the_core_answers_as_expected_in_one_process_and_on_a_shared_slot() {
    assert_all_pass(&Native);
}
