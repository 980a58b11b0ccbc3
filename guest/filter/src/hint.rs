use breakerbox_core::HintCell;

use crate::hostcalls;
use crate::metric::Gauge;

/// A breaker's hint: two gauges, which every worker reads and writes at once and at a tenth of the cost of
/// shared data.
///
/// Gauges belong to the whole proxy while shared data belongs to a `vm_id`, so their names hold both the
/// `vm_id` and the breaker. They outlive slots at times (a listener goes, its statistics stay) and are added to
/// the predecessor's in a hot restart; whoever reads a slot corrects what they say of it.
#[derive(Debug)]
pub(crate) struct GaugeHint {
    gauges: Option<Gauges>,
}

#[derive(Debug)]
struct Gauges {
    revocations: u32,
    granted: u32,
}

impl GaugeHint {
    /// The hint of the breaker `label` among the plugins of `vm`.
    pub(crate) fn new(vm: &str, label: &str) -> Self {
        let gauge =
            |word| Gauge::define(&format!("breakerbox_hint_{word}[vm={vm}][breaker={label}]")).number();
        let gauges = || Some(Gauges { revocations: gauge("revocations")?, granted: gauge("granted")? });
        let hint = Self { gauges: gauges() };
        // A proxy can be told to leave statistics out. Those then stay 0, and a grant that cannot be revoked must
        // not be made. One revocation too many costs no more than reading the slot once.
        hint.revoke();
        if hint.revocations().is_none_or(|number| number == 0) { Self { gauges: None } } else { hint }
    }
}

impl HintCell for GaugeHint {
    fn revocations(&self) -> Option<u64> {
        hostcalls::metric(self.gauges.as_ref()?.revocations)
    }

    fn revoke(&self) {
        if let Some(gauges) = &self.gauges {
            hostcalls::increment_metric(gauges.revocations, 1);
        }
    }

    fn granted(&self) -> u64 {
        self.gauges.as_ref().and_then(|gauges| hostcalls::metric(gauges.granted)).unwrap_or(0)
    }

    fn grant(&self, word: u64) {
        if let Some(gauges) = &self.gauges {
            hostcalls::set_metric(gauges.granted, word);
        }
    }
}
