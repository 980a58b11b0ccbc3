use std::hash::{DefaultHasher, Hash, Hasher};

use breakerbox_core::SlotStore;

use crate::store::SharedData;

/// Where all plugins of a `vm_id` note which edition their configuration is.
const KEY: &[u8] = b"breakerbox/config";

/// Of more plugins than this the longest unchanged are forgotten.
const MAX_PLUGINS: usize = 64;

/// Attempts to write the table against other workers.
const ATTEMPTS: u32 = 32;

/// Which edition of the configuration a plugin goes by: the number that settles whose settings shape a slot
/// while old and new ones serve side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    pub(crate) number: u32,
    /// Whether this VM is the first of all workers to see this edition.
    pub(crate) is_new: bool,
}

/// One plugin's line in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    plugin: u64,
    configuration: u64,
    revision: u32,
}

impl Revision {
    /// The edition of this configuration: the one that another worker has noted for it, or else a new one, higher
    /// than all before. No two plugins have the same, so that of two which share a breaker but not its settings
    /// one always decides.
    ///
    /// If shared data does not answer it is 0, which decides nothing.
    pub(crate) fn settle(plugin: &[u8], configuration: &[u8]) -> Self {
        let (plugin, configuration) = (hash(plugin), hash(configuration));
        for _ in 0..ATTEMPTS {
            let Ok(loaded) = SharedData.load(KEY) else { break };
            let (table, version) = loaded.map_or((Vec::new(), None), |(table, cas)| (table, Some(cas)));
            let (number, table) = match enter(&table, plugin, configuration) {
                Entered::Known(number) => return Self { number, is_new: false },
                Entered::New(number, table) => (number, table),
            };
            let written = match version {
                Some(version) => SharedData.compare_and_set(KEY, &table, version),
                None => SharedData.create(KEY, &table),
            };
            match written {
                Ok(true) => return Self { number, is_new: true },
                Ok(false) => {}
                Err(_) => break,
            }
        }
        Self { number: 0, is_new: true }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Entered {
    Known(u32),
    /// The new revision and the table with it.
    New(u32, Vec<u8>),
}

fn enter(table: &[u8], plugin: u64, configuration: u64) -> Entered {
    let mut entries = Entry::read(table);
    let mine = entries.iter().find(|entry| entry.plugin == plugin);
    if let Some(mine) = mine.filter(|entry| entry.configuration == configuration) {
        return Entered::Known(mine.revision);
    }
    let revision = entries.iter().map(|entry| entry.revision).max().unwrap_or(0).saturating_add(1);
    entries.retain(|entry| entry.plugin != plugin);
    entries.push(Entry { plugin, configuration, revision });
    // In the order of their revisions, since each new one is the highest.
    let forgotten = entries.len().saturating_sub(MAX_PLUGINS);
    let table = entries.iter().skip(forgotten).flat_map(|entry| entry.to_bytes()).collect();
    Entered::New(revision, table)
}

impl Entry {
    const LEN: usize = 20;

    fn to_bytes(self) -> Vec<u8> {
        let Self { plugin, configuration, revision } = self;
        [&plugin.to_le_bytes()[..], &configuration.to_le_bytes(), &revision.to_le_bytes()].concat()
    }

    /// Bytes that are no table are an empty one.
    fn read(table: &[u8]) -> Vec<Self> {
        let (entries, _) = table.as_chunks::<{ Self::LEN }>();
        entries.iter().filter_map(|bytes| Self::from_bytes(bytes)).collect()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (plugin, rest) = bytes.split_first_chunk()?;
        let (configuration, rest) = rest.split_first_chunk()?;
        let (revision, _) = rest.split_first_chunk()?;
        Some(Self {
            plugin: u64::from_le_bytes(*plugin),
            configuration: u64::from_le_bytes(*configuration),
            revision: u32::from_le_bytes(*revision),
        })
    }
}

/// The same in every VM of one build; another build may differ, and then takes its configuration for a new one.
fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{Entered, Entry, MAX_PLUGINS, enter};

    fn new(table: &[u8], plugin: u64, configuration: u64) -> (u32, Vec<u8>) {
        match enter(table, plugin, configuration) {
            Entered::New(revision, table) => (revision, table),
            known @ Entered::Known(_) => panic!("{known:?}"),
        }
    }

    #[test]
    fn workers_with_one_configuration_have_one_revision() {
        let (revision, table) = new(&[], 7, 100);
        assert_eq!(revision, 1);
        assert_eq!(enter(&table, 7, 100), Entered::Known(1));
    }

    #[test]
    fn each_change_is_a_later_revision_even_back_to_what_was_before() {
        let (_, table) = new(&[], 7, 100);
        let (revision, table) = new(&table, 7, 200);
        assert_eq!(revision, 2);
        let (revision, table) = new(&table, 7, 100);
        assert_eq!(revision, 3);
        assert_eq!(table.len(), Entry::LEN);
    }

    #[test]
    fn no_two_plugins_have_the_same_revision() {
        let (first, table) = new(&[], 7, 100);
        let (second, table) = new(&table, 8, 100);
        assert_ne!(first, second);
        assert_eq!(enter(&table, 7, 100), Entered::Known(first));
    }

    #[test]
    fn the_table_stays_small() {
        let table = (0..1000).fold(Vec::new(), |table, plugin| new(&table, plugin, 1).1);
        assert_eq!(table.len(), MAX_PLUGINS * Entry::LEN);
        assert_eq!(new(&table, 0, 1).0, 1001);
    }

    #[test]
    fn bytes_that_are_no_table_are_an_empty_one() {
        assert_eq!(new(b"something else", 7, 100).0, 1);
    }
}
