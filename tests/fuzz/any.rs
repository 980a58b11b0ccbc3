//! Values as they come: those at an edge more often than by chance.

#![allow(dead_code, reason = "not every target needs all of it")]

use std::time::Duration;

use bolero::TypeGenerator;
use breakerbox_core::{Mark, Outcome, Permit};

/// What somebody else does to bytes.
#[derive(Debug, TypeGenerator)]
pub(crate) enum Damage {
    Byte(u16, u8),
    /// The header is words, but for a few bytes.
    Word(#[generator(0..29_u8)] u8, AnyWord),
    Cut(u16),
    Grow(u8),
}

impl Damage {
    pub(crate) fn applied(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Byte(at, value) => {
                let at = usize::from(*at).checked_rem(bytes.len());
                if let Some(byte) = at.and_then(|at| bytes.get_mut(at)) {
                    *byte = *value;
                }
            }
            Self::Word(at, value) => {
                let word = bytes.get_mut(usize::from(*at) * 4..).and_then(|rest| rest.first_chunk_mut());
                if let Some(word) = word {
                    *word = value.number().to_le_bytes();
                }
            }
            Self::Cut(length) => bytes.truncate((*length).into()),
            Self::Grow(by) => bytes.resize(bytes.len() + usize::from(*by), 0),
        }
        bytes
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyWord {
    Small(u8),
    Large(u8),
    Any(u32),
}

impl AnyWord {
    pub(crate) fn number(&self) -> u32 {
        match self {
            Self::Small(number) => u32::from(*number),
            Self::Large(less) => u32::MAX - u32::from(*less),
            Self::Any(number) => *number,
        }
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyNumber {
    Small(u8),
    Large(u8),
    Any(u64),
}

impl AnyNumber {
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Small(number) => u64::from(*number),
            Self::Large(less) => u64::MAX - u64::from(*less),
            Self::Any(number) => *number,
        }
    }
}

/// A time, seen from the one before: mostly later, at times earlier, hardly ever anywhere.
#[derive(Debug, TypeGenerator)]
pub(crate) struct AnyMark {
    kind: u8,
    by: u16,
    at: AnyNumber,
}

impl AnyMark {
    pub(crate) fn after(&self, now: Mark) -> Mark {
        let by = u64::from(self.by);
        match self.kind {
            0..80 => now,
            80..160 => now.after(Duration::from_millis(by)),
            160..250 => now.after(Duration::from_secs(by)),
            250..254 => Mark::from_nanos(now.nanos().saturating_sub(by * 1_000_000)),
            _ => Mark::from_nanos(self.at.number()),
        }
    }
}

/// What an operator may do to a breaker.
#[derive(Debug, TypeGenerator)]
pub(crate) enum Control {
    ForceOpen,
    Disable,
    Reset,
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyPermit {
    /// One that was handed out, perhaps recorded before, perhaps by another breaker.
    Issued(u8),
    /// One that nobody handed out, of the current generation.
    MadeUp(u8),
    Any {
        generation: AnyNumber,
        ticket: AnyWord,
        admitted_at: AnyNumber,
    },
}

impl AnyPermit {
    pub(crate) fn permit(&self, issued: &[Permit], generation: u64) -> Permit {
        let made_up = |ticket| Permit { generation, ticket, admitted_at: Mark::ZERO };
        match self {
            Self::Issued(nth) => {
                let nth = usize::from(*nth).checked_rem(issued.len());
                nth.and_then(|nth| issued.get(nth)).copied().unwrap_or(made_up(0))
            }
            Self::MadeUp(ticket) => made_up((*ticket).into()),
            Self::Any { generation, ticket, admitted_at } => Permit {
                generation: generation.number(),
                ticket: ticket.number(),
                admitted_at: Mark::from_nanos(admitted_at.number()),
            },
        }
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyOutcome {
    Success,
    Failure,
    Ignored,
}

impl AnyOutcome {
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Success => Outcome::Success,
            Self::Failure => Outcome::Failure,
            Self::Ignored => Outcome::Ignored,
        }
    }
}
