use core::fmt;
use core::mem::size_of;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::{Mark, Rule, Settings, State, WindowType};

/// The layout's version, the first word of every slot. Slots of another layout are replaced by fresh ones.
pub const LAYOUT: u32 = 0xb4ea_0001;

/// The fixed part of a slot. What follows it, the body, is the window while the breaker is closed and the list
/// of tickets that are out while it is half-open; no state needs both.
#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) layout: U32,
    pub(crate) state: u8,
    pub(crate) window_type: u8,
    /// The setting `enabled` of the latest revision.
    pub(crate) enabled: u8,
    pub(crate) last_rule: u8,
    pub(crate) revision: U32,
    pub(crate) window_size: U32,
    pub(crate) half_open_calls: U32,
    pub(crate) generation: U64,
    pub(crate) entered_at: U64,
    /// Meaningful in `open`: the mark of the first probe, with back-off and jitter, so that all workers agree.
    pub(crate) open_until: U64,
    /// The latest mark that was written down.
    pub(crate) latest: U64,
    /// Openings since the breaker was last closed, after the first.
    pub(crate) reopens: U32,
    /// Calls, failed and slow ones: in the window, of the probes that ended, or of what opened the breaker.
    pub(crate) calls: U32,
    pub(crate) failed: U32,
    pub(crate) slow: U32,
    pub(crate) consecutive: U32,
    /// Count windows: where the next call goes. Time windows: unused.
    pub(crate) cursor: U32,
    /// Time windows: the second that the newest bucket stands for.
    pub(crate) newest_second: U64,
    pub(crate) probes_out: U32,
    pub(crate) tickets_issued: U32,
    pub(crate) last_from: u8,
    /// Not 0 from a write that made the slot less than workers may have found it until one of them has revoked that.
    pub(crate) unrevoked: u8,
    pub(crate) padding: [u8; 2],
    pub(crate) last_calls: U32,
    pub(crate) last_failed: U32,
    pub(crate) last_slow: U32,
    pub(crate) last_threshold: U32,
}

/// Why bytes were not a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The length is not that of any slot, or not of the slot that the header describes.
    Length,
    /// Another layout's slot, or no slot at all.
    Layout,
    /// A state, rule, count or size that no breaker has.
    Content,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "the length is not a slot's",
            Self::Layout => "the layout is not this version's",
            Self::Content => "the content contradicts itself",
        })
    }
}

impl core::error::Error for Fault {}

impl Header {
    pub(crate) const LEN: usize = size_of::<Self>();

    /// The body's length in bytes.
    pub(crate) fn body_len(window_type: WindowType, window_size: u32, half_open_calls: u32) -> usize {
        let window = match window_type {
            WindowType::Count => window_size.div_ceil(4),
            WindowType::Time => window_size.saturating_mul(12),
        };
        let tickets = half_open_calls.saturating_mul(4);
        usize::try_from(window.max(tickets)).unwrap_or(usize::MAX)
    }

    /// Views the bytes as a slot, after checks that take the same time for any size.
    pub(crate) fn parse(bytes: &mut [u8]) -> Result<(&mut Self, &mut [u8]), Fault> {
        let (header, body) = Self::mut_from_prefix(bytes).map_err(|_| Fault::Length)?;
        if header.layout.get() != LAYOUT {
            return Err(Fault::Layout);
        }
        header.check().ok_or(Fault::Content)?;
        let expected =
            Self::body_len(header.window_type(), header.window_size.get(), header.half_open_calls.get());
        if body.len() != expected {
            return Err(Fault::Length);
        }
        Ok((header, body))
    }

    /// Views a slot whose window was just given another shape, and whose counts are still the old one's.
    pub(crate) fn parse_resized(bytes: &mut [u8]) -> Option<(&mut Self, &mut [u8])> {
        Self::mut_from_prefix(bytes).ok()
    }

    fn check(&self) -> Option<()> {
        let state = State::from_byte(self.state)?;
        State::from_byte(self.last_from)?;
        let window_type = WindowType::from_byte(self.window_type)?;
        let (size, probes) = (self.window_size.get(), self.half_open_calls.get());
        let most = match window_type {
            WindowType::Count => Settings::MAX_WINDOW_CALLS,
            WindowType::Time => Settings::MAX_WINDOW_SECONDS,
        };
        let (calls, failed, slow) = (self.calls.get(), self.failed.get(), self.slow.get());
        let sane = (1..=most).contains(&size)
            && (1..=Settings::MAX_HALF_OPEN_CALLS).contains(&probes)
            && self.enabled <= 1
            && (self.last_rule == 0 || Rule::from_byte(self.last_rule).is_some())
            && self.generation.get() > 0
            && failed <= calls
            && slow <= calls
            && self.cursor.get() < size
            && self.entered_at.get() <= self.latest.get()
            && match state {
                State::Closed => window_type == WindowType::Time || calls <= size,
                State::HalfOpen => {
                    calls < probes
                        && self.probes_out.get() <= probes.saturating_sub(calls)
                        && self.probes_out.get() <= self.tickets_issued.get()
                }
                State::Open | State::ForcedOpen | State::Disabled => true,
            };
        sane.then_some(())
    }

    /// The state. The fallback is never taken: `parse` and every write keep the byte valid.
    pub(crate) fn state(&self) -> State {
        State::from_byte(self.state).unwrap_or(State::Closed)
    }

    pub(crate) fn window_type(&self) -> WindowType {
        WindowType::from_byte(self.window_type).unwrap_or(WindowType::Count)
    }

    /// `now`, or the latest mark written down if the clock stepped back.
    pub(crate) fn clamp(&self, now: Mark) -> Mark {
        now.max(Mark::from_nanos(self.latest.get()))
    }
}
