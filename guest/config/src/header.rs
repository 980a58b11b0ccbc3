use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::Code;
use crate::report::Report;
use crate::table::At;
use crate::text::quoted;

const LONGEST_NAME: usize = 128;
const LONGEST_VALUE: usize = 4096;

/// Headers that belong to the proxy: one of these from here would break the message or lead the request astray.
const OF_THE_PROXY: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A header that can be sent as it is. Thousands of entries may inherit it, so copies share its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    name: Arc<str>,
    value: Arc<str>,
}

impl Header {
    /// The name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value: printable ASCII, spaces and tabs.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Reads an object of headers, `{NAME: VALUE}`. `taken` are names that another key sets.
    pub(crate) fn read_all(
        at: &At<'_>,
        most: usize,
        taken: &[(&str, &str)],
        report: &mut Report,
    ) -> Option<Vec<Self>> {
        let entries = at.entries("a text in quotes", report)?;
        if !at.limit(entries.len(), most, report) {
            return None;
        }
        let mut headers: Vec<Self> = Vec::with_capacity(entries.len());
        for (name, at) in entries {
            let (name, value) = (parse_name(name, &at.path, report), at.text(report));
            let (Some(name), Some(value)) = (name, value) else { continue };
            let refused = if OF_THE_PROXY.contains(&name.as_str()) {
                Some("is the proxy's to set: leave it out".into())
            } else if let Some((_, key)) = taken.iter().find(|(taken, _)| *taken == name) {
                Some(format!("is set by `{key}`: use that key"))
            } else {
                None
            };
            if let Some(message) = refused {
                report.problem(&at.path, Code::BadHeader, message);
            } else if headers.iter().any(|header| *header.name == name) {
                let message = "is given twice, since case does not matter: leave one of them out";
                report.problem(&at.path, Code::DuplicateKey, message);
            } else if let Some(value) = parse_value(value, &at, report) {
                headers.push(Self { name: name.into(), value: value.into() });
            }
        }
        Some(headers)
    }

    /// The header of a `NAME=VALUE` that stands in a longer text.
    pub(crate) fn parse(text: &str, at: &At<'_>, report: &mut Report) -> Option<Self> {
        let Some((name, value)) = text.split_once('=') else {
            let message = format!("{} has no value: write header:NAME=VALUE", at.value);
            report.problem(&at.path, Code::BadHeader, message);
            return None;
        };
        let name = parse_name(name, &at.path, report)?;
        let value = parse_value(value, at, report)?;
        Some(Self { name: name.into(), value: value.into() })
    }
}

/// A header's name in lower case.
pub(crate) fn parse_name(name: &str, path: &str, report: &mut Report) -> Option<String> {
    if name.len() > LONGEST_NAME || !is_token(name) {
        let message = format!(
            "{} is not a header's name: give 1 to {LONGEST_NAME} letters, digits, - or _",
            quoted(name)
        );
        report.problem(path, Code::BadHeader, message);
        return None;
    }
    Some(name.to_ascii_lowercase())
}

/// A header's value as it was given, if it can be sent.
pub(crate) fn parse_value(value: &str, at: &At<'_>, report: &mut Report) -> Option<String> {
    let is_clean = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    if value.len() > LONGEST_VALUE || !is_clean || value.trim() != value {
        let message = format!(
            "{} is not a header's value: give up to {LONGEST_VALUE} printable ASCII characters, \
             no spaces around them",
            at.value
        );
        report.problem(&at.path, Code::BadHeader, message);
        return None;
    }
    Some(value.into())
}

/// A `token` of RFC 9110.
pub(crate) fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}
