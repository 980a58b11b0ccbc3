//! What a history is made of: settings that are sound, and everything else as it comes.

use std::time::Duration;

use bolero::TypeGenerator;
use breakerbox_core::{Backoff, HalfOpenPolicy, Hundredths, Mark, Rules, Settings, WindowType};

use crate::any::{AnyMark, AnyOutcome, AnyPermit, AnyWord, Control, Damage};

/// Two workers on one slot, and what they and others do to it.
#[derive(Debug, TypeGenerator)]
pub(crate) struct History {
    pub(crate) rules: [AnyRules; 2],
    pub(crate) steps: Vec<(bool, AnyMark, Step)>,
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum Step {
    Acquire,
    Record(AnyPermit, AnyOutcome),
    /// Some calls that all end like this.
    Calls(#[generator(1..=8_u8)] u8, AnyOutcome),
    Control(Control),
    Attach,
    Look,
    /// The slot's bytes go to an owner of their own, and come back.
    Restore,
    Foreign(Foreign),
}

/// What somebody else does to the key.
#[derive(Debug, TypeGenerator)]
pub(crate) enum Foreign {
    Write(Vec<u8>),
    Damage(Damage),
}

/// Rules within their limits, small ones more often.
#[derive(Debug, TypeGenerator)]
pub(crate) struct AnyRules {
    revision: AnyWord,
    is_time: bool,
    window_size: AnySize,
    minimum_calls: AnySize,
    #[generator(1..=10_000_u32)]
    failure_rate_threshold: u32,
    slow_call_millis: Option<u16>,
    #[generator(1..=10_000_u32)]
    slow_call_rate_threshold: u32,
    consecutive_failures: Option<AnySize>,
    wait_in_open: AnyMark,
    has_backoff: bool,
    #[generator(100..=10_000_u32)]
    multiplier: u32,
    #[generator(0..=100_u32)]
    open_jitter: u32,
    half_open_calls: AnySize,
    all_must_succeed: bool,
    max_wait_in_half_open: AnyMark,
    is_disabled: Option<bool>,
}

#[derive(Debug, TypeGenerator)]
struct AnySize {
    kind: u8,
    size: u32,
}

impl AnySize {
    fn up_to(&self, most: u32) -> u32 {
        let most = if self.kind < 32 { most } else { 8 };
        self.size % most + 1
    }
}

impl AnyRules {
    pub(crate) fn rules(&self) -> Rules {
        let duration =
            |mark: &AnyMark| Duration::from_nanos(mark.after(Mark::ZERO).nanos()).min(Settings::MAX_DURATION);
        let (window_type, most) = if self.is_time {
            (WindowType::Time, Settings::MAX_WINDOW_SECONDS)
        } else {
            (WindowType::Count, Settings::MAX_WINDOW_CALLS)
        };
        let settings = Settings {
            window_type,
            window_size: self.window_size.up_to(most),
            minimum_calls: self.minimum_calls.up_to(Settings::MAX_MINIMUM_CALLS),
            failure_rate_threshold: Hundredths(self.failure_rate_threshold),
            slow_call_duration: Duration::from_millis(self.slow_call_millis.unwrap_or(0).into()),
            slow_call_rate_threshold: Hundredths(self.slow_call_rate_threshold),
            consecutive_failures: self
                .consecutive_failures
                .as_ref()
                .map(|size| size.up_to(Settings::MAX_CONSECUTIVE_FAILURES)),
            wait_in_open: duration(&self.wait_in_open),
            open_backoff: self
                .has_backoff
                .then_some(Backoff { multiplier: Hundredths(self.multiplier), max: Settings::MAX_DURATION }),
            open_jitter: Hundredths(self.open_jitter),
            half_open_calls: self.half_open_calls.up_to(Settings::MAX_HALF_OPEN_CALLS),
            half_open_policy: if self.all_must_succeed {
                HalfOpenPolicy::AllMustSucceed
            } else {
                HalfOpenPolicy::Rate
            },
            max_wait_in_half_open: duration(&self.max_wait_in_half_open),
            enabled: self.is_disabled != Some(true),
        };
        Rules::new(&settings).expect("settings within their limits").at_revision(self.revision.number())
    }
}
