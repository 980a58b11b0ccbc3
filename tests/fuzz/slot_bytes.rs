//! What the bytes of a slot say, whoever holds them.

/// The longest slot: 600 buckets of 12 bytes after the header.
pub(crate) const LONGEST: usize = 7_312;

/// How many probes its half-open has.
pub(crate) fn half_open_calls(slot: &[u8]) -> usize {
    let bytes = slot.get(16..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}
