use alloc::format;
use alloc::string::{String, ToString as _};

use breakerbox_core::{Backoff, HalfOpenPolicy, Hundredths, Rules, Settings, WindowType};
use serde_json::Number;

use crate::json::Json;
use crate::keys::{BACKOFF_KEYS, KEYS};
use crate::report::Report;
use crate::table::{At, Table};
use crate::value::hundredths;
use crate::{Code, Problem, Problems};

/// Reads one breaker's settings, a JSON object of the keys in [`KEYS`](crate::KEYS). Keys that are missing have
/// the value they have in `base`.
///
/// # Errors
/// Everything that is wrong, at once.
pub fn settings(json: &str, base: &Settings) -> Result<Rules, Problems> {
    let mut report = Report::default();
    let rules = parse(json, &mut report).and_then(|value| {
        let at = At { path: String::new(), limits: "an object of settings", value: &value };
        let table = at.table(&[KEYS], &mut report)?;
        let settings = read_settings(&table, base, &mut report);
        check("", &settings, None, &mut report)
    });
    report.finish(rules).map(|(rules, _)| rules)
}

/// Reads one number with decimals, that of the setting at `path`, for hosts whose settings are no JSON.
///
/// # Errors
/// It has too many decimals, or is far outside every limit; the key's own limits are for [`Rules::new`] to check.
pub fn decimal(path: &str, value: f64) -> Result<Hundredths, Problem> {
    let name = path.rsplit('.').next().unwrap_or_default();
    let limits = KEYS.iter().chain(BACKOFF_KEYS).find(|key| key.name == name).map_or("", |key| key.limits);
    hundredths(value).map_err(|(code, why)| {
        // What no JSON number can be is written by a name.
        let name = if value.is_nan() { "NaN" } else { "infinity" };
        let value = Number::from_f64(value).map_or_else(|| name.into(), |number| number.to_string());
        Problem { path: path.into(), code, message: format!("{value} {why}: give {limits}") }
    })
}

/// The document, if it is JSON.
pub(crate) fn parse(json: &str, report: &mut Report) -> Option<Json> {
    Json::parse(json).map_err(|message| report.problem("", Code::BadJson, message)).ok()
}

/// The settings of `table`, with those of `base` where keys are missing or refused; limits are not yet checked.
pub(crate) fn read_settings(table: &Table<'_>, base: &Settings, report: &mut Report) -> Settings {
    let mut s = base.clone();
    table.read("window_type", window_type, report, &mut s.window_type);
    table.read("window_size", At::whole_number, report, &mut s.window_size);
    table.read("minimum_calls", At::whole_number, report, &mut s.minimum_calls);
    table.read("failure_rate_threshold", At::hundredths, report, &mut s.failure_rate_threshold);
    table.read("slow_call_duration", At::duration, report, &mut s.slow_call_duration);
    table.read("slow_call_rate_threshold", At::hundredths, report, &mut s.slow_call_rate_threshold);
    table.read("consecutive_failures", consecutive_failures, report, &mut s.consecutive_failures);
    table.read("wait_in_open", At::duration, report, &mut s.wait_in_open);
    let backoff = |at: &At<'_>, report: &mut Report| open_backoff(at, base.open_backoff, report);
    table.read("open_backoff", backoff, report, &mut s.open_backoff);
    table.read("open_jitter", At::hundredths, report, &mut s.open_jitter);
    table.read("half_open_calls", At::whole_number, report, &mut s.half_open_calls);
    table.read("half_open_policy", half_open_policy, report, &mut s.half_open_policy);
    table.read("max_wait_in_half_open", At::duration, report, &mut s.max_wait_in_half_open);
    table.read("enabled", At::boolean, report, &mut s.enabled);
    s
}

/// Checks the limits. Problems that `base` has as well are reported where `base` stands, not again here.
pub(crate) fn check(
    path: &str,
    settings: &Settings,
    base: Option<&Settings>,
    report: &mut Report,
) -> Option<Rules> {
    let found = match Rules::new(settings) {
        Ok(rules) => return Some(rules),
        Err(found) => found,
    };
    let inherited = base.and_then(|base| Rules::new(base).err()).unwrap_or_default();
    for problem in found.iter().filter(|problem| !inherited.contains(problem)) {
        let path = if path.is_empty() { problem.key.into() } else { format!("{path}.{}", problem.key) };
        report.problem(&path, problem.code.into(), format!("{} {}", problem.value, problem.remedy));
    }
    None
}

fn window_type(at: &At<'_>, report: &mut Report) -> Option<WindowType> {
    let choices = [WindowType::Count, WindowType::Time].map(|choice| (choice.name(), choice));
    at.choice(&choices, report)
}

fn half_open_policy(at: &At<'_>, report: &mut Report) -> Option<HalfOpenPolicy> {
    let choices =
        [HalfOpenPolicy::Rate, HalfOpenPolicy::AllMustSucceed].map(|choice| (choice.name(), choice));
    at.choice(&choices, report)
}

#[allow(clippy::option_option, reason = "the outer one says whether it was readable")]
fn consecutive_failures(at: &At<'_>, report: &mut Report) -> Option<Option<u32>> {
    if at.value.is_off() {
        return Some(None);
    }
    at.whole_number(report).map(Some)
}

#[allow(clippy::option_option, reason = "the outer one says whether it was readable")]
fn open_backoff(at: &At<'_>, base: Option<Backoff>, report: &mut Report) -> Option<Option<Backoff>> {
    if at.value.is_off() {
        return Some(None);
    }
    let table = at.table(&[BACKOFF_KEYS], report)?;
    for key in BACKOFF_KEYS {
        if base.is_none() && table.get(key.name).is_none() {
            let message = format!("is missing: give {}", key.limits);
            report.problem(&table.path_of(key.name), Code::MissingKey, message);
        }
    }
    let mut backoff = base.unwrap_or(Backoff { multiplier: Hundredths(100), max: Settings::MAX_DURATION });
    table.read("multiplier", At::hundredths, report, &mut backoff.multiplier);
    table.read("max", At::duration, report, &mut backoff.max);
    Some(Some(backoff))
}
