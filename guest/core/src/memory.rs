use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Loaded, Revocations, SlotStore, Unavailable};

/// Bytes and version by key.
type Slots = BTreeMap<Vec<u8>, (Vec<u8>, u64)>;

/// A store in this process's memory, for many workers in one process and for tests.
#[derive(Debug, Default)]
pub struct MemoryStore {
    slots: Mutex<Slots>,
}

impl MemoryStore {
    fn slots(&self) -> MutexGuard<'_, Slots> {
        // No operation leaves the map half-written, so what a panicking thread held is still sound.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SlotStore for MemoryStore {
    type Version = u64;

    fn load(&self, key: &[u8]) -> Result<Loaded<u64>, Unavailable> {
        Ok(self.slots().get(key).cloned())
    }

    fn create(&self, key: &[u8], bytes: &[u8]) -> Result<bool, Unavailable> {
        let mut slots = self.slots();
        if slots.contains_key(key) {
            return Ok(false);
        }
        slots.insert(key.to_vec(), (bytes.to_vec(), 1));
        Ok(true)
    }

    fn compare_and_set(&self, key: &[u8], bytes: &[u8], version: u64) -> Result<bool, Unavailable> {
        match self.slots().get_mut(key) {
            Some((held, at)) if *at == version => {
                *held = bytes.to_vec();
                *at = at.saturating_add(1);
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// Revocations in this process's memory.
#[derive(Debug, Default)]
pub struct MemoryRevocations(AtomicU64);

impl Revocations for &MemoryRevocations {
    fn number(&self) -> Option<u64> {
        Some(self.0.load(Ordering::SeqCst))
    }
    fn revoke(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
