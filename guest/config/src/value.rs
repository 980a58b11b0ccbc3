use alloc::format;
use alloc::string::ToString as _;
use core::ops::RangeInclusive;
use core::time::Duration;

use breakerbox_core::Hundredths;

use crate::duration::{self, Fault};
use crate::json::Json;
use crate::report::Report;
use crate::suggest::did_you_mean;
use crate::table::At;
use crate::text::quoted;
use crate::{Code, MAX_ID_BYTES};

impl<'a> At<'a> {
    /// `true` or `false`, also in quotes.
    pub(crate) fn boolean(&self, report: &mut Report) -> Option<bool> {
        match self.value {
            Json::Bool(value) => return Some(*value),
            Json::String(text) if text == "true" => return Some(true),
            Json::String(text) if text == "false" => return Some(false),
            Json::String(_) => self.refuse(Code::UnknownValue, "is neither true nor false", report),
            _ => self.refuse(Code::WrongType, "is neither true nor false", report),
        }
        None
    }

    /// A whole number. Envoy makes a double of every number, so `20.0` is one as well.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn whole_number(&self, report: &mut Report) -> Option<u32> {
        let Json::Number(number) = self.value else {
            self.refuse(Code::WrongType, "is not a number", report);
            return None;
        };
        let value = number.as_f64().unwrap_or(f64::NAN);
        if !(0.0..=f64::from(u32::MAX)).contains(&value) {
            self.refuse(Code::OutOfRange, "is out of range", report);
            return None;
        }
        let whole = value as u32;
        // Exact: every u32 is a double.
        if (f64::from(whole) - value).abs() > 0.0 {
            self.refuse(Code::BadNumber, "is not a whole number", report);
            return None;
        }
        Some(whole)
    }

    /// A whole number within limits.
    pub(crate) fn number_in(&self, range: RangeInclusive<u32>, report: &mut Report) -> Option<u32> {
        let number = self.whole_number(report)?;
        if !range.contains(&number) {
            self.refuse(Code::OutOfRange, "is out of range", report);
            return None;
        }
        Some(number)
    }

    /// A number with at most two decimals.
    pub(crate) fn hundredths(&self, report: &mut Report) -> Option<Hundredths> {
        let Json::Number(number) = self.value else {
            self.refuse(Code::WrongType, "is not a number", report);
            return None;
        };
        let read = hundredths(number.as_f64().unwrap_or(f64::NAN));
        read.map_err(|(code, why)| self.refuse(code, why, report)).ok()
    }

    /// A duration with its unit.
    pub(crate) fn duration(&self, report: &mut Report) -> Option<Duration> {
        match self.value {
            Json::String(text) => match duration::read(text) {
                Ok(duration) => return Some(duration),
                Err(fault) => fault.report(self, text, report),
            },
            Json::Number(number) => Fault::NoUnit.report(self, &number.to_string(), report),
            _ => self.refuse(Code::WrongType, "is not a duration", report),
        }
        None
    }

    /// A text.
    pub(crate) fn text(&self, report: &mut Report) -> Option<&'a str> {
        if let Json::String(text) = self.value {
            return Some(text);
        }
        self.refuse(Code::WrongType, "is not a text in quotes", report);
        None
    }

    /// A name of a breaker, a header and the like: 1 to [`MAX_ID_BYTES`] bytes, none of them control characters.
    pub(crate) fn name(&self, report: &mut Report) -> Option<&'a str> {
        let name = self.text(report)?;
        check_name(name, &self.path, report).then_some(name)
    }

    /// One of the names in `choices`.
    pub(crate) fn choice<T: Copy>(&self, choices: &[(&str, T)], report: &mut Report) -> Option<T> {
        let text = self.text(report)?;
        let chosen = choices.iter().find(|(name, _)| *name == text);
        if chosen.is_none() {
            let hint = did_you_mean(text, choices.iter().map(|(name, _)| *name));
            let message = format!("{} is not known: give {}{hint}", self.value, self.limits);
            report.problem(&self.path, Code::UnknownValue, message);
        }
        chosen.map(|(_, value)| *value)
    }
}

/// A number with at most two decimals, or what is wrong with it.
pub(crate) fn hundredths(value: f64) -> Result<Hundredths, (Code, &'static str)> {
    Hundredths::from_f64(value).ok_or(match value {
        0.0..=10_000_000.0 => (Code::BadNumber, "has more than two decimals"),
        _ if value.is_nan() => (Code::BadNumber, "is not a number"),
        _ => (Code::OutOfRange, "is out of range"),
    })
}

/// Whether a text can be a name; if not, that is reported.
pub(crate) fn check_name(name: &str, path: &str, report: &mut Report) -> bool {
    let is_name = !name.is_empty() && name.len() <= MAX_ID_BYTES && !name.chars().any(char::is_control);
    if !is_name {
        let message = format!(
            "{} is not a name: give 1 to {MAX_ID_BYTES} bytes without control characters",
            quoted(name)
        );
        report.problem(path, Code::BadName, message);
    }
    is_name
}
