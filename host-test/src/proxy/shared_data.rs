use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};

use proxy_wasm_host::abi::v0_2_1::SharedValue;
use proxy_wasm_host::abi::v0_2_1::types::Status;

use super::hostcalls::heard;

/// Keys and values that all workers share, with Envoy's rules: versions are one counter over all keys, and a write that
/// names no version overwrites.
#[derive(Debug, Default)]
pub struct SharedData(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    values: BTreeMap<Vec<u8>, SharedValue>,
    versions: u32,
    conflicts: u32,
    withheld: u32,
}

impl SharedData {
    /// A key's value.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.held().values.get(key).map(|value| value.bytes.clone())
    }

    /// All keys, sorted.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.held().values.keys().cloned().collect()
    }

    /// Writes a key, as another plugin might, whatever is there.
    pub fn set(&self, key: &[u8], bytes: &[u8]) {
        self.held().write(key, bytes.to_vec());
    }

    /// The next `writes` writes that name a version each come too late: another worker has just written the same bytes again.
    pub fn conflict(&self, writes: u32) {
        self.held().conflicts = writes;
    }

    /// The next `accesses` reads and writes fail, neither done nor refused.
    pub fn withhold(&self, accesses: u32) {
        self.held().withheld = accesses;
    }

    pub(super) fn load(&self, key: &[u8]) -> Result<SharedValue, Status> {
        let mut held = self.held();
        let value = held.values.get(key).cloned();
        heard("get_shared_data", key, value.as_ref().map(|value| value.bytes.len()));
        held.check_answers()?;
        value.ok_or(Status::NotFound)
    }

    /// A version of a key that does not exist is not compared, so one that no key has creates and never overwrites.
    pub(super) fn store(&self, key: &[u8], bytes: &[u8], version: Option<u32>) -> Result<(), Status> {
        heard("set_shared_data", key, None);
        let mut held = self.held();
        held.check_answers()?;
        if version.is_some() && held.conflicts > 0 {
            held.conflicts -= 1;
            if let Some(value) = held.values.get(key) {
                let bytes = value.bytes.clone();
                held.write(key, bytes);
            }
            return Err(Status::CasMismatch);
        }
        match (held.values.get(key), version) {
            (Some(value), Some(version)) if value.cas.get() != version => Err(Status::CasMismatch),
            _ => {
                held.write(key, bytes.to_vec());
                Ok(())
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn check_answers(&mut self) -> Result<(), Status> {
        if self.withheld > 0 {
            self.withheld -= 1;
            return Err(Status::InternalFailure);
        }
        Ok(())
    }

    fn write(&mut self, key: &[u8], bytes: Vec<u8>) {
        self.versions = self.versions.wrapping_add(1);
        let version = NonZeroU32::new(self.versions).unwrap_or(NonZeroU32::MIN);
        self.values.insert(key.to_vec(), SharedValue::new(bytes, version));
    }
}
