use alloc::format;
use alloc::vec::Vec;

use crate::header::Header;
use crate::json::Json;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::table::At;
use crate::{Cause, Code, GrpcStatus};

/// Entries that one list may have.
const MOST_ENTRIES: usize = 256;
/// Entries of one list that may look at headers: each different name costs every response a look-up.
const MOST_HEADERS: usize = 16;

const LOWEST_STATUS: u16 = 100;
const HIGHEST_STATUS: u16 = 599;

/// A compiled `record_on` or `ignore_on`: asking costs the same however long the list was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Matches {
    /// One bit a status, the lowest for 100.
    statuses: [u64; 8],
    grpc: u32,
    causes: u8,
    headers: Vec<Header>,
}

impl Matches {
    pub(crate) fn new(statuses: &[(u16, u16)], grpc: &[GrpcStatus], causes: &[Cause]) -> Self {
        let mut matches = Self::default();
        for (first, last) in statuses {
            matches.add_statuses(*first, *last);
        }
        matches.grpc = grpc.iter().fold(0, |bits, status| bits | grpc_bit(*status));
        matches.causes = causes.iter().fold(0, |bits, cause| bits | cause.bit());
        matches
    }

    pub(crate) fn has_status(&self, status: u16) -> bool {
        let place = place_of(status).and_then(|(word, bit)| Some((self.statuses.get(word)?, bit)));
        place.is_some_and(|(word, bit)| word & bit != 0)
    }

    pub(crate) fn has_grpc(&self, status: GrpcStatus) -> bool {
        self.grpc & grpc_bit(status) != 0
    }

    pub(crate) fn has_cause(&self, cause: Cause) -> bool {
        self.causes & cause.bit() != 0
    }

    pub(crate) fn has_header(&self, name: &str, value: &[u8]) -> bool {
        let is_it =
            |header: &Header| header.name().eq_ignore_ascii_case(name) && header.value().as_bytes() == value;
        self.headers.iter().any(is_it)
    }

    pub(crate) fn headers(&self) -> &[Header] {
        &self.headers
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn read(at: &At<'_>, report: &mut Report) -> Option<Self> {
        let items = at.items("a status, a cause, grpc:STATUS or header:NAME=VALUE", report)?;
        if !at.limit(items.len(), MOST_ENTRIES, report) {
            return None;
        }
        let mut matches = Self::default();
        let mut all_read = true;
        for item in items {
            all_read &= matches.add(&item, report).is_some();
        }
        if matches.headers.len() > MOST_HEADERS {
            let count = matches.headers.len();
            let message =
                format!("{count} entries that look at headers are too many: give at most {MOST_HEADERS}");
            report.problem(&at.path, Code::TooMany, message);
        }
        all_read.then_some(matches)
    }

    fn add(&mut self, at: &At<'_>, report: &mut Report) -> Option<()> {
        if let Json::Number(_) = at.value {
            let range = u32::from(LOWEST_STATUS)..=u32::from(HIGHEST_STATUS);
            let status = u16::try_from(at.number_in(range, report)?).ok()?;
            self.add_statuses(status, status);
            return Some(());
        }
        let text = at.text(report)?;
        if let Some(status) = text.strip_prefix("grpc:") {
            let limits = "a name such as grpc:UNAVAILABLE, or its number, 0 to 16";
            self.grpc |= grpc_bit(GrpcStatus::parse(status, limits, at, report)?);
        } else if let Some(header) = text.strip_prefix("header:") {
            self.headers.push(Header::parse(header, at, report)?);
        } else if let Some(cause) = Cause::ALL.iter().find(|cause| cause.name() == text) {
            self.causes |= cause.bit();
        } else if text.starts_with(|c: char| c.is_ascii_digit()) {
            let (first, last) = read_statuses(text, at, report)?;
            self.add_statuses(first, last);
        } else {
            let hint = did_you_mean(text, Cause::ALL.iter().map(|cause| cause.name()));
            let message = format!("{} is not known: give {}{hint}", at.value, at.limits);
            report.problem(&at.path, Code::UnknownValue, message);
            return None;
        }
        Some(())
    }

    fn add_statuses(&mut self, first: u16, last: u16) {
        for status in first..=last {
            let place = place_of(status);
            if let Some((word, bit)) = place.and_then(|(word, bit)| Some((self.statuses.get_mut(word)?, bit)))
            {
                *word |= bit;
            }
        }
    }
}

/// The word and the bit of a status.
fn place_of(status: u16) -> Option<(usize, u64)> {
    let nth = status.checked_sub(LOWEST_STATUS)?;
    Some((usize::from(nth / 64), 1 << (nth % 64)))
}

const fn grpc_bit(status: GrpcStatus) -> u32 {
    1 << status.code()
}

/// Statuses that stand in a list.
fn read_statuses(text: &str, at: &At<'_>, report: &mut Report) -> Option<(u16, u16)> {
    let statuses = parse_statuses(text);
    if statuses.is_none() {
        let reversed = text.split_once('-').map(|(last, first)| format!("{first}-{last}"));
        let message = match reversed.filter(|reversed| parse_statuses(reversed).is_some()) {
            Some(reversed) => format!("{} begins with the higher status: write \"{reversed}\"", at.value),
            None => format!(
                "{} is not a status: give {LOWEST_STATUS} to {HIGHEST_STATUS} as 503, 5xx or 500-504",
                at.value
            ),
        };
        report.problem(&at.path, Code::OutOfRange, message);
    }
    statuses
}

/// `503`, `5xx` or `500-504` as the first and the last status.
fn parse_statuses(text: &str) -> Option<(u16, u16)> {
    let (first, last) = if let Some(class) = text.strip_suffix("xx") {
        let hundreds = class.parse::<u16>().ok()?.checked_mul(100)?;
        (hundreds, hundreds.checked_add(99)?)
    } else if let Some((first, last)) = text.split_once('-') {
        (parse_status(first)?, parse_status(last)?)
    } else {
        let status = parse_status(text)?;
        (status, status)
    };
    (LOWEST_STATUS <= first && first <= last && last <= HIGHEST_STATUS).then_some((first, last))
}

fn parse_status(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{Matches, parse_statuses};

    #[test]
    fn statuses_are_given_alone_by_class_or_as_a_range() {
        assert_eq!(parse_statuses("503"), Some((503, 503)));
        assert_eq!(parse_statuses("5xx"), Some((500, 599)));
        assert_eq!(parse_statuses("500-504"), Some((500, 504)));
        for text in
            ["", "99", "600", "6xx", "0xx", "655xx", "504-500", "50x", "500-", "-504", "+503", "500-+504"]
        {
            assert_eq!(parse_statuses(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_set_holds_exactly_the_statuses_of_its_ranges() {
        let matches = Matches::new(&[(100, 100), (163, 164), (500, 599)], &[], &[]);
        for status in 0..=1000 {
            let expected = matches!(status, 100 | 163 | 164 | 500..=599);
            assert_eq!(matches.has_status(status), expected, "{status}");
        }
        assert!(!matches.has_status(u16::MAX));
    }
}
