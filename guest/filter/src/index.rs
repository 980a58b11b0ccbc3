use std::hash::{DefaultHasher, Hash, Hasher};

use breakerbox_core::{SlotStore, Unavailable};

use crate::store::SharedData;

/// The index lies in so many keys, so that a new breaker writes little and seldom meets another.
const PARTS: u64 = 64;

/// How many breakers there are.
const COUNT: &[u8] = b"breakerbox/breakers";

/// Attempts to write against other workers.
const ATTEMPTS: u32 = 32;

/// Whether there may be a breaker of this name: there is one already, or there are fewer than `most` in the proxy.
/// Then it is noted, since shared data does not tell which keys it has.
pub(crate) fn admit(name: &str, most: u32) -> bool {
    let exists = SharedData.load(&SharedData::slot_key(name)) != Ok(None);
    let is_counted = !exists && count(|breakers| breakers.checked_add(1).filter(|&sum| sum <= most));
    if !exists && !is_counted {
        // Another worker may be about to create it, and has noted it already.
        return note(name, Note::IsThere);
    }
    let was_there = note(name, Note::Write);
    if is_counted && was_there {
        // Two workers have met it at once, and both have counted it.
        count(|breakers| breakers.checked_sub(1));
    }
    true
}

/// Whether this is the first time that someone says so, for what is to be logged once.
pub(crate) fn is_first_to_say(what: &str) -> bool {
    SharedData.create(format!("breakerbox/said/{what}").as_bytes(), &[1]) == Ok(true)
}

/// Changes the number of breakers; false if `change` does not want to. Should shared data not answer it is true, for
/// what to do then is the breaker's to decide. A VM that dies before it has created what it counted leaves the
/// number too high by one.
fn count(change: impl Fn(u32) -> Option<u32>) -> bool {
    for _ in 0..ATTEMPTS {
        let Ok(loaded) = SharedData.load(COUNT) else { return true };
        let number = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let (breakers, version) = loaded.map_or((0, None), |(bytes, cas)| (number(&bytes), Some(cas)));
        let Some(breakers) = change(breakers) else { return false };
        if write(COUNT, &breakers.to_le_bytes(), version) != Ok(false) {
            return true;
        }
    }
    true
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    IsThere,
    Write,
}

/// Whether the index has a name; if it is to be written it has it afterwards. Should shared data not answer, the next
/// VM that meets the breaker writes it.
fn note(name: &str, note: Note) -> bool {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let key = key(hasher.finish() % PARTS);
    for _ in 0..ATTEMPTS {
        let Ok(loaded) = SharedData.load(&key) else { return false };
        let (bytes, version) = loaded.map_or((Vec::new(), None), |(bytes, cas)| (bytes, Some(cas)));
        let mut names = read(&bytes);
        if names.iter().any(|known| known == name) {
            return true;
        }
        if note == Note::IsThere {
            return false;
        }
        names.push(name.to_owned());
        // Strings always have a JSON form.
        if write(&key, &serde_json::to_vec(&names).unwrap_or_default(), version) != Ok(false) {
            return false;
        }
    }
    false
}

fn write(key: &[u8], bytes: &[u8], version: Option<u32>) -> Result<bool, Unavailable> {
    match version {
        Some(version) => SharedData.compare_and_set(key, bytes, version),
        None => SharedData.create(key, bytes),
    }
}

/// The ids of all breakers, sorted.
pub(crate) fn all() -> Result<Vec<String>, Unavailable> {
    let mut all = Vec::new();
    for part in 0..PARTS {
        if let Some((bytes, _)) = SharedData.load(&key(part))? {
            all.extend(read(&bytes));
        }
    }
    all.sort_unstable();
    Ok(all)
}

fn key(part: u64) -> Vec<u8> {
    format!("breakerbox/index/{part}").into_bytes()
}

/// Bytes that are no part of an index are an empty one.
fn read(bytes: &[u8]) -> Vec<String> {
    serde_json::from_slice(bytes).unwrap_or_default()
}
