use std::time::Duration;

use breakerbox_config::settings;
use breakerbox_core::{Backoff, HalfOpenPolicy, Hundredths, Settings, WindowType};

use crate::lines;

#[track_caller]
fn read(json: &str) -> Settings {
    let rules = settings(json, &Settings::default());
    rules.unwrap_or_else(|problems| panic!("refused: {problems}\n{json}")).settings().clone()
}

#[track_caller]
fn refuse(json: &str) -> Vec<String> {
    match settings(json, &Settings::default()) {
        Ok(rules) => panic!("accepted: {rules:?}"),
        Err(problems) => lines(&problems),
    }
}

#[test]
fn no_keys_are_the_defaults() {
    assert_eq!(read("{}"), Settings::default());
}

#[test]
fn every_key_is_read() {
    let json = r#"{
        "window_type": "time",
        "window_size": 60,
        "minimum_calls": 20,
        "failure_rate_threshold": 33.33,
        "slow_call_duration": "250ms",
        "slow_call_rate_threshold": 80.5,
        "consecutive_failures": 7,
        "wait_in_open": "30s",
        "open_backoff": {"multiplier": 1.5, "max": "5m"},
        "open_jitter": 0.25,
        "half_open_calls": 3,
        "half_open_policy": "all_must_succeed",
        "max_wait_in_half_open": "1h",
        "enabled": false
    }"#;
    let expected = Settings {
        window_type: WindowType::Time,
        window_size: 60,
        minimum_calls: 20,
        failure_rate_threshold: Hundredths(3333),
        slow_call_duration: Duration::from_millis(250),
        slow_call_rate_threshold: Hundredths(8050),
        consecutive_failures: Some(7),
        wait_in_open: Duration::from_secs(30),
        open_backoff: Some(Backoff { multiplier: Hundredths(150), max: Duration::from_mins(5) }),
        open_jitter: Hundredths(25),
        half_open_calls: 3,
        half_open_policy: HalfOpenPolicy::AllMustSucceed,
        max_wait_in_half_open: Duration::from_hours(1),
        enabled: false,
    };
    assert_eq!(read(json), expected);
}

#[test]
fn keys_may_be_kebab_case_or_camel_case() {
    let expected = Settings { window_size: 5, half_open_calls: 2, ..Settings::default() };
    assert_eq!(read(r#"{"window-size": 5, "half-open-calls": 2}"#), expected);
    assert_eq!(read(r#"{"windowSize": 5, "halfOpenCalls": 2}"#), expected);
}

#[test]
fn missing_keys_are_as_in_the_base() {
    let base = Settings {
        window_size: 7,
        open_backoff: Some(Backoff { multiplier: Hundredths(300), max: Duration::from_hours(1) }),
        ..Settings::default()
    };
    let rules = settings(r#"{"half_open_calls": 2, "open_backoff": {"max": "2h"}}"#, &base).unwrap();
    assert_eq!(rules.settings().window_size, 7);
    assert_eq!(rules.settings().half_open_calls, 2);
    let backoff = Backoff { multiplier: Hundredths(300), max: Duration::from_hours(2) };
    assert_eq!(rules.settings().open_backoff, Some(backoff));
}

#[test]
fn what_can_be_off_is_off_by_name_by_null_and_by_yamls_idea_of_off() {
    let backoff = Backoff { multiplier: Hundredths(300), max: Duration::from_hours(1) };
    let base = Settings { consecutive_failures: Some(3), open_backoff: Some(backoff), ..Settings::default() };
    for off in [r#""off""#, "null", "false"] {
        let json = format!(r#"{{"consecutive_failures": {off}, "open_backoff": {off}}}"#);
        assert_eq!(settings(&json, &base).unwrap().settings(), &Settings::default(), "{off}");
    }
}

#[test]
fn a_whole_number_may_be_a_double() {
    assert_eq!(read(r#"{"window_size": 20.0, "minimum_calls": 2e1}"#).window_size, 20);
    assert_eq!(
        refuse(r#"{"window_size": 20.5}"#),
        ["window_size: 20.5 is not a whole number: give 1 to 10000 calls, or 1 to 600 seconds [bad_number]"]
    );
}

#[test]
fn booleans_may_be_in_quotes() {
    assert!(!read(r#"{"enabled": "false"}"#).enabled);
    assert!(read(r#"{"enabled": "true"}"#).enabled);
    assert_eq!(
        refuse(r#"{"enabled": "yes"}"#),
        [r#"enabled: "yes" is neither true nor false: give true or false [unknown_value]"#]
    );
}

#[test]
fn an_unknown_key_is_refused_with_the_one_that_was_meant() {
    assert_eq!(
        refuse(r#"{"windw_size": 1, "slidingWindowType": "count", "colour": 1}"#),
        [
            "windw_size: unknown key; did you mean `window_size`? [unknown_key]",
            "slidingWindowType: unknown key; did you mean `window_type`? [unknown_key]",
            "colour: unknown key; leave it out, or give one of docs/settings.md [unknown_key]",
        ]
    );
}

#[test]
fn a_part_of_a_key_is_refused_with_the_keys_that_have_it() {
    for (key, meant) in [
        ("failure_rate", "`failure_rate_threshold`"),
        ("failureRate", "`failure_rate_threshold`"),
        ("window", "`window_type` or `window_size`"),
        ("windw", "`window_type` or `window_size`"),
        ("wait", "`wait_in_open` or `max_wait_in_half_open`"),
        ("threshold", "`failure_rate_threshold` or `slow_call_rate_threshold`"),
        ("consecutive_5xx", "`consecutive_failures`"),
        ("half_open", "`half_open_calls` or `half_open_policy` or `max_wait_in_half_open`"),
    ] {
        assert_eq!(
            refuse(&format!(r#"{{"{key}": 1}}"#)),
            [format!("{key}: unknown key; did you mean {meant}? [unknown_key]")]
        );
    }
}

#[test]
fn a_key_given_twice_is_refused_in_whatever_spelling() {
    assert_eq!(
        refuse(r#"{"window_size": 5, "windowSize": 5, "enabled": true, "enabled": true}"#),
        [
            r#"windowSize: is given as "window_size" too: leave one of them out [duplicate_key]"#,
            "enabled: is given twice: leave one of them out [duplicate_key]",
        ]
    );
}

#[test]
fn durations_need_a_unit() {
    assert_eq!(
        refuse(r#"{"wait_in_open": 30, "slow_call_duration": "2.5", "max_wait_in_half_open": "soon"}"#),
        [
            r#"slow_call_duration: "2.5" has no unit: write "2.5s" for seconds [bad_duration]"#,
            r#"wait_in_open: 30 has no unit: write "30s" for seconds [bad_duration]"#,
            "max_wait_in_half_open: \"soon\" is not a duration: give a duration up to 8760h in h, m, s, ms, us or ns, \
             such as 250ms, 1.5s or 1m30s [bad_duration]",
        ]
    );
}

#[test]
fn a_duration_that_a_unit_would_not_mend_is_refused_with_what_would() {
    let give = "give a duration up to 8760h in h, m, s, ms, us or ns, such as 250ms, 1.5s or 1m30s";
    for value in ["-5", "1e+300", r#""15 s""#, r#""15sec""#, r#""2S""#, r#""1d""#] {
        assert_eq!(
            refuse(&format!(r#"{{"wait_in_open": {value}}}"#)),
            [format!("wait_in_open: {value} is not a duration: {give} [bad_duration]")]
        );
    }
    for value in ["31536001", r#""31536001""#, r#""8761h""#] {
        assert_eq!(
            refuse(&format!(r#"{{"wait_in_open": {value}}}"#)),
            [format!("wait_in_open: {value} is out of range: {give} [out_of_range]")]
        );
    }
    assert_eq!(read(r#"{"wait_in_open": "8760h"}"#).wait_in_open, Settings::MAX_DURATION);
}

#[test]
fn values_of_another_type_are_refused() {
    assert_eq!(
        refuse(
            r#"{"window_size": "20", "failure_rate_threshold": "50%", "open_backoff": 2, "window_type": 1}"#
        ),
        [
            "window_type: 1 is not a text in quotes: give count or time [wrong_type]",
            r#"window_size: "20" is not a number: give 1 to 10000 calls, or 1 to 600 seconds [wrong_type]"#,
            "failure_rate_threshold: \"50%\" is not a number: give a percentage above 0, up to 100, with at most \
             two decimals [wrong_type]",
            "open_backoff: 2 is not an object: give an object {multiplier, max}, or off [wrong_type]",
        ]
    );
    assert_eq!(refuse("[]"), ["a list is not an object: give an object of settings [wrong_type]"]);
}

#[test]
fn names_are_refused_with_the_one_that_was_meant() {
    assert_eq!(
        refuse(r#"{"window_type": "cuont", "half_open_policy": "any"}"#),
        [
            "window_type: \"cuont\" is not known: give count or time; did you mean `count`? [unknown_value]",
            "half_open_policy: \"any\" is not known: give rate or all_must_succeed [unknown_value]",
        ]
    );
}

#[test]
fn a_backoff_needs_both_its_keys() {
    assert_eq!(
        refuse(r#"{"open_backoff": {"multiplier": 2}}"#),
        [
            "open_backoff.max: is missing: give a duration from wait_in_open up to 8760h, such as 5m [missing_key]"
        ]
    );
    assert_eq!(
        refuse(r#"{"open_backoff": {"multiplier": 0.5, "max": "1s"}}"#),
        [
            "open_backoff.multiplier: 0.50 is out of range: give 1.00 to 100.00 [out_of_range]",
            "open_backoff.max: 1s is below wait_in_open: give at least 60s [conflict]",
        ]
    );
}

#[test]
fn limits_are_checked_and_all_problems_come_at_once() {
    assert_eq!(
        refuse(
            r#"{"window_size": 0, "half_open_calls": -1, "failure_rate_threshold": 100.01, "open_jitter": 0.001}"#
        ),
        [
            "open_jitter: 0.001 has more than two decimals: give 0 to 1, with at most two decimals [bad_number]",
            "half_open_calls: -1 is out of range: give 1 to 1000 [out_of_range]",
            "window_size: 0 is out of range: give 1 to 10000 calls [out_of_range]",
            "failure_rate_threshold: 100.01 is out of range: give a percentage above 0, up to 100 [out_of_range]",
        ]
    );
}

#[test]
fn long_values_are_shortened_in_messages() {
    let line = &refuse(&format!(r#"{{"window_type": "{}"}}"#, "x".repeat(10_000)))[0];
    assert!(line.len() < 200, "{line}");
    let line = &refuse(&format!(r#"{{"{}": 1}}"#, "x".repeat(10_000)))[0];
    assert!(line.len() < 200, "{line}");
}

#[test]
fn what_is_not_json_says_where() {
    assert_eq!(
        refuse("{\n  \"window_size\": }"),
        ["the configuration is not JSON: expected value at line 2 column 18 [bad_json]"]
    );
}

#[test]
fn what_is_nearly_json_is_told_what_json_is() {
    let yaml = "; write JSON, {\"KEY\": VALUE}, with texts in double quotes; YAML is not read [bad_json]";
    let comment = "; JSON has no comments: leave them out [bad_json]";
    let quotes = "; write keys and texts in double quotes [bad_json]";
    for (text, end) in [
        ("window_size: 5", yaml),
        ("true: 5\nno: x", ""),
        ("static_resources:\n  listeners: []", yaml),
        ("---\nwindow_size: 5", yaml),
        ("{window_size: 5}", yaml),
        ("{\"window_type\": count}", yaml),
        ("# mine\n{}", comment),
        ("// mine\n{}", comment),
        ("{\n  /* mine */ \"window_size\": 5}", comment),
        ("{'window_size': 5}", quotes),
        ("{\"window_type\": 'count'}", quotes),
        ("\u{feff}{}", "; leave the byte order mark out [bad_json]"),
    ] {
        let lines = refuse(text);
        assert!(
            lines.len() == 1 && lines[0].contains(" at line ") && lines[0].ends_with(end),
            "{text}: {lines:?}"
        );
    }
}
