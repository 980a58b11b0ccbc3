use breakerbox_config::{Cause, Ending, Outcomes};
use breakerbox_core::Outcome::{Failure, Ignored, Success};

use crate::{accept, refuse};

#[track_caller]
fn outcomes(settings: &str) -> Outcomes {
    accept(&format!(r#"{{"default": {settings}}}"#)).default.outcomes.clone()
}

#[test]
fn statuses_are_numbers_texts_classes_and_ranges() {
    let outcomes = outcomes(r#"{"record_on": [404, 408.0, "418", "5xx", "420-422"]}"#);
    for status in 100..=599 {
        let expected = match status {
            404 | 408 | 418 | 420..=422 | 500..=599 => Failure,
            _ => Success,
        };
        assert_eq!(outcomes.classify_status(status), expected, "{status}");
    }
}

#[test]
fn ignoring_wins_over_recording() {
    let outcomes = outcomes(
        r#"{"record_on": ["5xx", "timeout", "grpc:14"], "ignore_on": [501, "timeout", "grpc:UNAVAILABLE"]}"#,
    );
    assert_eq!(outcomes.classify_status(500), Failure);
    assert_eq!(outcomes.classify_status(501), Ignored);
    assert_eq!(outcomes.classify_cause(Cause::Timeout), Ignored);
    assert_eq!(outcomes.classify_grpc(14), Ignored);
    let late = Ending { status: Some(504), cause: Some(Cause::Timeout), ..Ending::default() };
    assert_eq!(outcomes.classify(&late), Ignored);
}

#[test]
fn a_list_replaces_the_inherited_one() {
    let config = accept(
        r#"{"default": {"record_on": [404], "ignore_on": [405]}, "breakers": {"a": {"record_on": [500]}}}"#,
    );
    let outcomes = &config.policy_for("a").outcomes;
    let of = |status| outcomes.classify_status(status);
    assert_eq!((of(404), of(405), of(500), of(503)), (Success, Ignored, Failure, Success));
    assert_eq!(outcomes.classify_cause(Cause::Reset), Success);
    assert_eq!(outcomes.classify_grpc(14), Success);
}

#[test]
fn what_is_not_the_upstreams_doing_is_ignored_unless_it_is_named() {
    let outcomes_named = outcomes(r#"{"record_on": ["client_gone", "overflow"]}"#);
    let outcomes_unnamed = outcomes(r#"{"record_on": ["5xx"], "ignore_on": [404]}"#);
    for cause in [Cause::ClientGone, Cause::Overflow] {
        assert_eq!(outcomes_named.classify_cause(cause), Failure, "{cause:?}");
        let ending = Ending { status: Some(503), cause: Some(cause), ..Ending::default() };
        assert_eq!(outcomes_unnamed.classify(&ending), Ignored, "{cause:?}");
    }
}

#[test]
fn response_headers_decide_by_name_and_value() {
    let outcomes =
        outcomes(r#"{"record_on": ["header:X-Outcome=failed"], "ignore_on": ["header:x-canary=1=1"]}"#);
    assert_eq!(outcomes.classify_header("x-outcome", b"failed"), Failure);
    assert_eq!(outcomes.classify_header("X-OUTCOME", b"failed"), Failure);
    assert_eq!(outcomes.classify_header("x-outcome", b"Failed"), Success);
    assert_eq!(outcomes.classify_header("x-other", b"failed"), Success);
    assert_eq!(outcomes.classify_header("x-canary", b"1=1"), Ignored);
    assert_eq!(outcomes.header_names().into_iter().collect::<Vec<_>>(), ["x-canary", "x-outcome"]);
}

#[test]
fn entries_that_mean_nothing_are_refused_with_a_remedy() {
    let lines = refuse(
        r#"{"default": {"record_on":
            ["timout", "600", 99, 5.5, "50x", "grpc:UNAVAILABL", "grpc:17", "504-500", "header:x", "header:=1", null]}}"#,
    );
    let ends = [
        "; did you mean `timeout`? [unknown_value]",
        "give 100 to 599 as 503, 5xx or 500-504 [out_of_range]",
        "[out_of_range]",
        "[bad_number]",
        "give 100 to 599 as 503, 5xx or 500-504 [out_of_range]",
        "; did you mean `UNAVAILABLE`? [unknown_value]",
        "or its number, 0 to 16 [unknown_value]",
        "begins with the higher status: write \"500-504\" [out_of_range]",
        "has no value: write header:NAME=VALUE [bad_header]",
        "[bad_header]",
        "[wrong_type]",
    ];
    assert_eq!(lines.len(), ends.len(), "{lines:#?}");
    for (nth, (line, end)) in lines.iter().zip(ends).enumerate() {
        assert!(line.starts_with(&format!("default.record_on[{nth}]: ")) && line.ends_with(end), "{line}");
    }
    assert!(refuse(r#"{"default": {"ignore_on": "5xx"}}"#)[0].contains("is not a list"));
}

#[test]
fn lists_have_limits() {
    let list = |count: u32, item: &str| {
        let items: Vec<_> = (0..count).map(|nth| item.replace('N', &nth.to_string())).collect();
        format!(r#"{{"default": {{"record_on": [{}]}}}}"#, items.join(","))
    };
    accept(&list(256, "503"));
    assert!(refuse(&list(257, "503"))[0].ends_with("give at most 256 [too_many]"));
    accept(&list(16, r#""header:x-N=1""#));
    assert!(refuse(&list(17, r#""header:x-N=1""#))[0].ends_with("give at most 16 [too_many]"));
}
