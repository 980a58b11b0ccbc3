use breakerbox_config::{OnRejection, Reject};

use crate::{accept, refuse};

#[test]
fn ids_of_one_breaker_share_it_and_may_reject_in_their_own_ways() {
    let config = accept(
        r#"{
            "configs": {"pay": {"window_size": 10}},
            "breakers": {
                "checkout": {"base": "pay", "breaker": "payments"},
                "refund-*": {"base": "pay", "breaker": "payments", "reject": {"status": 429}},
                "other": {}
            }
        }"#,
    );
    assert_eq!(config.policy_for("checkout").breaker_of("checkout"), "payments");
    assert_eq!(config.policy_for("refund-7").breaker_of("refund-7"), "payments");
    let reject = Reject { status: 429, ..Reject::default() };
    assert_eq!(config.policy_for("refund-7").on_rejection, OnRejection::Reject(reject));
    assert_eq!(config.policy_for("other").breaker_of("other"), "other");
}

#[test]
fn entries_that_share_a_breaker_and_differ_are_refused() {
    assert_eq!(
        refuse(
            r#"{"breakers": {
                "a": {"breaker": "payments", "window_size": 10},
                "b": {"breaker": "payments", "window_size": 10},
                "c": {"breaker": "payments", "window_size": 20, "record_on": ["5xx"], "mode": "shadow"}
            }}"#
        ),
        [
            "breakers.c: shares the breaker \"payments\" with breakers.a, but differs in window_size, record_on, \
          mode: give both the same, for instance by `base` [shared_breaker_differs]"
        ]
    );
}

#[test]
fn an_id_that_is_the_name_of_a_shared_breaker_shares_it() {
    let config = accept(
        r#"{"breakers": {"a": {"breaker": "payments", "window_size": 10}, "pay*": {"window_size": 30}}}"#,
    );
    assert_eq!(config.rules_for("payments").settings().window_size, 10);
    assert_eq!(config.policy_for("payments").breaker_of("payments"), "payments");
    assert_eq!(config.rules_for("payday").settings().window_size, 30);

    let lines = refuse(
        r#"{"breakers": {"a": {"breaker": "payments", "window_size": 10}, "payments": {"window_size": 20}}}"#,
    );
    assert!(lines[0].starts_with("breakers.payments: shares the breaker"), "{lines:?}");
}

#[test]
fn a_shared_breakers_name_is_a_name() {
    assert_eq!(
        refuse(r#"{"breakers": {"a": {"breaker": ""}, "b": {"breaker": 5}}}"#),
        [
            r#"breakers.a.breaker: "" is not a name: give 1 to 256 bytes without control characters [bad_name]"#,
            "breakers.b.breaker: 5 is not a text in quotes: give a name of 1 to 256 bytes [wrong_type]",
        ]
    );
}
