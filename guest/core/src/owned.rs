use alloc::vec;
use alloc::vec::Vec;

use zerocopy::{FromZeros, IntoBytes};

use crate::header::{Header, LAYOUT};
use crate::{Effect, Fault, Mark, Rules, Slot, State};

/// A slot that one owner works with, which need not be checked again for every operation.
#[derive(Clone, Debug)]
pub struct OwnedSlot {
    header: Header,
    body: Vec<u8>,
}

impl OwnedSlot {
    /// A breaker that has seen nothing yet.
    pub fn fresh(rules: &Rules, now: Mark) -> Self {
        let settings = rules.settings();
        let state = if settings.enabled { State::Closed } else { State::Disabled };
        let mut header = Header::new_zeroed();
        header.layout = LAYOUT.into();
        header.state = state as u8;
        header.window_type = settings.window_type as u8;
        header.enabled = settings.enabled.into();
        header.revision = rules.revision().into();
        header.window_size = settings.window_size.into();
        header.half_open_calls = settings.half_open_calls.into();
        header.generation = 1.into();
        header.entered_at = now.nanos().into();
        header.latest = now.nanos().into();
        header.newest_second = now.second().into();
        let body = Header::body_len(settings.window_type, settings.window_size, settings.half_open_calls);
        Self { header, body: vec![0; body] }
    }

    /// A slot made of bytes that another owner saved, taken over by these rules as [`Slot::adopt`] says.
    ///
    /// # Errors
    /// The bytes are no slot, or their window contradicts their counts.
    pub fn restore(mut bytes: Vec<u8>, rules: &Rules, now: Mark) -> Result<(Self, Effect<()>), Fault> {
        Slot::parse(&mut bytes)?.audit()?;
        let effect = Slot::adopt(&mut bytes, rules, now).ok_or(Fault::Content)?;
        let (header, body) = Header::parse(&mut bytes)?;
        Ok((Self { header: header.clone(), body: body.to_vec() }, effect))
    }

    /// The slot's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.header.as_bytes(), &self.body].concat()
    }

    /// The slot, to work with.
    pub fn slot(&mut self) -> Slot<'_> {
        Slot { header: &mut self.header, body: &mut self.body }
    }
}
