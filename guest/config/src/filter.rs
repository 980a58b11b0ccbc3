use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

use breakerbox_core::{Rules, Settings};

use crate::keys::{FILTER_KEYS, KEYS};
use crate::report::Report;
use crate::settings::{check, parse, read_settings};
use crate::table::At;
use crate::{Per, Problems};

/// The Envoy filter's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterConfig {
    /// What has a breaker of its own.
    pub per: Per,
    /// The rules of every breaker that `breakers` does not name.
    pub default: Rules,
    /// Exceptions by id.
    pub breakers: BTreeMap<String, Rules>,
}

impl FilterConfig {
    /// The rules of the breaker `id`.
    pub fn rules_for(&self, id: &str) -> &Rules {
        self.breakers.get(id).unwrap_or(&self.default)
    }
}

/// What holds in the Envoy filter where its configuration says nothing: the core's defaults, except that probes
/// are waited for 60 s at most, since the request of a worker VM that died never reports.
pub fn filter_defaults() -> Settings {
    Settings { max_wait_in_half_open: Duration::from_mins(1), ..Settings::default() }
}

/// Reads the Envoy filter's configuration, a JSON object of the keys in [`FILTER_KEYS`]. No text at all is the
/// default configuration.
///
/// # Errors
/// Everything that is wrong, at once.
pub fn filter(json: &str) -> Result<FilterConfig, Problems> {
    let mut report = Report::default();
    let json = if json.trim().is_empty() { "{}" } else { json };
    let config = parse(json, &mut report).and_then(|value| {
        let at = At { path: String::new(), limits: "an object", value: &value };
        read(&at, &mut report)
    });
    report.finish(config)
}

fn read(at: &At<'_>, report: &mut Report) -> Option<FilterConfig> {
    let table = at.table(&[FILTER_KEYS], report)?;
    let mut per = Per::default();
    table.read("per", Per::read, report, &mut per);
    let defaults = filter_defaults();
    let base = match table.get("default").and_then(|at| at.table(&[KEYS], report)) {
        Some(table) => read_settings(&table, &defaults, report),
        None => defaults,
    };
    let default = check("default", &base, None, report);
    let mut breakers = BTreeMap::new();
    let entries = table.get("breakers").and_then(|at| at.entries("an object of settings", report));
    for (id, at) in entries.unwrap_or_default() {
        let Some(table) = at.table(&[KEYS], report) else { continue };
        let settings = read_settings(&table, &base, report);
        if let Some(rules) = check(&at.path, &settings, Some(&base), report) {
            breakers.insert(id.into(), rules);
        }
    }
    Some(FilterConfig { per, default: default?, breakers })
}
