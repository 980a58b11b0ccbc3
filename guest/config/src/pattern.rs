use alloc::string::String;
use core::cmp::{Ordering, Reverse};

/// A text in which each `*` stands for any characters, also for none and for `.` and `/`.
///
/// Patterns have a total order, the most specific first: the one with more characters other than `*`; of two
/// with as many, the one with fewer `*`; of two alike in that, the one that comes first byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    literals: usize,
    stars: usize,
}

impl Pattern {
    /// The pattern, if `text` holds a `*`: otherwise it is just a text.
    pub fn new(text: &str) -> Option<Self> {
        let stars = text.bytes().filter(|byte| *byte == b'*').count();
        (stars > 0).then(|| Self { text: text.into(), literals: text.len().saturating_sub(stars), stars })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the pattern covers the whole of `id`.
    pub fn matches(&self, id: &str) -> bool {
        let Some((first, rest)) = self.text.split_once('*') else { return self.text == id };
        let Some(mut id) = id.strip_prefix(first) else { return false };
        let mut parts = rest.split('*');
        let last = parts.next_back().unwrap_or_default();
        // Each part is taken where it first occurs: that leaves the most for those after it.
        for part in parts {
            let Some((_, after)) = id.split_once(part) else { return false };
            id = after;
        }
        id.ends_with(last)
    }
}

impl Ord for Pattern {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |pattern: &Self| (Reverse(pattern.literals), pattern.stars);
        key(self).cmp(&key(other)).then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Pattern {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use alloc::vec::Vec;

    fn matches(pattern: &str, id: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(id)
    }

    #[test]
    fn a_star_stands_for_any_characters_and_for_none() {
        for (pattern, id) in [
            ("*", ""),
            ("*", "a.b/c"),
            ("orders-*", "orders-"),
            ("orders-*", "orders-eu/1"),
            ("*.example.com", "a.b.example.com"),
            ("a*b*c", "abc"),
            ("a*b*c", "a-b-b-c"),
            ("**", "x"),
            ("*ab", "aab"),
            ("*ab*", "aab"),
        ] {
            assert!(matches(pattern, id), "{pattern} {id}");
        }
    }

    #[test]
    fn the_rest_must_be_there_in_order_and_without_overlap() {
        for (pattern, id) in [
            ("orders-*", "order"),
            ("*.example.com", "example.com"),
            ("a*a", "a"),
            ("a*b*c", "acb"),
            ("ab*ba", "aba"),
            ("a*", "ba"),
            ("*a", "ab"),
            ("a?*", "ab"),
        ] {
            assert!(!matches(pattern, id), "{pattern} {id}");
        }
    }

    #[test]
    fn the_most_specific_comes_first() {
        let mut patterns: Vec<_> =
            ["*", "b*", "a*", "a*b*", "ab*", "abc-*", "**"].into_iter().filter_map(Pattern::new).collect();
        patterns.sort();
        let order: Vec<_> = patterns.iter().map(Pattern::text).collect();
        assert_eq!(order, ["abc-*", "ab*", "a*b*", "a*", "b*", "*", "**"]);
    }

    #[test]
    fn a_text_without_a_star_is_no_pattern() {
        assert_eq!(Pattern::new("orders"), None);
    }
}
