//! What a closed breaker remembers of its calls: a ring of two bits a call, or a ring of one-second buckets. The
//! header keeps running counts of what the ring holds, so that no rate needs a walk over it.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::header::Header;
use crate::{Mark, WindowType};

const FAILED: u8 = 0b01;
const SLOW: u8 = 0b10;

/// The calls of one second.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Bucket {
    calls: U32,
    failed: U32,
    slow: U32,
}

/// How many calls, how many of them failed, how many slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    pub(crate) slow: u32,
}

impl Counts {
    pub(crate) fn of(header: &Header) -> Self {
        Self { calls: header.calls.get(), failed: header.failed.get(), slow: header.slow.get() }
    }

    pub(crate) fn store(self, header: &mut Header) {
        header.calls = self.calls.into();
        header.failed = self.failed.into();
        header.slow = self.slow.into();
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            failed: self.failed.saturating_add(other.failed),
            slow: self.slow.saturating_add(other.slow),
        }
    }

    /// Where somebody else wrote what is in the ring or counted here, at least no more calls failed than there are.
    fn minus(self, other: Self) -> Self {
        let calls = self.calls.saturating_sub(other.calls);
        Self {
            calls,
            failed: self.failed.saturating_sub(other.failed).min(calls),
            slow: self.slow.saturating_sub(other.slow).min(calls),
        }
    }

    fn is_sane(self) -> bool {
        self.failed <= self.calls && self.slow <= self.calls
    }

    pub(crate) fn one(failed: bool, slow: bool) -> Self {
        Self { calls: 1, failed: failed.into(), slow: slow.into() }
    }
}

impl Bucket {
    fn counts(self) -> Counts {
        Counts { calls: self.calls.get(), failed: self.failed.get(), slow: self.slow.get() }
    }
}

/// Empties the window, whose newest second is from now on `now`'s.
pub(crate) fn clear(header: &mut Header, body: &mut [u8], now: Mark) {
    body.fill(0);
    Counts::default().store(header);
    header.cursor = 0.into();
    header.newest_second = now.second().into();
}

/// Puts one call into the window and drops what it pushes out.
pub(crate) fn add(header: &mut Header, body: &mut [u8], failed: bool, slow: bool, now: Mark) {
    match header.window_type() {
        WindowType::Count => add_to_ring(header, body, failed, slow),
        WindowType::Time => add_to_bucket(header, body, failed, slow, now),
    }
}

fn add_to_ring(header: &mut Header, body: &mut [u8], failed: bool, slow: bool) {
    let size = header.window_size.get();
    let cursor = header.cursor.get();
    let shift = (cursor % 4).saturating_mul(2);
    let Some(cell) = usize::try_from(cursor / 4).ok().and_then(|at| body.get_mut(at)) else { return };
    let bits = u8::from(failed).wrapping_mul(FAILED) | u8::from(slow).wrapping_mul(SLOW);
    let mut counts = Counts::of(header);
    let is_full = counts.calls >= size;
    let oldest = (*cell >> shift) & (FAILED | SLOW);
    // Most calls push out one that ended as they do, which leaves nothing to count.
    if !is_full || oldest != bits {
        if is_full {
            counts = counts.minus(Counts::one(oldest & FAILED != 0, oldest & SLOW != 0));
        }
        counts.plus(Counts::one(failed, slow)).store(header);
        *cell = (*cell & !((FAILED | SLOW) << shift)) | (bits << shift);
    }
    let next = cursor.saturating_add(1);
    header.cursor = if next >= size { 0 } else { next }.into();
}

/// How many of the calls that a full ring forgets next were fast successes, as far as a short look tells: no
/// further than the ring's end, and no more than 29 to 32 calls.
#[cfg(feature = "std")]
pub(crate) fn fast_successes_next(header: &Header, body: &[u8]) -> u32 {
    let cursor = header.cursor.get();
    let cells = usize::try_from(cursor / 4).ok().and_then(|at| body.get(at..)).unwrap_or_default();
    let ahead = cells.iter().take(8).rev().fold(0_u64, |ahead, cell| ahead << 8 | u64::from(*cell));
    let skipped = cursor % 4;
    let run = (ahead >> skipped.saturating_mul(2)).trailing_zeros() / 2;
    let looked_at = 32_u32.saturating_sub(skipped);
    run.min(looked_at).min(header.window_size.get().saturating_sub(cursor))
}

/// Puts fast successes where [`fast_successes_next`] found some.
#[cfg(feature = "std")]
pub(crate) fn pass_fast_successes(header: &mut Header, count: u32) {
    let next = header.cursor.get().saturating_add(count);
    header.cursor = if next >= header.window_size.get() { 0 } else { next }.into();
}

fn add_to_bucket(header: &mut Header, body: &mut [u8], failed: bool, slow: bool, now: Mark) {
    let Some(buckets) = buckets_mut(header, body) else { return };
    advance(header, buckets, now.second());
    let newest = header.newest_second.get();
    let Some(bucket) = bucket_of(header.window_size.get(), newest).and_then(|at| buckets.get_mut(at)) else {
        return;
    };
    let one = Counts::one(failed, slow);
    let sum = bucket.counts().plus(one);
    *bucket = Bucket { calls: sum.calls.into(), failed: sum.failed.into(), slow: sum.slow.into() };
    Counts::of(header).plus(one).store(header);
}

/// Drops the buckets that `second` leaves behind. Each is dropped once, so the cost is spread over their calls.
fn advance(header: &mut Header, buckets: &mut [Bucket], second: u64) {
    let size = header.window_size.get();
    let passed = second.saturating_sub(header.newest_second.get());
    if passed == 0 {
        return;
    }
    if passed >= u64::from(size) {
        buckets.fill(Bucket::default());
        Counts::default().store(header);
    } else {
        let mut counts = Counts::of(header);
        let newest = header.newest_second.get();
        for name in newest.saturating_add(1)..=second {
            if let Some(bucket) = bucket_of(size, name).and_then(|at| buckets.get_mut(at)) {
                counts = counts.minus(bucket.counts());
                *bucket = Bucket::default();
            }
        }
        counts.store(header);
    }
    header.newest_second = second.into();
}

/// What the window holds at `now`; nothing is changed.
pub(crate) fn counts_at(header: &Header, body: &[u8], now: Mark) -> Counts {
    let counts = Counts::of(header);
    let passed = now.second().saturating_sub(header.newest_second.get());
    if header.window_type() == WindowType::Count || passed == 0 {
        return counts;
    }
    let size = header.window_size.get();
    if passed >= u64::from(size) {
        return Counts::default();
    }
    let Some(buckets) = buckets(header, body) else { return counts };
    let newest = header.newest_second.get();
    (newest.saturating_add(1)..=now.second())
        .filter_map(|name| bucket_of(size, name).and_then(|at| buckets.get(at)))
        .fold(counts, |rest, bucket| rest.minus(bucket.counts()))
}

/// Whether the running counts are what the ring holds: a walk over it, for bytes from outside.
pub(crate) fn agrees(header: &Header, body: &[u8]) -> bool {
    let held = match header.window_type() {
        WindowType::Count => {
            let calls = header.calls.get();
            let holds = |call: u32, mask: u8| {
                let cell = usize::try_from(call / 4).ok().and_then(|at| body.get(at)).copied().unwrap_or(0);
                (cell >> (call % 4).saturating_mul(2)) & mask != 0
            };
            let count = |mask| {
                u32::try_from((0..calls).filter(|&call| holds(call, mask)).count()).unwrap_or(u32::MAX)
            };
            // Before the ring is full the cursor is where it ends; afterwards it may be anywhere.
            if calls < header.window_size.get() && header.cursor.get() != calls {
                return false;
            }
            Counts { calls, failed: count(FAILED), slow: count(SLOW) }
        }
        WindowType::Time => match buckets(header, body) {
            Some(buckets) if buckets.iter().all(|bucket| bucket.counts().is_sane()) => {
                buckets.iter().fold(Counts::default(), |sum, bucket| sum.plus(bucket.counts()))
            }
            _ => return false,
        },
    };
    held == Counts::of(header)
}

fn bucket_of(size: u32, second: u64) -> Option<usize> {
    usize::try_from(second.checked_rem(u64::from(size))?).ok()
}

/// The body may be longer than the window: it has room for the tickets, too.
fn buckets_mut<'a>(header: &Header, body: &'a mut [u8]) -> Option<&'a mut [Bucket]> {
    let count = usize::try_from(header.window_size.get()).ok()?;
    let (buckets, _) = <[Bucket]>::mut_from_prefix_with_elems(body, count).ok()?;
    Some(buckets)
}

fn buckets<'a>(header: &Header, body: &'a [u8]) -> Option<&'a [Bucket]> {
    let count = usize::try_from(header.window_size.get()).ok()?;
    let (buckets, _) = <[Bucket]>::ref_from_prefix_with_elems(body, count).ok()?;
    Some(buckets)
}
