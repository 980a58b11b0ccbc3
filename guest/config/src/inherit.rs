use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::filter_keys::CONFIG_KEYS;
use crate::policy::Draft;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::table::{At, Table};
use crate::text::quoted;
use crate::value::check_name;
use crate::{Code, Oddity};

/// Entries that `configs` may have.
const MOST_CONFIGS: usize = 1_000;

/// A `base` that means the top level's `default`, which is what holds without a `base` as well.
const DEFAULT: &str = "default";

/// The named configurations, `configs`, each with all that it inherits.
#[derive(Debug)]
pub(crate) struct Configs<'a> {
    default: Draft,
    resolved: BTreeMap<&'a str, Draft>,
    named: BTreeMap<&'a str, Named<'a>>,
}

#[derive(Debug)]
struct Named<'a> {
    path: String,
    table: Table<'a>,
    base: Option<&'a str>,
}

impl<'a> Configs<'a> {
    /// Reads the object `at`; entries without a `base` inherit from `default`.
    pub(crate) fn read(at: Option<&At<'a>>, default: Draft, report: &mut Report) -> Self {
        let mut configs = Self { default, resolved: BTreeMap::new(), named: BTreeMap::new() };
        let entries = at.and_then(|at| {
            let entries = at.entries("an object of settings", report)?;
            at.limit(entries.len(), MOST_CONFIGS, report).then_some(entries)
        });
        for (name, at) in entries.unwrap_or_default() {
            if !check_name(name, &at.path, report) {
                continue;
            }
            if name == DEFAULT {
                let message = "is what the top level's `default` is for: write its settings there";
                report.problem(&at.path, Code::Conflict, message);
                continue;
            }
            let [settings, policy] = Draft::KEYS;
            let Some(table) = at.table(&[settings, policy, CONFIG_KEYS], report) else { continue };
            configs.named.insert(name, Named { path: at.path, table, base: None });
        }
        configs.link(report);
        let names: Vec<&str> = configs.named.keys().copied().collect();
        for name in names {
            configs.resolve(name, report);
        }
        configs
    }

    /// The name in a table's `base`, if there is one and it is known. `None` is the default.
    pub(crate) fn base_name(&self, table: &Table<'a>, report: &mut Report) -> Option<&'a str> {
        let at = table.get("base")?;
        let name = at.text(report)?;
        if name == DEFAULT {
            return None;
        }
        if !self.named.contains_key(name) {
            let hint = did_you_mean(name, self.named.keys().copied());
            let message = format!("{} is no entry of `configs`: give the name of one{hint}", at.value);
            report.problem(&at.path, Code::UnknownName, message);
            return None;
        }
        Some(name)
    }

    /// What the entries of a base inherit.
    pub(crate) fn draft(&self, base: Option<&str>) -> &Draft {
        base.and_then(|name| self.resolved.get(name)).unwrap_or(&self.default)
    }

    /// Warns of configurations that none of the bases in `used` leads to.
    pub(crate) fn warn_of_unused(&self, used: impl IntoIterator<Item = &'a str>, report: &mut Report) {
        let mut reached = BTreeSet::new();
        for name in used {
            let mut next = Some(name);
            while let Some(name) = next.filter(|name| reached.insert(*name)) {
                next = self.named.get(name).and_then(|named| named.base);
            }
        }
        for (_, named) in self.named.iter().filter(|(name, _)| !reached.contains(*name)) {
            let message = "is not used: no `base` in `breakers` leads to it";
            report.warning(&named.path, Oddity::UnusedConfig, message);
        }
    }

    /// Finds each configuration's base.
    fn link(&mut self, report: &mut Report) {
        let bases: Vec<_> =
            self.named.iter().map(|(name, named)| (*name, self.base_name(&named.table, report))).collect();
        for (name, base) in bases {
            if let Some(named) = self.named.get_mut(name) {
                named.base = base;
            }
        }
    }

    /// Works out a configuration and all that it inherits from. A loop, since a chain may be as long as the
    /// document.
    fn resolve(&mut self, name: &'a str, report: &mut Report) {
        let mut chain: Vec<(&'a str, &Named<'a>)> = Vec::new();
        let mut next = Some(name);
        while let Some(name) = next.filter(|name| !self.resolved.contains_key(name)) {
            if let Some(start) = chain.iter().position(|(member, _)| *member == name) {
                report_cycle(chain.get(start..).unwrap_or_default(), report);
                next = None;
                continue;
            }
            let Some(named) = self.named.get(name) else { break };
            chain.push((name, named));
            next = named.base;
        }
        let mut base = self.draft(next).clone();
        let mut drafts = Vec::with_capacity(chain.len());
        for (name, named) in chain.iter().rev() {
            let draft = base.refine(&named.table, report);
            draft.check(&named.path, Some(&base), report);
            drafts.push((*name, draft.clone()));
            base = draft;
        }
        self.resolved.extend(drafts);
    }
}

fn report_cycle(members: &[(&str, &Named<'_>)], report: &mut Report) {
    let Some((first, _)) = members.first() else { return };
    let Some((_, last)) = members.last() else { return };
    // Enough to find it; a cycle may be as long as the document.
    let mut way: Vec<String> = members.iter().take(8).map(|(name, _)| quoted(name)).collect();
    if members.len() > way.len() {
        way.push("…".into());
    }
    way.push(quoted(first));
    let message = format!("leads back to itself: {}; take one `base` out", way.join(" -> "));
    report.problem(&last.table.path_of("base"), Code::BaseCycle, message);
}
