use std::collections::BTreeMap;

use serde::{Deserialize, de};
use serde_json::Value;

/// What a step is expected to show, by key. What it does not name is not checked; null means that there is nothing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "BTreeMap<String, Value>")]
pub struct Expectation(BTreeMap<String, Value>);

impl Expectation {
    /// The keys that can be expected.
    pub const KEYS: [&str; 11] = [
        "permitted",
        "reason",
        "retry_after_ms",
        "recorded",
        "state",
        "buffered_calls",
        "failed_calls",
        "slow_calls",
        "failure_rate",
        "slow_call_rate",
        "events",
    ];

    /// Keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl TryFrom<BTreeMap<String, Value>> for Expectation {
    type Error = de::value::Error;

    fn try_from(expected: BTreeMap<String, Value>) -> Result<Self, Self::Error> {
        let unknown: Vec<_> =
            expected.keys().map(String::as_str).filter(|key| !Self::KEYS.contains(key)).collect();
        if unknown.is_empty() {
            return Ok(Self(expected));
        }
        let message =
            format!("expect: unknown key {}: there are {}", unknown.join(", "), Self::KEYS.join(", "));
        Err(de::Error::custom(message))
    }
}
