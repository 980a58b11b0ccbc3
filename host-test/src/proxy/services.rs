use proxy_wasm_host::abi::v0_2_1::types::{MetricType, Status};
use proxy_wasm_host::abi::v0_2_1::{Invocation, MetricId, SharedServices, SharedValue};

use super::{Metrics, SharedData};

/// What modules reach of the proxy through hostcalls. All workers have one `vm_id`, as in Istio an empty one.
#[derive(Debug, Default)]
pub(super) struct Services {
    pub(super) data: SharedData,
    pub(super) metrics: Metrics,
}

impl SharedServices for Services {
    fn get_shared_data(&self, _: Invocation, _: &[u8], key: &[u8]) -> Result<SharedValue, Status> {
        self.data.load(key)
    }

    fn set_shared_data(
        &self,
        _: Invocation,
        _: &[u8],
        key: &[u8],
        value: &[u8],
        cas: Option<u32>,
    ) -> Result<(), Status> {
        self.data.store(key, value, cas)
    }

    fn define_metric(
        &self,
        _: Invocation,
        _: &[u8],
        kind: MetricType,
        name: &[u8],
    ) -> Result<MetricId, Status> {
        self.metrics.define(kind, name)
    }

    fn record_metric(&self, _: Invocation, metric: MetricId, value: u64) -> Result<(), Status> {
        self.metrics.record(metric, value)
    }

    fn increment_metric(&self, _: Invocation, metric: MetricId, delta: i64) -> Result<(), Status> {
        self.metrics.increment(metric, delta)
    }

    fn get_metric(&self, _: Invocation, metric: MetricId) -> Result<u64, Status> {
        self.metrics.get(metric)
    }
}
