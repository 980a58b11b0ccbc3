use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::header::parse_name;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::table::At;
use crate::text::quoted;
use crate::value::check_name;
use crate::{Code, Pattern};

/// The most segments of a path that can make an id.
const MOST_SEGMENTS: u8 = 16;

/// What has a breaker of its own: where the id of a request's breaker comes from. Displayed it is as in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The name of the route that the proxy chose.
    #[default]
    Route,
    /// The name of the cluster that the route leads to.
    Cluster,
    /// The name of the virtual host that the route is of.
    VirtualHost,
    /// The request's authority.
    Host,
    /// The address of the upstream's host that the attempt goes to; for filters in the upstream's chain.
    UpstreamHost,
    /// The value of this request header, its name in lower case.
    Header(String),
    /// This many leading segments of the request's path, 1 to 16.
    PathPrefix(u8),
    /// This id for all requests.
    Fixed(String),
}

const NAMES: [(&str, Per); 5] = [
    ("route", Per::Route),
    ("cluster", Per::Cluster),
    ("virtual_host", Per::VirtualHost),
    ("host", Per::Host),
    ("upstream_host", Per::UpstreamHost),
];

impl Per {
    pub(crate) fn read(at: &At<'_>, report: &mut Report) -> Option<Self> {
        let text = at.text(report)?;
        if let Some((_, per)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Some(per.clone());
        }
        if let Some((kind, argument)) = text.split_once(':') {
            match kind {
                "header" => return parse_name(argument, &at.path, report).map(Self::Header),
                "path_prefix" => return segments(argument, at, report).map(Self::PathPrefix),
                "fixed" => {
                    return check_name(argument, &at.path, report).then(|| Self::Fixed(argument.into()));
                }
                _ => {}
            }
        }
        let kind = text.split(':').next().unwrap_or_default();
        let with_argument = ["header:NAME", "path_prefix:N", "fixed:NAME"];
        let hint = match with_argument.iter().find(|form| form.split(':').next() == Some(kind)) {
            Some(form) => format!("; write `{form}`"),
            None => did_you_mean(text, NAMES.iter().map(|(name, _)| *name)),
        };
        let message = format!("{} is not known: give {}{hint}", at.value, at.limits);
        report.problem(&at.path, Code::UnknownValue, message);
        None
    }
}

impl Per {
    /// Why no request has an id that this is or covers, if that is so; with what to write instead.
    pub(crate) fn excludes(&self, id: &str) -> Option<String> {
        let pattern = Pattern::new(id);
        match self {
            Self::Host if id.contains(|c: char| c.is_ascii_uppercase()) => {
                Some(format!("hosts are in lower case here: write {}", quoted(&id.to_ascii_lowercase())))
            }
            Self::PathPrefix(segments) => {
                let path = if id.starts_with(['/', '*']) { id.into() } else { format!("/{id}") };
                // How many segments a `*` stands for is not known.
                let prefix =
                    if pattern.is_none() { path_prefix(path.as_bytes(), *segments) } else { path.as_bytes() };
                let prefix = str::from_utf8(prefix).ok().filter(|prefix| *prefix != id)?;
                Some(format!("`{self}` makes {} of it: write that", quoted(prefix)))
            }
            Self::Fixed(fixed) if id != fixed && !pattern.is_some_and(|pattern| pattern.matches(fixed)) => {
                Some(format!("all requests have the id {}: write that", quoted(fixed)))
            }
            _ => None,
        }
    }
}

fn segments(text: &str, at: &At<'_>, report: &mut Report) -> Option<u8> {
    let segments = text.parse().ok().filter(|segments| (1..=MOST_SEGMENTS).contains(segments));
    if segments.is_none() {
        let message =
            format!("{} is out of range: give path_prefix:1 to path_prefix:{MOST_SEGMENTS}", at.value);
        report.problem(&at.path, Code::OutOfRange, message);
    }
    segments
}

/// The first `segments` segments of a request's path, without its query and without a slash at the end: of
/// `/shop/carts/7?all` the first two are `/shop/carts`, and so are all three of `/shop/carts/`.
pub fn path_prefix(path: &[u8], segments: u8) -> &[u8] {
    let path = path.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    let ends = path.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let end = ends.chain([path.len()]).nth(usize::from(segments.saturating_sub(1))).unwrap_or(path.len());
    let mut prefix = path.get(..end).unwrap_or_default();
    while let [rest @ .., b'/'] = prefix
        && !rest.is_empty()
    {
        prefix = rest;
    }
    prefix
}

impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header:{name}"),
            Self::PathPrefix(segments) => write!(f, "path_prefix:{segments}"),
            Self::Fixed(id) => write!(f, "fixed:{id}"),
            _ => {
                let name = NAMES.iter().find(|(_, per)| per == self).map_or("", |(name, _)| *name);
                f.write_str(name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::path_prefix;

    #[test]
    fn a_prefix_is_whole_segments_without_query_or_slash_at_the_end() {
        for (path, segments, prefix) in [
            ("/shop/carts/7?all=/x", 1, "/shop"),
            ("/shop/carts/7?all=/x", 2, "/shop/carts"),
            ("/shop/carts/7?all=/x", 3, "/shop/carts/7"),
            ("/shop/carts/7?all=/x", 16, "/shop/carts/7"),
            ("/shop/carts/", 2, "/shop/carts"),
            ("/shop/carts/", 3, "/shop/carts"),
            ("/shop?x", 2, "/shop"),
            ("/", 1, "/"),
            ("//", 2, "/"),
            ("/?x", 1, "/"),
            ("*", 1, "*"),
            ("", 1, ""),
        ] {
            assert_eq!(path_prefix(path.as_bytes(), segments), prefix.as_bytes(), "{path} {segments}");
        }
    }
}
