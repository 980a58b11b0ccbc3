use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use breakerbox_config::MAX_ID_BYTES;

/// What ends a name that was cut: a tilde and the whole name's hash in hexadecimal digits.
const DIGEST_BYTES: usize = 17;

/// Which breaker: the name of a route, a cluster, a host and so on, and the forms in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    /// The name. Bytes that are not UTF-8 are percent-escaped. If it is too long, its end is a hash of it, so that
    /// two of one beginning are not taken for the same.
    pub(crate) name: String,
    /// The name as a value within a metric's name.
    pub(crate) label: String,
    /// The name as a JSON string, quotes included.
    pub(crate) json: String,
}

impl Id {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let name = match str::from_utf8(bytes) {
            Ok(name) => name.to_owned(),
            Err(_) => escape(bytes),
        };
        let name = shorten(name);
        let label = escape(name.as_bytes());
        // A string always has a JSON form.
        let json = serde_json::to_string(&name).unwrap_or_default();
        Self { name, label, json }
    }
}

fn shorten(name: String) -> String {
    if name.len() <= MAX_ID_BYTES {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let end = name.floor_char_boundary(MAX_ID_BYTES.saturating_sub(DIGEST_BYTES));
    format!("{}~{:016x}", name.get(..end).unwrap_or_default(), hasher.finish())
}

/// Percent-escapes what would end a label early, be mistaken for an escape, or not survive in a metric's name.
/// Dots and slashes stay: the brackets around a label keep them together.
pub(crate) fn escape(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len()), |mut label, &byte| {
        match byte {
            b'[' | b']' | b'%' | 0..=0x1f | 0x7f.. => {
                // Writing to a string does not fail.
                let _ = write!(label, "%{byte:02X}");
            }
            _ => label.push(char::from(byte)),
        }
        label
    })
}

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn an_ordinary_name_is_its_own_label() {
        let id = Id::new(b"httproute/shop/orders.v1/rule:0");
        assert_eq!(id.name, "httproute/shop/orders.v1/rule:0");
        assert_eq!(id.label, id.name);
        assert_eq!(id.json, r#""httproute/shop/orders.v1/rule:0""#);
    }

    #[test]
    fn a_label_holds_no_brackets_controls_or_bytes_beyond_ascii() {
        assert_eq!(Id::new(b"a[0]=100%\n\x7f").label, "a%5B0%5D=100%25%0A%7F");
        assert_eq!(Id::new("für".as_bytes()).label, "f%C3%BCr");
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let name =
            |last: char| Id::new(format!("{}ü{}{last}", "x".repeat(238), "y".repeat(300)).as_bytes()).name;
        let (one, other) = (name('1'), name('2'));
        assert_ne!(one, other);
        assert!(one.starts_with(&format!("{}~", "x".repeat(238))), "{one}");
        assert_eq!(one.len(), 255);
        let longest = "x".repeat(256);
        assert_eq!(Id::new(longest.as_bytes()).name, longest);
        assert_eq!(Id::new(&[0xff; 300]).name.len(), 256);
    }

    #[test]
    fn bytes_that_are_no_text_still_give_a_name() {
        let id = Id::new(b"\xff\"x");
        assert_eq!(id.name, "%FF\"x");
        assert_eq!(id.json, r#""%FF\"x""#);
    }
}
