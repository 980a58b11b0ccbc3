use alloc::vec::Vec;
use core::fmt;

/// A key's bytes and version, or `None` if there is no such key.
pub type Loaded<V> = Option<(Vec<u8>, V)>;

/// Where slots are kept when several workers share them.
pub trait SlotStore {
    /// What tells one write of a key from the next.
    type Version: Copy;

    /// The key's bytes and version, or `None` if there is no such key.
    ///
    /// # Errors
    /// The store cannot be read now.
    fn load(&self, key: &[u8]) -> Result<Loaded<Self::Version>, Unavailable>;

    /// Writes the key only if there is none; false if there is.
    ///
    /// # Errors
    /// The store cannot be written now.
    fn create(&self, key: &[u8], bytes: &[u8]) -> Result<bool, Unavailable>;

    /// Writes the key only if its version is still `version`; false if it is not.
    ///
    /// # Errors
    /// The store cannot be written now.
    fn compare_and_set(&self, key: &[u8], bytes: &[u8], version: Self::Version) -> Result<bool, Unavailable>;
}

/// The store did not answer: neither yes nor no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable;

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the slot store did not answer")
    }
}

impl core::error::Error for Unavailable {}
