use crate::{accept, refuse};

#[test]
fn entries_inherit_from_their_base_and_that_from_the_default() {
    let config = accept(
        r#"{
            "default": {"window_size": 20, "half_open_calls": 2},
            "configs": {
                "strict": {"base": "careful", "failure_rate_threshold": 10},
                "careful": {"window_size": 40, "failure_rate_threshold": 25}
            },
            "breakers": {
                "orders": {"base": "strict", "minimum_calls": 5},
                "carts": {"base": "default"}
            }
        }"#,
    );
    let orders = config.rules_for("orders").settings();
    assert_eq!(orders.failure_rate_threshold.to_f64().to_string(), "10");
    assert_eq!((orders.window_size, orders.half_open_calls, orders.minimum_calls), (40, 2, 5));
    assert_eq!(config.rules_for("carts"), config.rules_for("others"));
}

#[test]
fn an_unknown_base_is_refused_with_the_one_that_was_meant() {
    assert_eq!(
        refuse(
            r#"{"configs": {"careful": {}, "strict": {"base": "carefull"}}, "breakers": {"a": {"base": "x"}}}"#
        ),
        [
            "configs.strict.base: \"carefull\" is no entry of `configs`: give the name of one; did you mean \
             `careful`? [unknown_name]",
            "breakers.a.base: \"x\" is no entry of `configs`: give the name of one [unknown_name]",
        ]
    );
}

#[test]
fn a_cycle_is_refused_once() {
    assert_eq!(
        refuse(
            r#"{"configs": {"a": {"base": "b"}, "b": {"base": "c"}, "c": {"base": "b"}, "d": {"base": "d"}},
                "breakers": {"x": {"base": "a"}}}"#
        ),
        [
            r#"configs.c.base: leads back to itself: "b" -> "c" -> "b"; take one `base` out [base_cycle]"#,
            r#"configs.d.base: leads back to itself: "d" -> "d"; take one `base` out [base_cycle]"#,
        ]
    );
}

#[test]
fn a_problem_of_a_base_is_reported_there_alone() {
    assert_eq!(
        refuse(
            r#"{"configs": {"a": {"window_size": 0}, "b": {"base": "a"}}, "breakers": {"x": {"base": "b"}}}"#
        ),
        ["configs.a.window_size: 0 is out of range: give 1 to 10000 calls [out_of_range]"]
    );
}

#[test]
fn the_default_has_its_own_place() {
    assert_eq!(
        refuse(r#"{"configs": {"default": {"window_size": 5}}}"#),
        ["configs.default: is what the top level's `default` is for: write its settings there [conflict]"]
    );
}

#[test]
fn a_chain_as_long_as_there_may_be_entries_is_followed() {
    let entry = |nth: u32| format!(r#""c{nth}": {{"base": "c{}"}}"#, nth + 1);
    let chain: Vec<_> = (0..999).map(entry).collect();
    let config = accept(&format!(
        r#"{{"configs": {{{}, "c999": {{"window_size": 3}}}}, "breakers": {{"x": {{"base": "c0"}}}}}}"#,
        chain.join(",")
    ));
    assert_eq!(config.rules_for("x").settings().window_size, 3);
    assert_eq!(config.warnings, []);
}

#[test]
fn a_long_cycle_is_told_in_short() {
    let entry = |nth: u32| format!(r#""c{nth}": {{"base": "c{}"}}"#, (nth + 1) % 1000);
    let chain: Vec<_> = (0..1000).map(entry).collect();
    let lines = refuse(&format!(r#"{{"configs": {{{}}}}}"#, chain.join(",")));
    assert_eq!(lines.len(), 1);
    assert!(lines[0].len() < 200, "{}", lines[0]);
}

#[test]
fn entries_have_a_limit() {
    let entries =
        |count: u32| (0..count).map(|nth| format!(r#""c{nth}": {{}}"#)).collect::<Vec<_>>().join(",");
    assert_eq!(
        refuse(&format!(r#"{{"configs": {{{}}}}}"#, entries(1001))),
        ["configs: 1001 entries are too many: give at most 1000 [too_many]"]
    );
    assert_eq!(
        refuse(&format!(r#"{{"breakers": {{{}}}}}"#, entries(10_001))),
        ["breakers: 10001 entries are too many: give at most 10000 [too_many]"]
    );
}
