use breakerbox_config::Oddity::{self, *};
use breakerbox_config::filter;

use crate::accept;

/// The oddities of a default with these settings, each of which has to be warned of at this key.
#[track_caller]
fn oddities(settings: &str) -> Vec<Oddity> {
    accept(&format!(r#"{{"default": {settings}}}"#)).warnings.iter().map(|warning| warning.oddity).collect()
}

#[test]
fn usual_settings_are_not_warned_of() {
    assert_eq!(oddities("{}"), []);
    assert_eq!(oddities(r#"{"window_size": 10, "failure_rate_threshold": 1, "half_open_calls": 10}"#), []);
    assert_eq!(
        oddities(r#"{"slow_call_duration": "1s", "slow_call_rate_threshold": 80, "record_on": []}"#),
        []
    );
    assert_eq!(oddities(r#"{"open_backoff": {"multiplier": 2, "max": "5m"}}"#), []);
}

#[test]
fn each_oddity_is_warned_of() {
    for (settings, oddity) in [
        (r#"{"window_size": 10, "minimum_calls": 11}"#, MinimumAboveWindow),
        (r#"{"window_type": "time", "window_size": 10, "minimum_calls": 10001}"#, MinimumUnreachable),
        (r#"{"failure_rate_threshold": 0.5}"#, RateLooksLikeFraction),
        (r#"{"slow_call_duration": "1s", "slow_call_rate_threshold": 0.99}"#, RateLooksLikeFraction),
        (r#"{"slow_call_rate_threshold": 50}"#, SlowRateWithoutDuration),
        (r#"{"window_size": 5, "half_open_calls": 6}"#, ProbesAboveMinimum),
        (r#"{"max_wait_in_half_open": "0s"}"#, WaitsForEver),
        (r#"{"wait_in_open": "0s"}"#, OpensForNoTime),
        (r#"{"open_backoff": {"multiplier": 1, "max": "5m"}}"#, BackoffWithoutEffect),
        (r#"{"open_backoff": {"multiplier": 2, "max": "60s"}}"#, BackoffWithoutEffect),
        (r#"{"record_on": []}"#, NothingFails),
        (r#"{"record_on": ["5xx", "grpc:OK"]}"#, SuccessFails),
        (r#"{"record_on": ["100-200"]}"#, SuccessFails),
        (r#"{"slow_call_duration": "30ns"}"#, EveryCallSlow),
    ] {
        assert_eq!(oddities(settings), [oddity], "{settings}");
    }
}

#[test]
fn what_is_odd_is_said_beside_what_is_wrong() {
    let problems = filter(r#"{"pre": "route", "default": {"wait_in_open": "0s", "record_on": ["timout"]}}"#);
    let warnings: Vec<_> = problems.unwrap_err().warnings().iter().map(|warning| warning.oddity).collect();
    // A list whose entries are refused is no empty one.
    assert_eq!(warnings, [OpensForNoTime]);
}

#[test]
fn a_fraction_is_told_as_the_percentage_that_was_meant() {
    let config = accept(r#"{"breakers": {"orders": {"failure_rate_threshold": 0.5}}}"#);
    assert_eq!(
        config.warnings[0].to_string(),
        "breakers.orders.failure_rate_threshold: 0.50 is 0.50 percent; did you mean 50 (percent)? \
         [rate_looks_like_fraction]"
    );
}

#[test]
fn a_warning_is_given_where_the_setting_stands_and_not_where_it_is_inherited() {
    let config = accept(
        r#"{"default": {"wait_in_open": "0s"}, "configs": {"c": {"max_wait_in_half_open": "0s"}},
            "breakers": {"a": {}, "b": {"base": "c"}}}"#,
    );
    let paths: Vec<_> = config.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(paths, ["default.wait_in_open", "configs.c.max_wait_in_half_open"]);
}

#[test]
fn an_id_that_no_request_has_is_warned_of_with_the_one_that_was_meant() {
    for (per, id, why) in [
        ("path_prefix:1", "orders", r#"`path_prefix:1` makes "/orders" of it: write that"#),
        ("path_prefix:1", "orders/7", r#"`path_prefix:1` makes "/orders" of it: write that"#),
        ("path_prefix:2", "orders/*", r#"`path_prefix:2` makes "/orders/*" of it: write that"#),
        ("path_prefix:1", "/orders/7", r#"`path_prefix:1` makes "/orders" of it: write that"#),
        ("path_prefix:2", "/orders/", r#"`path_prefix:2` makes "/orders" of it: write that"#),
        ("host", "Shop.example", r#"hosts are in lower case here: write "shop.example""#),
        ("host", "*.Example", r#"hosts are in lower case here: write "*.example""#),
        ("fixed:all", "orders", r#"all requests have the id "all": write that"#),
        ("fixed:all", "b*", r#"all requests have the id "all": write that"#),
    ] {
        let config = accept(&format!(r#"{{"per": "{per}", "breakers": {{"{id}": {{}}}}}}"#));
        let [warning] = config.warnings.as_slice() else { panic!("{per} {id}: {:?}", config.warnings) };
        assert_eq!(
            (warning.oddity, &*warning.message),
            (UnmatchedId, &*format!("no request has this id: {why}"))
        );
    }
    for (per, id) in [
        ("path_prefix:1", "/orders"),
        ("path_prefix:1", "/"),
        ("path_prefix:2", "/orders"),
        ("path_prefix:1", "*ders"),
        ("path_prefix:1", "/a/*"),
        ("host", "shop.example:80"),
        ("fixed:all", "all"),
        ("fixed:all", "a*"),
        ("header:x-tenant", "Acme"),
        ("route", "Orders"),
    ] {
        let config = accept(&format!(r#"{{"per": "{per}", "breakers": {{"{id}": {{}}}}}}"#));
        assert_eq!(config.warnings, [], "{per} {id}");
    }
    let shared = r#"{"per": "path_prefix:1", "breakers": {"/a": {"breaker": "shop"}, "shop": {}}}"#;
    assert_eq!(accept(shared).warnings, []);
}

#[test]
fn a_configuration_that_nothing_leads_to_is_warned_of() {
    let config = accept(
        r#"{"configs": {"a": {}, "b": {"base": "a"}, "c": {"base": "a"}}, "breakers": {"x": {"base": "b"}}}"#,
    );
    let lines: Vec<_> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(lines, ["configs.c: is not used: no `base` in `breakers` leads to it [unused_config]"]);
}
