use breakerbox_host::envoy::Metrics;

/// The name of the state that a breaker's gauge shows; `None` if the breaker has none yet.
pub(super) fn state(metrics: &Metrics, breaker: &str) -> Option<&'static str> {
    let gauge = metrics.matching("breakerbox_state", &[("breaker", breaker)]).next()?;
    Some(match gauge.value {
        0 => "closed",
        1 => "open",
        2 => "half_open",
        3 => "forced",
        4 => "disabled",
        _ => "unknown",
    })
}

/// How often a breaker went from one state to another.
pub(super) fn transitions(metrics: &Metrics, breaker: &str, from: &str, to: &str) -> u64 {
    let labels = [("breaker", breaker), ("from", from), ("to", to)];
    metrics.sum("breakerbox_transitions", &labels)
}
