use alloc::format;
use alloc::string::String;

/// The most characters of a value, key or id that a message repeats.
const LONGEST: usize = 48;

/// The text in quotes, escaped so that it stays on one line, and cut if it is long.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}", format!("{}…", text.get(..end).unwrap_or_default())),
        None => format!("{text:?}"),
    }
}

/// The path of `key` below `parent`. Keys that hold more than letters, digits, `_` and `-` are quoted, so that
/// the dots of a host name are not taken for levels.
pub(crate) fn below(parent: &str, key: &str) -> String {
    let plain = !key.is_empty()
        && key.len() <= LONGEST
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (parent, plain) {
        ("", true) => key.into(),
        ("", false) => quoted(key),
        (_, true) => format!("{parent}.{key}"),
        (_, false) => format!("{parent}.{}", quoted(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::{below, quoted};

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(quoted("line\nbreak"), r#""line\nbreak""#);
        assert_eq!(quoted(&"ü".repeat(100)).chars().count(), 48 + 3);
    }

    #[test]
    fn keys_with_dots_are_quoted_in_paths() {
        assert_eq!(below("breakers", "orders"), "breakers.orders");
        assert_eq!(below("breakers", "a.example"), r#"breakers."a.example""#);
        assert_eq!(below("", "per"), "per");
    }
}
