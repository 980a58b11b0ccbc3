/// A key of the configuration, as the documentation lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key in `snake_case`.
    pub name: &'static str,
    /// What holds where the key is missing.
    pub default: &'static str,
    /// What may be given.
    pub limits: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

impl Key {
    /// Whether `given` is one of the key's three spellings: `window_size`, `window-size`, `windowSize`.
    pub fn is_spelled(&self, given: &str) -> bool {
        given == self.name || is_kebab(given, self.name) || is_camel(given, self.name)
    }
}

/// The keys of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// A heading.
    pub title: &'static str,
    /// Where the keys stand, to follow "in".
    pub place: &'static str,
    /// The keys.
    pub keys: &'static [Key],
}

fn is_kebab(given: &str, name: &str) -> bool {
    given.bytes().eq(name.bytes().map(|b| if b == b'_' { b'-' } else { b }))
}

fn is_camel(given: &str, name: &str) -> bool {
    let mut rest = given.bytes();
    let mut starts_word = false;
    for byte in name.bytes() {
        if byte == b'_' {
            starts_word = true;
            continue;
        }
        let expected = if starts_word { byte.to_ascii_uppercase() } else { byte };
        if rest.next() != Some(expected) {
            return false;
        }
        starts_word = false;
    }
    rest.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_has_three_spellings_and_no_fourth() {
        let key = Key { name: "max_wait_in_open", default: "", limits: "", meaning: "" };
        for spelling in ["max_wait_in_open", "max-wait-in-open", "maxWaitInOpen"] {
            assert!(key.is_spelled(spelling), "{spelling}");
        }
        for other in ["", "max", "MaxWaitInOpen", "max_wait-in-open", "maxwaitinopen", "maxWaitInOpens"] {
            assert!(!key.is_spelled(other), "{other}");
        }
    }
}
