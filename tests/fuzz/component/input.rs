//! What a host may ask of the component, sensible or not.

use bolero::TypeGenerator;
use breakerbox_host::wit::bindings::exports::breakerbox::breaker::settings::{
    Backoff, HalfOpenPolicy, WindowType,
};
use breakerbox_host::wit::{Settings, UNSET};

use crate::any::{AnyMark, AnyNumber, AnyOutcome, AnyPermit, AnyWord, Control, Damage};

#[derive(Debug, TypeGenerator)]
pub(crate) struct Calls(pub(crate) Vec<(AnyMark, Call)>);

#[derive(Debug, TypeGenerator)]
pub(crate) enum Call {
    New(AnySettings),
    Parse(AnyText),
    /// What was saved last, after this has happened to it.
    Restore(AnySettings, Vec<Damage>),
    /// What is asked of one of the breakers, one after the other.
    On(
        u8,
        #[generator(bolero::produce::<Vec<(AnyMark, Deed)>>().with().len(1..=16_usize))] Vec<(AnyMark, Deed)>,
    ),
}

/// What is asked of a breaker.
#[derive(Debug, TypeGenerator)]
pub(crate) enum Deed {
    /// Some calls begin.
    Acquire(#[generator(1..=4_u8)] u8),
    Record(AnyPermit, AnyOutcome),
    /// Some calls that all end like this.
    Calls(#[generator(1..=4_u8)] u8, AnyOutcome),
    Snapshot,
    Control(Control),
    TakeEvents,
    Save,
    Drop,
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyText {
    Any(String),
    /// One of [`TEXTS`], so many times.
    Repeated(u8, u16),
    Settings {
        key: u8,
        value: u8,
    },
}

const TEXTS: [&str; 10] =
    ["[", "{\"a\":", "{\"open_backoff\":", "9", "\"", "w", "{}", "\"a\":1,", "🦀", "\\u0000"];

const KEYS: [&str; 8] = [
    "window_size",
    "windowSize",
    "wait-in-open",
    "open_backoff",
    "consecutive_failures",
    "half_open_calls",
    "enabled",
    "windw_size",
];

const VALUES: [&str; 12] = [
    "1",
    "2",
    "1e999",
    "-1",
    "18446744073709551616",
    "\"5s\"",
    "\"9e9h\"",
    "\"off\"",
    "null",
    "false",
    "{\"multiplier\": 1.5, \"max\": \"1h\"}",
    "\"\\ud800\"",
];

impl AnyText {
    pub(crate) fn text(&self) -> String {
        let nth = |texts: &[&'static str], nth: u8| texts[usize::from(nth) % texts.len()];
        match self {
            Self::Any(text) => text.clone(),
            Self::Repeated(text, times) => nth(&TEXTS, *text).repeat((*times).into()),
            Self::Settings { key, value } => {
                format!("{{\"{}\": {}}}", nth(&KEYS, *key), nth(&VALUES, *value))
            }
        }
    }
}

#[derive(Debug, TypeGenerator)]
pub(crate) enum AnyFloat {
    Hundredths(u16),
    Any(f64),
}

impl AnyFloat {
    fn number(&self) -> f64 {
        match self {
            Self::Hundredths(hundredths) => f64::from(*hundredths) / 100.0,
            Self::Any(number) => *number,
        }
    }
}

/// Settings of which each may be sound.
#[derive(Debug, TypeGenerator)]
pub(crate) struct AnySettings {
    is_time: Option<bool>,
    window_size: Option<AnyWord>,
    minimum_calls: Option<AnyWord>,
    failure_rate_threshold: Option<AnyFloat>,
    slow_call_duration: Option<AnyNumber>,
    slow_call_rate_threshold: Option<AnyFloat>,
    consecutive_failures: Option<AnyWord>,
    wait_in_open: Option<AnyNumber>,
    open_backoff: Option<(AnyFloat, AnyNumber)>,
    open_jitter: Option<AnyFloat>,
    half_open_calls: Option<AnyWord>,
    all_must_succeed: Option<bool>,
    max_wait_in_half_open: Option<AnyNumber>,
    enabled: Option<bool>,
    /// How much of them is meant: settings that are all by chance are refused.
    #[generator(0..=14_u8)]
    kept: u8,
}

impl AnySettings {
    pub(crate) fn settings(&self) -> Settings {
        let word = |word: &Option<AnyWord>| word.as_ref().map(AnyWord::number);
        let number = |number: &Option<AnyNumber>| number.as_ref().map(AnyNumber::number);
        let float = |float: &Option<AnyFloat>| float.as_ref().map(AnyFloat::number);
        let all = Settings {
            window_type: self.is_time.map(|it| if it { WindowType::Time } else { WindowType::Count }),
            window_size: word(&self.window_size),
            minimum_calls: word(&self.minimum_calls),
            failure_rate_threshold: float(&self.failure_rate_threshold),
            slow_call_duration: number(&self.slow_call_duration),
            slow_call_rate_threshold: float(&self.slow_call_rate_threshold),
            consecutive_failures: word(&self.consecutive_failures),
            wait_in_open: number(&self.wait_in_open),
            open_backoff: None,
            open_jitter: None,
            half_open_calls: word(&self.half_open_calls),
            half_open_policy: self
                .all_must_succeed
                .map(|it| if it { HalfOpenPolicy::AllMustSucceed } else { HalfOpenPolicy::Rate }),
            max_wait_in_half_open: number(&self.max_wait_in_half_open),
            enabled: self.enabled,
        };
        let backoff = |(multiplier, max): &(AnyFloat, AnyNumber)| Backoff {
            multiplier: multiplier.number(),
            max: max.number(),
        };
        match self.kept {
            // What is hardest to get right by chance.
            0 => Settings { open_backoff: self.open_backoff.as_ref().map(backoff), ..all },
            1 => Settings { open_jitter: float(&self.open_jitter), ..all },
            2..5 => all,
            _ => Settings {
                window_type: all.window_type,
                consecutive_failures: Some(all.consecutive_failures.map_or(1, |it| it % 4 + 1)),
                wait_in_open: all.wait_in_open.map(|it| it % 10_000_000_000),
                half_open_calls: Some(all.half_open_calls.map_or(2, |it| it % 4 + 1)),
                half_open_policy: all.half_open_policy,
                enabled: all.enabled,
                ..UNSET
            },
        }
    }
}
