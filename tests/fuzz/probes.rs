use breakerbox_core::Permit;

use crate::slot_bytes::half_open_calls;

/// The probes of one breaker that are out: each once, and no more than there may be.
#[derive(Default)]
pub(crate) struct Probes(Vec<Permit>);

impl Probes {
    /// One more is let out, which the breaker's slot has noted.
    pub(crate) fn let_out(&mut self, probe: Permit, slot: &[u8]) {
        self.0.retain(|out| out.generation == probe.generation);
        assert!(self.0.iter().all(|out| out.ticket != probe.ticket), "{probe:?} is out twice");
        self.0.push(probe);
        let most = half_open_calls(slot);
        assert!(self.0.len() <= most, "{} of {most} probes are out", self.0.len());
    }

    /// This one, if it is one, has come back.
    pub(crate) fn take_back(&mut self, permit: Permit) {
        self.0.retain(|out| (out.generation, out.ticket) != (permit.generation, permit.ticket));
    }
}
