use breakerbox_core::Revocations;

use crate::hostcalls;
use crate::metric::Gauge;

/// How often something was revoked that workers may believe of a breaker: a gauge, which every worker reads and adds to at
/// once and at a tenth of the cost of shared data.
///
/// Gauges belong to the whole proxy while shared data belongs to a `vm_id`, so its name holds both the `vm_id` and the
/// breaker. It may outlive the slot (a listener goes, its statistics stay) and is added to the predecessor's in a hot
/// restart; no more comes of that than that slots are read again.
#[derive(Debug)]
pub(crate) struct GaugeRevocations(Option<u32>);

impl GaugeRevocations {
    /// Those of the breaker `label` among the plugins of `vm`.
    pub(crate) fn new(vm: &str, label: &str) -> Self {
        let name = format!("breakerbox_hint_revocations[vm={vm}][breaker={label}]");
        let revocations = Self(Gauge::define(&name).number());
        // A proxy can be told to leave statistics out. Those then stay 0, and what could not be revoked must not be
        // believed. One revocation too many costs no more than reading the slot once.
        revocations.revoke();
        if revocations.number().is_none_or(|number| number == 0) { Self(None) } else { revocations }
    }
}

impl Revocations for GaugeRevocations {
    fn number(&self) -> Option<u64> {
        hostcalls::metric(self.0?)
    }

    fn revoke(&self) {
        if let Some(gauge) = self.0 {
            hostcalls::increment_metric(gauge, 1);
        }
    }
}
