use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use breakerbox_core::{Rules, Settings};

use crate::breakers::Guarded;
use crate::filter_keys::{CONFIG_KEYS, ENTRY_KEYS, FILTER_KEYS};
use crate::inherit::Configs;
use crate::policy::Draft;
use crate::report::Report;
use crate::settings::parse;
use crate::table::{At, Table};
use crate::value::check_name;
use crate::{Breakers, Code, OnRejection, Per, Policy, Problems, Role, Warning};

/// Entries that `breakers` may have.
const MOST_ENTRIES: usize = 10_000;

/// The Envoy filter's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterConfig {
    /// What has a breaker of its own.
    pub per: Per,
    /// The policy of every id that `breakers` does not cover.
    pub default: Arc<Policy>,
    /// The exceptions.
    pub breakers: Breakers,
    /// As many breakers may exist, 1 to 100,000; requests that would need more pass unguarded.
    pub max_breakers: u32,
    /// What this filter does.
    pub role: Role,
    /// What is legal but odd.
    pub warnings: Vec<Warning>,
}

impl FilterConfig {
    /// The policy of an id.
    pub fn policy_for(&self, id: &str) -> &Arc<Policy> {
        self.breakers.get(id).unwrap_or(&self.default)
    }

    /// The rules of the breaker that guards an id.
    pub fn rules_for(&self, id: &str) -> &Rules {
        &self.policy_for(id).rules
    }

    /// The policy of the breaker of this name. An id of that name may yet be guarded by another breaker.
    pub fn policy_of_breaker(&self, name: &str) -> &Policy {
        self.breakers.shared(name).unwrap_or_else(|| self.policy_for(name))
    }

    /// The names of the headers that fallbacks set, in lower case: a client's own copies are not to be believed.
    pub fn fallback_headers(&self) -> BTreeSet<&str> {
        let headers = |policy| match policy {
            &Policy { on_rejection: OnRejection::Fallback(ref headers), .. } => headers.as_slice(),
            _ => &[],
        };
        self.policies().flat_map(headers).map(|header| header.name()).collect()
    }

    fn policies(&self) -> impl Iterator<Item = &Policy> {
        core::iter::once(&*self.default).chain(self.breakers.policies())
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
    let (config, warnings) = report.finish(config)?;
    Ok(FilterConfig { warnings, ..config })
}

fn read(at: &At<'_>, report: &mut Report) -> Option<FilterConfig> {
    let table = at.table(&[FILTER_KEYS], report)?;
    let mut per = Per::default();
    table.read("per", Per::read, report, &mut per);
    let mut max_breakers = 1_000;
    let range = |at: &At<'_>, report: &mut Report| at.number_in(1..=100_000, report);
    table.read("max_breakers", range, report, &mut max_breakers);
    let role = Role::read(&table, report);

    let mut default = Draft::new(filter_defaults());
    if let Some(table) = table.get("default").and_then(|at| at.table(&Draft::KEYS, report)) {
        default = default.refine(&table, report);
    }
    let policy = default.check("default", None, report);
    let configs = Configs::read(table.get("configs"), default, report);
    let breakers = read_breakers(&table, &per, &configs, report);

    let config =
        FilterConfig { per, default: Arc::new(policy?), breakers, max_breakers, role, warnings: Vec::new() };
    if config.per == Per::UpstreamHost && !config.fallback_headers().is_empty() {
        let message = "excludes `fallback`: once there is an upstream host no other route can be chosen; \
                       use `reject`, or another `per`";
        report.problem("per", Code::Conflict, message);
    }
    Some(config)
}

fn read_breakers(table: &Table<'_>, per: &Per, configs: &Configs<'_>, report: &mut Report) -> Breakers {
    let entries = table.get("breakers").and_then(|at| {
        let entries = at.entries("an object of settings", report)?;
        at.limit(entries.len(), MOST_ENTRIES, report).then_some(entries)
    });
    let [settings, policy] = Draft::KEYS;
    let keys = [settings, policy, CONFIG_KEYS, ENTRY_KEYS];
    let mut guarded = Vec::new();
    let mut used = Vec::new();
    for (key, at) in entries.unwrap_or_default() {
        if !check_name(key, &at.path, report) {
            continue;
        }
        let Some(table) = at.table(&keys, report) else { continue };
        let base = configs.base_name(&table, report);
        used.extend(base);
        let base = configs.draft(base);
        let breaker = table.get("breaker").and_then(|at| at.name(report)).map(String::from);
        let policy = base.refine(&table, report).check(&at.path, Some(base), report);
        if let Some(policy) = policy {
            guarded.push(Guarded { key: key.into(), path: at.path, policy: Policy { breaker, ..policy } });
        }
    }
    configs.warn_of_unused(used, report);
    Breakers::new(guarded, per, report)
}
