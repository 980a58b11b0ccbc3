use alloc::format;
use core::time::Duration;

use breakerbox_core::Settings;

use crate::Code;
use crate::report::Report;
use crate::table::At;

/// The units from the longest to the shortest, with their nanoseconds. `ms` stands before `m` and `s` in no
/// text: a unit is all the letters that follow a number.
const UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Why a text is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A number without a unit.
    NoUnit,
    /// Longer than any duration of this crate.
    TooLong,
    /// A part of a nanosecond.
    TooFine,
    /// Anything else.
    Malformed,
}

impl Fault {
    pub(crate) fn report(self, at: &At<'_>, text: &str, report: &mut Report) {
        match self {
            Self::NoUnit => match read(&format!("{text}s")) {
                Ok(_) => {
                    let message = format!("{} has no unit: write \"{text}s\" for seconds", at.value);
                    report.problem(&at.path, Code::BadDuration, message);
                }
                Err(fault) => fault.report(at, text, report),
            },
            Self::TooLong => at.refuse(Code::OutOfRange, "is out of range", report),
            Self::TooFine => at.refuse(Code::BadDuration, "is finer than a nanosecond", report),
            Self::Malformed => at.refuse(Code::BadDuration, "is not a duration", report),
        }
    }
}

/// A duration of those that any key takes.
pub(crate) fn read(text: &str) -> Result<Duration, Fault> {
    parse(text).and_then(
        |duration| {
            if duration <= Settings::MAX_DURATION { Ok(duration) } else { Err(Fault::TooLong) }
        },
    )
}

/// A duration such as `250ms`, `1.5s` or `1m30s`: numbers with their units, from the longest unit to the
/// shortest.
fn parse(text: &str) -> Result<Duration, Fault> {
    let mut rest = text;
    let mut units = UNITS.as_slice();
    let mut nanos: u128 = 0;
    loop {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after, |c| c.is_ascii_alphabetic());
        if number.is_empty() || (unit.is_empty() && !(rest == text && after.is_empty())) {
            return Err(Fault::Malformed);
        }
        if unit.is_empty() {
            return Err(Fault::NoUnit);
        }
        let (length, shorter) = take_unit(units, unit).ok_or(Fault::Malformed)?;
        nanos = nanos.saturating_add(scaled(number, length)?);
        if after.is_empty() {
            break;
        }
        units = shorter;
        rest = after;
    }
    u64::try_from(nanos).map(Duration::from_nanos).map_err(|_| Fault::TooLong)
}

fn split(text: &str, is_first: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !is_first(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn take_unit<'a>(units: &'a [(&str, u128)], unit: &str) -> Option<(u128, &'a [(&'a str, u128)])> {
    let at = units.iter().position(|(name, _)| *name == unit)?;
    let (_, length) = units.get(at)?;
    Some((*length, units.get(at.checked_add(1)?..)?))
}

/// The decimal `number` times `length`.
fn scaled(number: &str, length: u128) -> Result<u128, Fault> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.contains('.') {
        return Err(Fault::Malformed);
    }
    let whole: u64 = whole.parse().map_err(|_| Fault::TooLong)?;
    let mut nanos = u128::from(whole).saturating_mul(length);
    let mut share = length;
    for digit in part.trim_end_matches('0').bytes() {
        if !share.is_multiple_of(10) {
            return Err(Fault::TooFine);
        }
        share /= 10;
        nanos = nanos.saturating_add(share.saturating_mul(u128::from(digit.saturating_sub(b'0'))));
    }
    Ok(nanos)
}

#[cfg(test)]
mod tests {
    use super::{Fault, parse};
    use core::time::Duration;

    #[test]
    fn each_unit_has_its_length() {
        for (text, nanos) in [
            ("7ns", 7),
            ("7us", 7_000),
            ("250ms", 250_000_000),
            ("30s", 30_000_000_000),
            ("5m", 300_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0s", 0),
            ("1.5s", 1_500_000_000),
            ("0.25ms", 250_000),
            ("1.50h", 5_400_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1h0.5s250ms", 3_600_750_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_says_why() {
        for text in
            ["", "s", "-1s", "1 s", " 1s", "1s ", "1d", "1.s", ".5s", "1..5s", "1s1s", "1s1m", "1s2", "١s"]
        {
            assert_eq!(parse(text), Err(Fault::Malformed), "{text:?}");
        }
        assert_eq!(parse("30"), Err(Fault::NoUnit));
        assert_eq!(parse("1.5ns"), Err(Fault::TooFine));
        assert_eq!(parse("0.0000000001s"), Err(Fault::TooFine));
        assert_eq!(parse("99999999999999999999999s"), Err(Fault::TooLong));
        assert_eq!(parse("9999999999h"), Err(Fault::TooLong));
    }
}
