use bolero::TypeGenerator;
use breakerbox_config::SECTIONS;

/// What is done to one of several texts: its words are taken apart, and other words put between.
#[derive(Debug, TypeGenerator)]
pub(crate) struct Damage {
    text: u8,
    #[generator(bolero::produce::<Vec<Edit>>().with().len(0..=6_usize))]
    edits: Vec<Edit>,
}

#[derive(Debug, TypeGenerator)]
enum Edit {
    Replace(u16, Word),
    Insert(u16, Word),
    Remove(u16),
    /// Words are said again, many times.
    Repeat(u16, #[generator(1..=12_u8)] u8, u8),
    /// A part of another text.
    Graft {
        to: u16,
        text: u8,
        from: u16,
        #[generator(1..=40_u8)]
        length: u8,
    },
    Cut(u16),
}

#[derive(Debug, TypeGenerator)]
enum Word {
    /// One of [`WORDS`].
    Odd(u8),
    Key(u8),
    Whole(u32),
    Float(f64),
    Text(String),
}

/// Words that are needed, nearly right, or tripped over.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "50",
    "100",
    "101",
    "0.01",
    "0.001",
    "1e999",
    "1e-999",
    "18446744073709551616",
    "10000",
    "10001",
    "\"\"",
    "\"off\"",
    "\"count\"",
    "\"time\"",
    "\"5s\"",
    "\"1m30s\"",
    "\"-1s\"",
    "\"9e9h\"",
    "\"8760h\"",
    "\"8761h\"",
    "\"5\"",
    "\"a\"",
    "\"b\"",
    "\"a*\"",
    "\"*\"",
    "\"**\"",
    "\"5xx\"",
    "\"599-100\"",
    "\"grpc:14\"",
    "\"grpc:UNAVAILABLE\"",
    "\"header:x=y\"",
    "\"header:x\"",
    "\"fixed:a\"",
    "\"path_prefix:16\"",
    "\"path_prefix:300\"",
    "\"header:\u{e9}\"",
    "\"host\"",
    "\"upstream_host\"",
    "\"admin\"",
    "\"shadow\"",
    "\"headers\"",
    "\"complete\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\n\"",
    "\"🦀\"",
    "\"timeout\"",
    "\"client_gone\"",
    "\"x-header\"",
    "\"content-type\"",
    "\"default\"",
    "\"base\"",
    "{}",
    "[]",
    "{\"base\":\"a\"}",
    "{\"base\":\"b\"}",
    "{\"breaker\":\"a\"}",
    "{\"header\":{\"x\":\"y\"}}",
    "\u{feff}",
];

impl Damage {
    pub(crate) fn apply(&self, texts: &[String]) -> String {
        let mut words = words(nth(texts, self.text.into()));
        for edit in &self.edits {
            edit.apply(&mut words, texts);
        }
        words.concat()
    }
}

impl Edit {
    fn apply(&self, words: &mut Vec<String>, texts: &[String]) {
        let place = |at: u16| usize::from(at) % (words.len() + 1);
        match self {
            Self::Replace(at, word) => {
                let at = place(*at);
                words.splice(at..words.len().min(at + 1), [word.text()]);
            }
            Self::Insert(at, word) => words.insert(place(*at), word.text()),
            Self::Remove(at) => {
                let at = place(*at);
                words.drain(at..words.len().min(at + 1));
            }
            Self::Repeat(at, length, times) => {
                let at = place(*at);
                let again = words[at..words.len().min(at + usize::from(*length))].to_vec();
                let again = std::iter::repeat_n(again, (*times).into()).flatten();
                words.splice(at..at, again);
            }
            Self::Graft { to, text, from, length } => {
                let other = self::words(nth(texts, (*text).into()));
                let from = usize::from(*from) % (other.len() + 1);
                let part = other[from..].iter().take((*length).into()).cloned();
                let to = place(*to);
                words.splice(to..to, part);
            }
            Self::Cut(at) => words.truncate(place(*at)),
        }
    }
}

impl Word {
    fn text(&self) -> String {
        match self {
            Self::Odd(nth_word) => nth(WORDS, (*nth_word).into()).to_string(),
            Self::Key(nth_key) => {
                let keys: Vec<_> = SECTIONS.iter().flat_map(|section| section.keys).collect();
                format!("\"{}\"", nth(&keys, (*nth_key).into()).name)
            }
            Self::Whole(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => serde_json::to_string(text).unwrap(),
        }
    }
}

fn nth<T>(items: &[T], nth: usize) -> &T {
    &items[nth % items.len()]
}

/// The text's strings, numbers and signs.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut in_string, mut is_escaped, mut in_word) = (false, false, false);
    for c in text.chars() {
        let is_plain = c.is_alphanumeric() || matches!(c, '.' | '-' | '+');
        match words.last_mut().filter(|_| in_string || (in_word && is_plain)) {
            Some(word) => word.push(c),
            None => words.push(c.into()),
        }
        in_word = is_plain && !in_string;
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = in_string && c == '\\' && !is_escaped;
    }
    words
}
