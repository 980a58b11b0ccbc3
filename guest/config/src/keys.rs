use crate::filter_keys::{CONFIG_KEYS, ENTRY_KEYS, FALLBACK_KEYS, FILTER_KEYS, POLICY_KEYS, REJECT_KEYS};
use crate::{Key, Section};

const DURATION: &str = "a duration up to 8760h in h, m, s, ms, us or ns, such as 250ms, 1.5s or 1m30s";

/// Every key there is, in the order of the documentation.
pub const SECTIONS: &[Section] = &[
    Section {
        title: "Settings of a breaker",
        place: "`default`, or an entry of `configs` or `breakers`",
        keys: KEYS,
    },
    Section { title: "Back-off", place: "`open_backoff`", keys: BACKOFF_KEYS },
    Section {
        title: "The Envoy filter",
        place: "the top level of the filter's configuration",
        keys: FILTER_KEYS,
    },
    Section {
        title: "Classification and rejection (Envoy filter)",
        place: "the filter's `default`, or an entry of its `configs` or `breakers`",
        keys: POLICY_KEYS,
    },
    Section {
        title: "Inheritance (Envoy filter)",
        place: "an entry of the filter's `configs` or `breakers`",
        keys: CONFIG_KEYS,
    },
    Section {
        title: "Sharing (Envoy filter)",
        place: "an entry of the filter's `breakers`",
        keys: ENTRY_KEYS,
    },
    Section { title: "Rejections (Envoy filter)", place: "`reject`", keys: REJECT_KEYS },
    Section { title: "Fallbacks (Envoy filter)", place: "`fallback`", keys: FALLBACK_KEYS },
];

/// Every setting of a breaker, in the order of the documentation.
pub const KEYS: &[Key] = &[
    Key {
        name: "window_type",
        default: "count",
        limits: "count or time",
        meaning: "What rates are taken over: `count`: the last `window_size` calls; `time`: the calls of the last \
                  `window_size` seconds.",
    },
    Key {
        name: "window_size",
        default: "100",
        limits: "1 to 10000 calls, or 1 to 600 seconds",
        meaning: "How much the window holds: calls or seconds, depending on `window_type`.",
    },
    Key {
        name: "minimum_calls",
        default: "100",
        limits: "1 to 1000000",
        meaning: "Rates are judged once the window holds this many calls; capped at `window_size` for a count \
                  window.",
    },
    Key {
        name: "failure_rate_threshold",
        default: "50",
        limits: "a percentage above 0, up to 100, with at most two decimals",
        meaning: "Opens when this share of the window's calls failed, or more.",
    },
    Key {
        name: "slow_call_duration",
        default: "0s",
        limits: DURATION,
        meaning: "A call that takes this long or longer is slow, failed or not; `0s` is off.",
    },
    Key {
        name: "slow_call_rate_threshold",
        default: "100",
        limits: "a percentage above 0, up to 100, with at most two decimals",
        meaning: "Opens when this share of the window's calls was slow, or more.",
    },
    Key {
        name: "consecutive_failures",
        default: "off",
        limits: "1 to 1000000, or off",
        meaning: "Opens after this many failures in a row as well; a success resets the count, an ignored call \
                  does not.",
    },
    Key {
        name: "wait_in_open",
        default: "60s",
        limits: DURATION,
        meaning: "How long calls are rejected; the first call after it becomes a probe. Nothing moves by itself.",
    },
    Key {
        name: "open_backoff",
        default: "off",
        limits: "an object {multiplier, max}, or off",
        meaning: "Each re-open without a close in between waits `multiplier` times longer, up to `max`.",
    },
    Key {
        name: "open_jitter",
        default: "0",
        limits: "0 to 1, with at most two decimals",
        meaning: "A random share of the wait that is added to it, so that a fleet does not probe in step.",
    },
    Key {
        name: "half_open_calls",
        default: "10",
        limits: "1 to 1000",
        meaning: "Probes let through in half-open; further calls are rejected until they end.",
    },
    Key {
        name: "half_open_policy",
        default: "rate",
        limits: "rate or all_must_succeed",
        meaning: "How probes are judged: `rate`: when the last one ends, by the same thresholds; \
                  `all_must_succeed`: the first that fails or is slow opens, all succeeding closes.",
    },
    Key {
        name: "max_wait_in_half_open",
        default: "0s; the Envoy filter's is 60s",
        limits: DURATION,
        meaning: "If the probes have not all ended by then, the next call opens the breaker again; `0s` waits for \
                  ever.",
    },
    Key {
        name: "enabled",
        default: "true",
        limits: "true or false",
        meaning: "`false` starts in `disabled`, which admits everything and records nothing; a reset leads back \
                  there.",
    },
];

/// The keys of `open_backoff`.
pub const BACKOFF_KEYS: &[Key] = &[
    Key {
        name: "multiplier",
        default: "none",
        limits: "1 to 100, with at most two decimals",
        meaning: "How many times longer each wait is than the one before it.",
    },
    Key {
        name: "max",
        default: "none",
        limits: "a duration from wait_in_open up to 8760h, such as 5m",
        meaning: "The longest wait, before jitter.",
    },
];
