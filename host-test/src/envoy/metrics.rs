use std::collections::BTreeMap;
use std::fmt;

/// Envoy's counters and gauges as Prometheus sees them, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Vec<Sample>);

/// One counter or gauge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The name, such as `breakerbox_calls`.
    pub name: String,
    /// The labels, such as `breaker` and `kind`.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: u64,
}

impl Metrics {
    /// Reads Prometheus text. Values that are not whole numbers (of histograms) are left out.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(parse_line).collect())
    }

    /// The samples of this name that have all these labels, whatever others they have.
    pub fn matching(&self, name: &str, labels: &[(&str, &str)]) -> impl Iterator<Item = &Sample> {
        self.0.iter().filter(move |sample| {
            let has =
                |&(key, value): &(&str, &str)| sample.labels.get(key).is_some_and(|label| label == value);
            sample.name == name && labels.iter().all(has)
        })
    }

    /// The sum of the samples of this name that have all these labels; 0 if there are none.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> u64 {
        self.matching(name, labels).map(|sample| sample.value).sum()
    }

    /// The name of the state that a breaker's gauge shows; `None` if the breaker has none yet.
    pub fn state(&self, breaker: &str) -> Option<&'static str> {
        let gauge = self.matching("breakerbox_state", &[("breaker", breaker)]).next()?;
        Some(match gauge.value {
            0 => "closed",
            1 => "open",
            2 => "half_open",
            3 => "forced_open",
            4 => "disabled",
            _ => "unknown",
        })
    }

    /// How often a breaker went from one state to another.
    pub fn moves(&self, breaker: &str, from: &str, to: &str) -> u64 {
        self.sum("breakerbox_transitions", &[("breaker", breaker), ("from", from), ("to", to)])
    }
}

/// Those of the filter, one a line.
impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Sample { name, labels, value } in &self.0 {
            if name.starts_with("breakerbox") {
                writeln!(f, "{name} {labels:?} {value}")?;
            }
        }
        Ok(())
    }
}

fn parse_line(line: &str) -> Option<Sample> {
    let (series, value) = line.rsplit_once(' ')?;
    let value = value.parse().ok()?;
    let (name, labels) = series.split_once('{')?;
    let labels = parse_labels(labels.strip_suffix('}')?)?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// Reads `key="value",...`, where `\\`, `\"` and `\n` stand for a backslash, a quote and a newline.
fn parse_labels(mut text: &str) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    while !text.is_empty() {
        let (key, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut characters = rest.chars();
        loop {
            match characters.next()? {
                '"' => break,
                '\\' => match characters.next()? {
                    'n' => value.push('\n'),
                    escaped => value.push(escaped),
                },
                plain => value.push(plain),
            }
        }
        labels.insert(key.to_owned(), value);
        text = characters.as_str();
        text = text.strip_prefix(',').unwrap_or(text);
    }
    Some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_with_their_escapes() {
        let metrics = Metrics::parse(concat!(
            "# TYPE breakerbox_calls counter\n",
            "breakerbox_calls{breaker=\"a.b/c, \\\"d\\\\\",kind=\"failed\"} 12\n",
            "breakerbox_calls{breaker=\"orders\",kind=\"failed\"} 3\n",
            "breakerbox_calls{breaker=\"orders\",kind=\"ignored\"} 4\n",
            "breakerbox_unguarded_calls{} 5\n",
            "envoy_time_bucket{le=\"0.5\"} 1.5\n",
        ));
        assert_eq!(metrics.sum("breakerbox_calls", &[("breaker", "a.b/c, \"d\\")]), 12);
        assert_eq!(metrics.sum("breakerbox_calls", &[("breaker", "orders")]), 7);
        let failed = [("breaker", "orders"), ("kind", "failed")];
        assert_eq!(metrics.sum("breakerbox_calls", &failed), 3);
        assert_eq!(metrics.sum("breakerbox_unguarded_calls", &[]), 5);
        assert_eq!(metrics.matching("envoy_time_bucket", &[]).count(), 0);
    }
}
