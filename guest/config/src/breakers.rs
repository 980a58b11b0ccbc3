use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::pattern::Pattern;
use crate::report::Report;
use crate::text::quoted;
use crate::{Code, Oddity, Per, Policy};

/// The entries of `breakers`: the exceptions from the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breakers {
    exact: BTreeMap<String, Arc<Policy>>,
    /// By the name of a shared breaker. An id of that name has that breaker as well, since there can be but one
    /// of a name.
    shared: BTreeMap<String, Arc<Policy>>,
    /// The most specific first.
    patterns: Vec<(Pattern, Arc<Policy>)>,
}

impl Breakers {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.exact.len().saturating_add(self.patterns.len())
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.patterns.is_empty()
    }

    /// The policy of an id that an entry covers: the entry of exactly this id; else, if the id is the name of a
    /// shared breaker, that breaker's; else that of the most specific pattern, by the order of [`Pattern`].
    pub fn get(&self, id: &str) -> Option<&Arc<Policy>> {
        let by_pattern =
            || self.patterns.iter().find(|(pattern, _)| pattern.matches(id)).map(|(_, policy)| policy);
        self.exact.get(id).or_else(|| self.shared.get(id)).or_else(by_pattern)
    }

    /// The policy of the shared breaker of this name, if there is one.
    pub(crate) fn shared(&self, name: &str) -> Option<&Arc<Policy>> {
        self.shared.get(name)
    }

    /// The policy of every entry.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        self.exact.values().chain(self.patterns.iter().map(|(_, policy)| policy)).map(|policy| &**policy)
    }

    /// Takes the entries, refuses those that share a breaker and differ, and warns of those that `per` excludes.
    pub(crate) fn new(entries: Vec<Guarded>, per: &Per, report: &mut Report) -> Self {
        let mut breakers = Self { shared: find_shared(&entries, report), ..Self::default() };
        for Guarded { key, path, policy } in entries {
            // The entry of a shared breaker's name counts although it be no id.
            if !breakers.shared.contains_key(&key)
                && let Some(why) = per.excludes(&key)
            {
                report.warning(&path, Oddity::UnmatchedId, format!("no request has this id: {why}"));
            }
            let policy = Arc::new(policy);
            match Pattern::new(&key) {
                Some(pattern) => breakers.patterns.push((pattern, policy)),
                None => {
                    breakers.exact.insert(key, policy);
                }
            }
        }
        breakers.patterns.sort_by(|(one, _), (other, _)| one.cmp(other));
        breakers
    }
}

/// An entry of `breakers` as it was read.
#[derive(Debug)]
pub(crate) struct Guarded {
    /// The id or pattern.
    pub(crate) key: String,
    pub(crate) path: String,
    pub(crate) policy: Policy,
}

/// The shared breakers by name. The entry of an id that is such a name has a part in the breaker as well.
fn find_shared(entries: &[Guarded], report: &mut Report) -> BTreeMap<String, Arc<Policy>> {
    let names: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.policy.breaker.as_deref()).collect();
    let mut firsts: BTreeMap<&str, &Guarded> = BTreeMap::new();
    for entry in entries {
        // A pattern is no id: without a `breaker` it shares nothing, whatever it looks like.
        let name = entry.policy.breaker_of(&entry.key);
        if !names.contains(name) || (entry.policy.breaker.is_none() && entry.key.contains('*')) {
            continue;
        }
        let Some(first) = firsts.get(name) else {
            firsts.insert(name, entry);
            continue;
        };
        let differences = entry.policy.differences(&first.policy);
        if !differences.is_empty() {
            let message = format!(
                "shares the breaker {} with {}, but differs in {}: give both the same, for instance by `base`",
                quoted(name),
                first.path,
                differences.join(", ")
            );
            report.problem(&entry.path, Code::SharedBreakerDiffers, message);
        }
    }
    let policy =
        |name: &str, first: &Guarded| Arc::new(Policy { breaker: Some(name.into()), ..first.policy.clone() });
    firsts.iter().map(|(name, first)| ((*name).into(), policy(name, first))).collect()
}
