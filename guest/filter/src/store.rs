use breakerbox_core::{Loaded, SlotStore, Unavailable};

use crate::hostcalls;

/// The proxy's shared data: one map for all workers whose plugins have the same `vm_id`.
///
/// Every plugin of a proxy may share it, so all keys here begin with `breakerbox/`.
pub(crate) struct SharedData;

impl SharedData {
    /// Where a breaker's slot lies.
    pub(crate) fn slot_key(id: &str) -> Vec<u8> {
        format!("breakerbox/slot/{id}").into_bytes()
    }
}

impl SlotStore for SharedData {
    type Version = u32;

    fn load(&self, key: &[u8]) -> Result<Loaded<u32>, Unavailable> {
        hostcalls::shared_data(key)
    }

    fn create(&self, key: &[u8], bytes: &[u8]) -> Result<bool, Unavailable> {
        hostcalls::set_shared_data(key, bytes, hostcalls::ABSENT)
    }

    fn compare_and_set(&self, key: &[u8], bytes: &[u8], version: u32) -> Result<bool, Unavailable> {
        hostcalls::set_shared_data(key, bytes, version)
    }
}
