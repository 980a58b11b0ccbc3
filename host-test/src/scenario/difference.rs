use std::fmt;

use serde_json::{Map, Value};

use super::{Expectation, Observation};

/// A key of a step under which something else was seen than was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The step's number, from 1.
    pub step: usize,
    /// The key.
    pub key: String,
    /// What was expected; `None` if it was nothing.
    pub expected: Option<Value>,
    /// What was seen; `None` if it was nothing, such as a decision after a step that asked for none.
    pub seen: Option<Value>,
}

impl Difference {
    pub(super) fn between(step: usize, expected: &Expectation, seen: &Observation) -> Vec<Self> {
        let seen = seen.to_json();
        let compare = |(key, value)| Self::at(step, key, Some(value), seen.get(key));
        expected.iter().filter_map(compare).collect()
    }

    pub(super) fn between_observations(step: usize, expected: &Observation, seen: &Observation) -> Vec<Self> {
        let (expected, seen) = (expected.to_json(), seen.to_json());
        let missing = seen.keys().filter(|key| !expected.contains_key(*key));
        let keys = expected.keys().chain(missing);
        keys.filter_map(|key| Self::at(step, key, expected.get(key), seen.get(key))).collect()
    }

    fn at(step: usize, key: &str, expected: Option<&Value>, seen: Option<&Value>) -> Option<Self> {
        let same = match (expected, seen) {
            (Some(expected), Some(seen)) => same(expected, seen),
            (Some(Value::Null), None) => true,
            (expected, seen) => expected == seen,
        };
        (!same).then(|| Self { step, key: key.to_owned(), expected: expected.cloned(), seen: seen.cloned() })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        let (expected, seen) = (show(&self.expected), show(&self.seen));
        write!(f, "step {}: {}: expected {expected}, seen {seen}", self.step, self.key)
    }
}

/// Numbers are the same within 0.01, wherever they stand.
fn same(expected: &Value, seen: &Value) -> bool {
    match (expected, seen) {
        (Value::Number(expected), Value::Number(seen)) => {
            matches!((expected.as_f64(), seen.as_f64()), (Some(a), Some(b)) if (a - b).abs() <= 0.01)
        }
        (Value::Array(expected), Value::Array(seen)) => {
            expected.len() == seen.len() && expected.iter().zip(seen).all(|(a, b)| same(a, b))
        }
        (Value::Object(expected), Value::Object(seen)) => same_objects(expected, seen),
        _ => expected == seen,
    }
}

fn same_objects(expected: &Map<String, Value>, seen: &Map<String, Value>) -> bool {
    expected.len() == seen.len() && expected.iter().all(|(key, a)| seen.get(key).is_some_and(|b| same(a, b)))
}
