use alloc::string::String;
use core::fmt;

/// What is odd about a setting that is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Oddity {
    /// `minimum_calls` is more than a count window holds, so the window's size counts instead.
    MinimumAboveWindow,
    /// `minimum_calls` needs more calls a second than a breaker is likely to see.
    MinimumUnreachable,
    /// A percentage below 1.
    RateLooksLikeFraction,
    /// `slow_call_rate_threshold` is given, but no call counts as slow.
    SlowRateWithoutDuration,
    /// Recovery takes more calls than opening.
    ProbesAboveMinimum,
    /// Probes that never end keep the breaker half-open.
    WaitsForEver,
    /// `wait_in_open` is zero, so the breaker probes as soon as it opens.
    OpensForNoTime,
    /// `open_backoff` never makes a wait longer.
    BackoffWithoutEffect,
    /// No call fails and none is slow, so the breaker never opens.
    NothingFails,
    /// `record_on` has what a call that went well ends with.
    SuccessFails,
    /// `slow_call_duration` is shorter than calls take.
    EveryCallSlow,
    /// No request has an entry's id.
    UnmatchedId,
    /// An entry of `configs` that no `base` names.
    UnusedConfig,
}

impl Oddity {
    /// Every oddity, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::MinimumAboveWindow,
        Self::MinimumUnreachable,
        Self::RateLooksLikeFraction,
        Self::SlowRateWithoutDuration,
        Self::ProbesAboveMinimum,
        Self::WaitsForEver,
        Self::OpensForNoTime,
        Self::BackoffWithoutEffect,
        Self::NothingFails,
        Self::SuccessFails,
        Self::EveryCallSlow,
        Self::UnmatchedId,
        Self::UnusedConfig,
    ];

    /// The oddity's name, which does not change between releases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MinimumAboveWindow => "minimum_above_window",
            Self::MinimumUnreachable => "minimum_unreachable",
            Self::RateLooksLikeFraction => "rate_looks_like_fraction",
            Self::SlowRateWithoutDuration => "slow_rate_without_duration",
            Self::ProbesAboveMinimum => "probes_above_minimum",
            Self::WaitsForEver => "waits_for_ever",
            Self::OpensForNoTime => "opens_for_no_time",
            Self::BackoffWithoutEffect => "backoff_without_effect",
            Self::NothingFails => "nothing_fails",
            Self::SuccessFails => "success_fails",
            Self::EveryCallSlow => "every_call_slow",
            Self::UnmatchedId => "unmatched_id",
            Self::UnusedConfig => "unused_config",
        }
    }

    /// What is odd, in one sentence for the documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::MinimumAboveWindow => {
                "`minimum_calls` is more than a count window holds, so the window's size counts instead."
            }
            Self::MinimumUnreachable => {
                "`minimum_calls` needs more than 1000 calls in each second of the window."
            }
            Self::RateLooksLikeFraction => "A percentage below 1, as if 0.5 meant half.",
            Self::SlowRateWithoutDuration => {
                "`slow_call_rate_threshold` is given, but with `slow_call_duration` 0s no call is slow."
            }
            Self::ProbesAboveMinimum => "Closing takes more calls than opening did.",
            Self::WaitsForEver => "Probes that never end would keep the breaker half-open for ever.",
            Self::OpensForNoTime => "With `wait_in_open` 0s the breaker probes as soon as it opens.",
            Self::BackoffWithoutEffect => "`open_backoff` never makes a wait longer.",
            Self::NothingFails => "`record_on` is empty and no call is slow, so the breaker never opens.",
            Self::SuccessFails => "`record_on` has 200 or grpc:OK, with which calls end that went well.",
            Self::EveryCallSlow => "`slow_call_duration` is below 1 ms, so nearly every call is slow.",
            Self::UnmatchedId => {
                "An entry of `breakers` whose id or pattern no request has, `per` being what it is."
            }
            Self::UnusedConfig => "An entry of `configs` that no `base` leads to from `breakers`.",
        }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something legal but odd in a configuration, which is accepted. Displayed it is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where: the keys from the outermost in, as in `breakers.orders.minimum_calls`.
    pub path: String,
    /// What is odd.
    pub oddity: Oddity,
    /// The value, what it leads to, and what was perhaps meant.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.path, self.message, self.oddity)
    }
}
