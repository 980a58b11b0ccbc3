use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::text::quoted;

/// A JSON value whose objects keep every key, so that a key given twice can be reported: a map would keep the
/// last one and say nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses one value, or says why the text is none. Nesting is bounded by the recursion limit of `serde_json`, 128.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| {
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            let rest = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
            format!("the configuration is not JSON: {error}{}", remedy(rest))
        })
    }

    /// Whether this is one of the ways to say "off". YAML 1.1 makes `false` of an unquoted `off`.
    pub(crate) fn is_off(&self) -> bool {
        match self {
            Self::Null | Self::Bool(false) => true,
            Self::String(text) => text == "off",
            _ => false,
        }
    }
}

/// What to do about a text that is not JSON from here on, as far as its first character says.
fn remedy(rest: &str) -> &'static str {
    match rest.chars().next() {
        Some('\u{feff}') => "; leave the byte order mark out",
        Some('#' | '/') => "; JSON has no comments: leave them out",
        Some('\'') => "; write keys and texts in double quotes",
        Some(c) if c == '-' || c.is_ascii_alphabetic() => {
            "; write JSON, {\"KEY\": VALUE}, with texts in double quotes; YAML is not read"
        }
        _ => "",
    }
}

/// The value as a message names it: scalars as they were written and shortened, the rest by its kind.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::String(value) => f.write_str(&quoted(value)),
            Self::List(_) => f.write_str("a list"),
            Self::Object(_) => f.write_str("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn both_copies_of_a_key_are_kept() {
        let Ok(Json::Object(entries)) = Json::parse(r#"{"a": 1, "a": [null, 2.5]}"#) else { panic!() };
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].0, entries[1].0);
    }

    #[test]
    fn deep_nesting_is_refused_instead_of_exhausting_the_stack() {
        let deep = alloc::format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Json::parse(&deep).unwrap_err().contains("recursion limit"));
    }
}
