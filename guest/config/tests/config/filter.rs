use std::time::Duration;

use breakerbox_config::{Mode, Moment, OnRejection, Outcomes, Per, Reject, Role, filter, filter_defaults};

use crate::{accept, refuse};

#[test]
fn no_text_is_the_default_configuration() {
    let config = accept("");
    assert_eq!(config, accept("{}"));
    assert_eq!(config, accept(" \n"));
    assert_eq!(config.per, Per::Route);
    assert_eq!(config.max_breakers, 1_000);
    assert_eq!(config.role, Role::Filter);
    assert!(config.breakers.is_empty());
    assert_eq!(config.warnings, []);
    let policy = config.policy_for("any");
    assert_eq!(policy.rules.settings(), &filter_defaults());
    assert_eq!(policy.rules.settings().max_wait_in_half_open, Duration::from_mins(1));
    assert_eq!(policy.outcomes, Outcomes::default());
    assert_eq!(policy.slow_call_timing, Moment::Headers);
    assert_eq!(policy.record_at, Moment::Complete);
    assert_eq!(policy.on_rejection, OnRejection::Reject(Reject::default()));
    assert_eq!(policy.mode, Mode::Enforce);
    assert_eq!(policy.breaker_of("any"), "any");
}

#[test]
fn a_breaker_can_be_per_anything_that_a_request_has() {
    for (text, per) in [
        ("route", Per::Route),
        ("cluster", Per::Cluster),
        ("virtual_host", Per::VirtualHost),
        ("host", Per::Host),
        ("upstream_host", Per::UpstreamHost),
        ("header:x-tenant", Per::Header("x-tenant".into())),
        ("path_prefix:2", Per::PathPrefix(2)),
        ("fixed:all of it", Per::Fixed("all of it".into())),
    ] {
        let config = accept(&format!(r#"{{"per": "{text}"}}"#));
        assert_eq!(config.per, per);
        assert_eq!(config.per.to_string(), text);
    }
    assert_eq!(accept(r#"{"per": "header:X-Tenant"}"#).per, Per::Header("x-tenant".into()));
}

#[test]
fn what_a_breaker_cannot_be_per_is_refused_with_a_remedy() {
    let ends = |value: &str, end: &str| {
        let lines = refuse(&format!(r#"{{"per": "{value}"}}"#));
        assert!(lines.len() == 1 && lines[0].ends_with(end), "{lines:?}");
    };
    ends("rute", "; did you mean `route`? [unknown_value]");
    ends("header", "; write `header:NAME` [unknown_value]");
    ends("path_prefix", "; write `path_prefix:N` [unknown_value]");
    ends("path_prefix:0", "give path_prefix:1 to path_prefix:16 [out_of_range]");
    ends("path_prefix:17", "give path_prefix:1 to path_prefix:16 [out_of_range]");
    ends("header:x y", "is not a header's name: give 1 to 128 letters, digits, - or _ [bad_header]");
    ends("header:", "is not a header's name: give 1 to 128 letters, digits, - or _ [bad_header]");
    ends("fixed:", "is not a name: give 1 to 256 bytes without control characters [bad_name]");
}

#[test]
fn entries_are_exceptions_from_the_default() {
    let config = accept(
        r#"{"default": {"window_size": 20, "half_open_calls": 2}, "breakers": {"orders": {"window_size": 50}}}"#,
    );
    assert_eq!(config.rules_for("other").settings().window_size, 20);
    assert_eq!(config.rules_for("orders").settings().window_size, 50);
    assert_eq!(config.rules_for("orders").settings().half_open_calls, 2);
    assert_eq!(config.breakers.len(), 1);
}

#[test]
fn the_most_specific_entry_holds() {
    let config = accept(
        r#"{"breakers": {
            "*": {"window_size": 1},
            "orders-*": {"window_size": 2},
            "*-eu": {"window_size": 3},
            "orders-*-eu": {"window_size": 4},
            "orders-7-eu": {"window_size": 5}
        }}"#,
    );
    for (id, size) in [("a", 1), ("orders-us", 2), ("carts-eu", 3), ("orders-8-eu", 4), ("orders-7-eu", 5)] {
        assert_eq!(config.rules_for(id).settings().window_size, size, "{id}");
    }
}

#[test]
fn a_problem_says_in_which_entry_it_is() {
    assert_eq!(
        refuse(
            r#"{"per": "rute", "defaults": {}, "default": {"window_size": 0}, "breakers": {
                "orders": {"windowsize": 5},
                "a.example:80": {"wait_in_open": 5},
                "carts": 7
            }}"#
        ),
        [
            "defaults: unknown key; did you mean `default`? [unknown_key]",
            "per: \"rute\" is not known: give route, cluster, virtual_host, host, upstream_host, header:NAME, \
             path_prefix:N or fixed:NAME; did you mean `route`? [unknown_value]",
            "default.window_size: 0 is out of range: give 1 to 10000 calls [out_of_range]",
            "breakers.orders.windowsize: unknown key; did you mean `window_size`? [unknown_key]",
            r#"breakers."a.example:80".wait_in_open: 5 has no unit: write "5s" for seconds [bad_duration]"#,
            "breakers.carts: 7 is not an object: give an object of settings [wrong_type]",
        ]
    );
}

#[test]
fn more_problems_than_anyone_reads_are_counted() {
    let entries: Vec<String> = (0..1_000).map(|nth| format!(r#""b{nth}": {{"x": 1}}"#)).collect();
    let json = format!(r#"{{"breakers": {{{}}}}}"#, entries.join(","));
    let lines = refuse(&json);
    assert_eq!(lines.len(), 101);
    assert_eq!(
        lines[99],
        "breakers.b99.x: unknown key; leave it out, or give one of docs/settings.md [unknown_key]"
    );
    assert_eq!(filter(&json).unwrap_err().count(), 1_000);
    assert_eq!(lines[100], "900 more problems are not listed: mend these first [too_many]");
}

#[test]
fn an_inherited_problem_is_reported_once() {
    assert_eq!(
        refuse(
            r#"{"default": {"window_size": 5000}, "breakers": {
                "a": {"window_type": "time"}, "b": {"half_open_calls": 1}}}"#
        ),
        ["breakers.a.window_size: 5000 is out of range: give 1 to 600 seconds [out_of_range]"]
    );
    assert_eq!(
        refuse(r#"{"default": {"window_size": 0}, "breakers": {"a": {}, "b": {"minimum_calls": 1}}}"#),
        ["default.window_size: 0 is out of range: give 1 to 10000 calls [out_of_range]"]
    );
}

#[test]
fn a_key_in_the_wrong_place_is_told_where_it_belongs() {
    assert_eq!(
        refuse(r#"{"window_size": 5, "default": {"max_breakers": 7, "breaker": "a"}}"#),
        [
            "window_size: unknown key; it belongs in `default`, or an entry of `configs` or `breakers` \
             [unknown_key]",
            "default.max_breakers: unknown key; it belongs in the top level of the filter's configuration \
             [unknown_key]",
            "default.breaker: unknown key; it belongs in an entry of the filter's `breakers` [unknown_key]",
        ]
    );
}

#[test]
fn an_id_at_the_top_level_is_told_where_it_belongs() {
    assert_eq!(
        refuse(r#"{"orders": {"window_size": 5}, "colour": 1}"#),
        [
            "orders: unknown key; if it is an id, write it into `breakers` [unknown_key]",
            "colour: unknown key; leave it out, or give one of docs/settings.md [unknown_key]",
        ]
    );
}

#[test]
fn what_envoy_has_around_a_configuration_is_told_apart_from_it() {
    for json in [r#"{"@type": "type.googleapis.com/google.protobuf.StringValue"}"#, r#"{"value": {}}"#] {
        let lines = refuse(json);
        assert!(
            lines.len() == 1 && lines[0].contains("; give the filter's configuration alone"),
            "{lines:?}"
        );
    }
}

#[test]
fn ids_are_names_and_given_once() {
    let long = "x".repeat(257);
    let lines = refuse(&format!(
        r#"{{"breakers": {{"": {{}}, "{long}": {{}}, "a\nb": {{}}, "c": {{}}, "c": {{}}}}}}"#
    ));
    let codes: Vec<_> = lines.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(codes, ["[duplicate_key]", "[bad_name]", "[bad_name]", "[bad_name]"], "{lines:#?}");
}

#[test]
fn the_number_of_breakers_has_limits() {
    assert_eq!(accept(r#"{"max_breakers": 100000}"#).max_breakers, 100_000);
    for number in ["0", "100001"] {
        assert_eq!(
            refuse(&format!(r#"{{"max_breakers": {number}}}"#)),
            [format!("max_breakers: {number} is out of range: give 1 to 100000 [out_of_range]")]
        );
    }
}

#[test]
fn an_admin_may_have_a_token_and_a_filter_may_not() {
    assert_eq!(accept(r#"{"role": "admin"}"#).role, Role::Admin { token: None });
    let Role::Admin { token: Some(token) } = accept(r#"{"role": "admin", "token": "s3cret"}"#).role else {
        panic!("no token");
    };
    assert!(token.matches(b"s3cret"));
    assert_eq!(
        refuse(r#"{"token": "s3cret"}"#),
        ["token: is for the role `admin` only: leave it out, or give `role: admin` [conflict]"]
    );
}

#[test]
fn a_refused_token_is_not_repeated() {
    for token in ["1234567", r#""s3cret 1234567""#, r#"["1234567"]"#] {
        let lines = refuse(&format!(r#"{{"role": "admin", "token": {token}}}"#));
        assert!(lines.len() == 1 && !lines[0].contains("1234567"), "{lines:?}");
    }
}

#[test]
fn timings_that_contradict_each_other_are_refused() {
    let policy = accept(r#"{"default": {"slow_call_timing": "complete", "mode": "shadow"}}"#).default;
    assert_eq!((policy.slow_call_timing, policy.mode), (Moment::Complete, Mode::Shadow));
    assert_eq!(accept(r#"{"default": {"record_at": "headers"}}"#).default.record_at, Moment::Headers);
    assert_eq!(
        refuse(
            r#"{"default": {"slow_call_timing": "complete", "record_at": "headers"},
                "breakers": {"a": {}, "b": {"record_at": "headers"}}}"#
        ),
        [
            "default.slow_call_timing: needs the whole response, but `record_at` is headers: make one like the \
             other [conflict]",
            "breakers.b.record_at: is before `slow_call_timing`, which is complete: make one like the other \
             [conflict]",
        ]
    );
}
