use std::collections::BTreeSet;

use breakerbox_config::{Code, KEYS, Oddity, Problem, SECTIONS, settings};
use breakerbox_core::Settings;

/// A settings object with one key.
fn object(key: &str, value: &str) -> String {
    let is_number = value.parse::<f64>().is_ok();
    let is_plain = is_number || value == "true";
    if is_plain { format!(r#"{{"{key}": {value}}}"#) } else { format!(r#"{{"{key}": "{value}"}}"#) }
}

#[test]
fn the_defaults_of_the_table_are_those_of_the_core() {
    // Everything differs from the defaults, so that a default which is read makes a difference.
    let other = r#"{
        "window_type": "time", "window_size": 5, "minimum_calls": 5, "failure_rate_threshold": 5,
        "slow_call_duration": "5s", "slow_call_rate_threshold": 5, "consecutive_failures": 5,
        "wait_in_open": "5s", "open_backoff": {"multiplier": 5, "max": "5h"}, "open_jitter": 0.5,
        "half_open_calls": 5, "half_open_policy": "all_must_succeed", "max_wait_in_half_open": "5s",
        "enabled": false
    }"#;
    let mut current = settings(other, &Settings::default()).unwrap().settings().clone();
    for key in KEYS {
        let default = key.default.split(';').next().unwrap();
        let next = settings(&object(key.name, default), &current).unwrap().settings().clone();
        assert_ne!(next, current, "{} is not read", key.name);
        current = next;
    }
    assert_eq!(current, Settings::default());
}

#[test]
fn every_key_of_the_table_is_known_where_it_belongs() {
    for section in SECTIONS {
        for key in section.keys {
            // A value that no key takes, so that every key is complained of, but not for being unknown.
            let inner = format!(r#"{{"{}": [[]]}}"#, key.name);
            let json = match section.place {
                "`open_backoff`" => format!(r#"{{"default": {{"open_backoff": {inner}}}}}"#),
                "`reject`" => format!(r#"{{"default": {{"reject": {inner}}}}}"#),
                "`fallback`" => format!(r#"{{"default": {{"fallback": {inner}}}}}"#),
                place if place.contains("top level") => inner,
                place if place.contains("default") => format!(r#"{{"default": {inner}}}"#),
                _ => format!(r#"{{"breakers": {{"x": {inner}}}}}"#),
            };
            let problems = breakerbox_config::filter(&json).expect_err(&json);
            let is_known =
                |problem: &Problem| problem.path.contains(key.name) && problem.code != Code::UnknownKey;
            assert!(problems.0.iter().any(is_known), "{json}: {problems}");
        }
    }
}

#[test]
fn names_of_codes_and_oddities_are_unique() {
    let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    let names: BTreeSet<_> = Oddity::ALL.iter().map(|oddity| oddity.name()).collect();
    assert_eq!(names.len(), Oddity::ALL.len());
}
