use std::hash::{DefaultHasher, Hash, Hasher};

use breakerbox_core::{SlotStore, Unavailable};

use crate::store::SharedData;

/// The index lies in so many keys, so that a new breaker writes little and seldom meets another.
const PARTS: u64 = 64;

/// Attempts to write a part against other workers.
const ATTEMPTS: u32 = 32;

/// Notes that a breaker exists: shared data does not tell which keys it has. Should it not answer, the next VM that
/// meets the breaker notes it.
pub(crate) fn add(id: &str) {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let key = key(hasher.finish() % PARTS);
    for _ in 0..ATTEMPTS {
        let Ok(loaded) = SharedData.load(&key) else { return };
        let (bytes, version) = loaded.map_or((Vec::new(), None), |(bytes, cas)| (bytes, Some(cas)));
        let mut ids = read(&bytes);
        if ids.iter().any(|known| known == id) {
            return;
        }
        ids.push(id.to_owned());
        let bytes = write(&ids);
        let written = match version {
            Some(version) => SharedData.compare_and_set(&key, &bytes, version),
            None => SharedData.create(&key, &bytes),
        };
        if written != Ok(false) {
            return;
        }
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

fn write(ids: &[String]) -> Vec<u8> {
    // Strings always have a JSON form.
    serde_json::to_vec(ids).unwrap_or_default()
}
