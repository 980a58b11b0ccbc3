//! Prints what criterion measured as one table of ratios: `ratios CRITERION_DIRECTORY`.
//!
//! Every group has a baseline, measured in the same run. An absolute time means little on another machine; how
//! many times the baseline it is means more. Where other calls are guarded, a group has the same call unguarded, too.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use breakerbox_benches::{SCALE, UNGUARDED};
use serde_json::Value;

const BASELINE: &str = "baseline: ";

/// Median nanoseconds by name, where the name ends in `/` and the number of threads.
type Group = BTreeMap<String, f64>;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: ratios CRITERION_DIRECTORY")?;
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for measured in measurements(Path::new(&directory))? {
        let about = read(&measured.join("benchmark.json"))?;
        let estimates = read(&measured.join("estimates.json"))?;
        let group = about["group_id"].as_str().unwrap_or_default().to_owned();
        let name = about["function_id"].as_str().unwrap_or_default().to_owned();
        let median = estimates["median"]["point_estimate"].as_f64().ok_or("an estimate without a median")?;
        groups.entry(group).or_default().insert(name, median);
    }
    println!(
        "| work | threads | median ns | times the baseline | ns beyond the unguarded call |\n|---|---|---|---|---|"
    );
    for (group, measured) in &groups {
        for (name, nanos) in measured {
            let (work, threads) = name.rsplit_once('/').unwrap_or((name, "1"));
            let ratio = scale(measured, BASELINE, threads).map(|base| format!("{:.2}", nanos / base));
            let guards_a_call = ![BASELINE, SCALE].iter().any(|prefix| name.starts_with(prefix));
            let added = scale(measured, UNGUARDED, threads)
                .filter(|_| guards_a_call)
                .map(|call| format!("{:.1}", nanos - call));
            let [ratio, added] = [ratio, added].map(|figure| figure.unwrap_or_else(|| "-".into()));
            println!("| {group}: {work} | {threads} | {nanos:.1} | {ratio} | {added} |");
        }
    }
    Ok(())
}

/// The group's row of that name, on as many threads or on one if that is all there is.
fn scale(group: &Group, row: &str, threads: &str) -> Option<f64> {
    let on = |threads: &str| {
        group.iter().find(|(name, _)| {
            name.starts_with(row) && name.rsplit_once('/').is_some_and(|(_, number)| number == threads)
        })
    };
    on(threads).or_else(|| on("1")).map(|(_, nanos)| *nanos)
}

/// Directories named `new`, where criterion leaves the latest measurement.
fn measurements(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry?.path();
        if path.ends_with("new") {
            found.push(path);
        } else if path.is_dir() {
            found.extend(measurements(&path)?);
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Value, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}
