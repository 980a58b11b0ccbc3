use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use proxy_wasm_host::abi::v0_2_1::MetricId;
use proxy_wasm_host::abi::v0_2_1::types::{MetricType, Status};

use super::hostcalls::heard;

/// Counters, gauges and histograms of the whole proxy, with Envoy's habits.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    values: BTreeMap<String, (MetricType, u64)>,
    /// The name that each identifier stands for; the first is 1.
    names: Vec<String>,
}

impl Metrics {
    pub(super) fn value(&self, name: &str) -> Option<u64> {
        self.held().values.get(name).map(|&(_, value)| value)
    }

    pub(super) fn all(&self) -> Vec<(String, u64)> {
        self.held().values.iter().map(|(name, &(_, value))| (name.clone(), value)).collect()
    }

    /// A new identifier each time, also for a name that exists.
    pub(super) fn define(&self, kind: MetricType, name: &[u8]) -> Result<MetricId, Status> {
        let name = String::from_utf8_lossy(name).into_owned();
        heard("define_metric", name.as_bytes(), None);
        let mut held = self.held();
        let &mut (known, _) = held.values.entry(name.clone()).or_insert((kind, 0));
        if known != kind {
            return Err(Status::BadArgument);
        }
        held.names.push(name);
        u32::try_from(held.names.len())
            .ok()
            .and_then(|id| MetricId::try_from(id).ok())
            .ok_or(Status::InternalFailure)
    }

    pub(super) fn get(&self, id: MetricId) -> Result<u64, Status> {
        self.with("get_metric", id, |kind, value| match kind {
            MetricType::Counter | MetricType::Gauge => Ok(*value),
            MetricType::Histogram => Err(Status::BadArgument),
        })
    }

    /// Adds to a counter, sets a gauge, puts a value into a histogram.
    pub(super) fn record(&self, id: MetricId, recorded: u64) -> Result<(), Status> {
        self.with("record_metric", id, |kind, value| {
            *value = match kind {
                MetricType::Counter => value.wrapping_add(recorded),
                MetricType::Gauge => recorded,
                MetricType::Histogram => value.wrapping_add(1),
            };
            Ok(())
        })
    }

    /// Counters only go up, and by more than nothing; gauges wrap below zero.
    pub(super) fn increment(&self, id: MetricId, delta: i64) -> Result<(), Status> {
        self.with("increment_metric", id, |kind, value| match kind {
            MetricType::Counter if delta <= 0 => Err(Status::BadArgument),
            MetricType::Histogram => Err(Status::BadArgument),
            MetricType::Counter | MetricType::Gauge => {
                *value = value.wrapping_add_signed(delta);
                Ok(())
            }
        })
    }

    fn with<T>(
        &self,
        function: &'static str,
        id: MetricId,
        operation: impl FnOnce(MetricType, &mut u64) -> Result<T, Status>,
    ) -> Result<T, Status> {
        let Held { values, names } = &mut *self.held();
        let name = usize::try_from(id.get() - 1).ok().and_then(|at| names.get(at));
        heard(function, name.map_or(&b""[..], |name| name.as_bytes()), None);
        let (kind, value) = name.and_then(|name| values.get_mut(name)).ok_or(Status::NotFound)?;
        operation(*kind, value)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
