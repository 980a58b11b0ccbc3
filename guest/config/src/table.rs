use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::filter_keys::FILTER_KEYS;
use crate::json::Json;
use crate::keys::SECTIONS;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::text::{below, quoted};
use crate::{Code, Key};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    pub(crate) path: String,
    /// What may be given here, for the remedy.
    pub(crate) limits: &'a str,
    pub(crate) value: &'a Json,
}

impl<'a> At<'a> {
    /// Refuses the value: `why` follows it, and what may be given follows that.
    pub(crate) fn refuse(&self, code: Code, why: &str, report: &mut Report) {
        report.problem(&self.path, code, format!("{} {why}: give {}", self.value, self.limits));
    }

    /// The entries of an object, each key once.
    pub(crate) fn entries(&self, limits: &'a str, report: &mut Report) -> Option<Vec<(&'a str, At<'a>)>> {
        let Json::Object(given) = self.value else {
            self.refuse(Code::WrongType, "is not an object", report);
            return None;
        };
        let mut entries: Vec<(&str, At<'_>)> = Vec::with_capacity(given.len());
        let mut seen = alloc::collections::BTreeSet::new();
        for (key, value) in given {
            let path = below(&self.path, key);
            if seen.insert(key.as_str()) {
                entries.push((key, At { path, limits, value }));
            } else {
                report.problem(&path, Code::DuplicateKey, "is given twice: leave one of them out");
            }
        }
        Some(entries)
    }

    /// Whether `count` entries are not more than `most`; if they are, that is reported.
    pub(crate) fn limit(&self, count: usize, most: usize, report: &mut Report) -> bool {
        if count > most {
            let message = format!("{count} entries are too many: give at most {most}");
            report.problem(&self.path, Code::TooMany, message);
        }
        count <= most
    }

    /// The items of a list; `limits` says what each may be.
    pub(crate) fn items(&self, limits: &'a str, report: &mut Report) -> Option<Vec<At<'a>>> {
        let Json::List(items) = self.value else {
            self.refuse(Code::WrongType, "is not a list", report);
            return None;
        };
        let at = |(nth, value)| At { path: format!("{}[{nth}]", self.path), limits, value };
        Some(items.iter().enumerate().map(at).collect())
    }

    /// The object as a table of the keys in `known`.
    pub(crate) fn table(&self, known: &[&'static [Key]], report: &mut Report) -> Option<Table<'a>> {
        let Json::Object(given) = self.value else {
            self.refuse(Code::WrongType, "is not an object", report);
            return None;
        };
        let mut table = Table { path: self.path.clone(), fields: Vec::with_capacity(given.len()) };
        for (spelling, value) in given {
            let path = below(&self.path, spelling);
            let Some(key) = known.iter().copied().flatten().find(|key| key.is_spelled(spelling)) else {
                report.problem(
                    &path,
                    Code::UnknownKey,
                    format!("unknown key{}", hint(spelling, value, known)),
                );
                continue;
            };
            if let Some(first) = table.field(key.name) {
                let message = if first.spelling == spelling {
                    "is given twice: leave one of them out".into()
                } else {
                    format!("is given as {} too: leave one of them out", quoted(first.spelling))
                };
                report.problem(&path, Code::DuplicateKey, message);
                continue;
            }
            let at = At { path: below(&self.path, key.name), limits: key.limits, value };
            table.fields.push(Field { key, spelling, at });
        }
        Some(table)
    }
}

/// Where a key belongs that is known elsewhere, or what was perhaps meant.
fn hint(spelling: &str, value: &Json, known: &[&'static [Key]]) -> String {
    let elsewhere = SECTIONS.iter().find(|section| section.keys.iter().any(|key| key.is_spelled(spelling)));
    if let Some(section) = elsewhere {
        return format!("; it belongs in {}", section.place);
    }
    let meant = did_you_mean(spelling, known.iter().copied().flatten().map(|key| key.name));
    if !meant.is_empty() {
        return meant;
    }
    match value {
        _ if known != [FILTER_KEYS] => "; leave it out, or give one of docs/settings.md",
        // What Envoy has around the configuration.
        _ if ["@type", "configuration", "value"].contains(&spelling) => {
            "; give the filter's configuration alone, as it stands in `value` or `configuration`"
        }
        Json::Object(_) => "; if it is an id, write it into `breakers`",
        _ => "; leave it out, or give one of docs/settings.md",
    }
    .into()
}

/// An object all of whose keys are known, each given once.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    path: String,
    fields: Vec<Field<'a>>,
}

#[derive(Debug)]
struct Field<'a> {
    key: &'static Key,
    spelling: &'a str,
    at: At<'a>,
}

impl<'a> Table<'a> {
    /// The value of a key, if it is given.
    pub(crate) fn get(&self, name: &str) -> Option<&At<'a>> {
        self.field(name).map(|field| &field.at)
    }

    /// Reads a key's value into its place; a missing key, or a value that is refused, leaves what stands there.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&At<'a>, &mut Report) -> Option<T>,
        report: &mut Report,
        place: &mut T,
    ) {
        if let Some(value) = self.get(name).and_then(|at| read(at, report)) {
            *place = value;
        }
    }

    /// The path of a key of this table, given or not.
    pub(crate) fn path_of(&self, name: &str) -> String {
        below(&self.path, name)
    }

    fn field(&self, name: &str) -> Option<&Field<'a>> {
        self.fields.iter().find(|field| field.key.name == name)
    }
}
