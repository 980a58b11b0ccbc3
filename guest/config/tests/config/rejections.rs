use breakerbox_config::{Body, GrpcStatus, Header, OnRejection, Reject, RetryAfter};

use crate::{accept, refuse};

#[track_caller]
fn on_rejection(settings: &str) -> OnRejection {
    accept(&format!(r#"{{"default": {settings}}}"#)).default.on_rejection.clone()
}

#[track_caller]
fn reject(reject: &str) -> Reject {
    match on_rejection(&format!(r#"{{"reject": {reject}}}"#)) {
        OnRejection::Reject(reject) => reject,
        OnRejection::Fallback(headers) => panic!("a fallback: {headers:?}"),
    }
}

#[track_caller]
fn refuse_reject(reject: &str) -> Vec<String> {
    refuse(&format!(r#"{{"default": {{"reject": {reject}}}}}"#))
}

fn pairs(headers: &[Header]) -> Vec<(&str, &str)> {
    headers.iter().map(|header| (header.name(), header.value())).collect()
}

#[test]
fn every_part_of_an_answer_is_read() {
    let reject = reject(
        r#"{
            "status": 429,
            "headers": {"X-Reason": "breaker", "cache-control": "no-store"},
            "body": "<p>later</p>",
            "contentType": "text/html",
            "retry_after": "1500ms",
            "grpc_status": "RESOURCE_EXHAUSTED",
            "envoy_ratelimited": true
        }"#,
    );
    assert_eq!(reject.status, 429);
    assert_eq!(pairs(&reject.headers), [("x-reason", "breaker"), ("cache-control", "no-store")]);
    assert_eq!(reject.body, Some(Body { text: "<p>later</p>".into(), content_type: "text/html".into() }));
    assert_eq!(reject.retry_after, RetryAfter::Seconds(2));
    assert_eq!(reject.grpc_status, GrpcStatus::RESOURCE_EXHAUSTED);
    assert!(reject.envoy_ratelimited);
}

#[test]
fn what_is_not_said_is_as_usual() {
    assert_eq!(reject("{}"), Reject::default());
    let body = reject(r#"{"body": ""}"#).body.unwrap();
    assert_eq!((&*body.text, &*body.content_type), ("", "text/plain; charset=utf-8"));
    assert_eq!(reject(r#"{"retry_after": false}"#).retry_after, RetryAfter::Off);
    assert_eq!(reject(r#"{"retry_after": "off"}"#).retry_after, RetryAfter::Off);
    assert_eq!(reject(r#"{"retry_after": true}"#).retry_after, RetryAfter::Remaining);
    assert_eq!(reject(r#"{"grpc_status": 8}"#).grpc_status, GrpcStatus::RESOURCE_EXHAUSTED);
}

#[test]
fn an_answer_is_never_a_success() {
    for status in ["200", "302", "399", "600"] {
        assert_eq!(
            refuse_reject(&format!(r#"{{"status": {status}}}"#)),
            [format!("default.reject.status: {status} is out of range: give 400 to 599 [out_of_range]")]
        );
    }
    for status in ["0", r#""OK""#] {
        let lines = refuse_reject(&format!(r#"{{"grpc_status": {status}}}"#));
        assert!(lines[0].contains("would tell the client that all went well"), "{lines:?}");
    }
    assert!(refuse_reject(r#"{"grpc_status": 17}"#)[0].ends_with("[out_of_range]"));
    assert_eq!(
        refuse_reject(r#"{"grpc_status": "NOPE"}"#),
        ["default.reject.grpc_status: \"NOPE\" is no gRPC status: give the name of a gRPC status such as \
          UNAVAILABLE, or its number, 1 to 16 [unknown_value]"]
    );
}

#[test]
fn headers_that_cannot_be_sent_are_refused() {
    let lines = refuse_reject(
        r#"{"headers": {
            "x y": "a", ":status": "200", "": "a", "x-a": "a\r\nb", "x-b": "ü", "x-c": 5, "x-d": " a",
            "Content-Length": "5", "Retry-After": "5", "x-e": "1", "X-E": "2"
        }}"#,
    );
    let ends = [
        "give 1 to 128 letters, digits, - or _ [bad_header]",
        "give 1 to 128 letters, digits, - or _ [bad_header]",
        "give 1 to 128 letters, digits, - or _ [bad_header]",
        "no spaces around them [bad_header]",
        "no spaces around them [bad_header]",
        "5 is not a text in quotes: give a text in quotes [wrong_type]",
        "no spaces around them [bad_header]",
        "is the proxy's to set: leave it out [bad_header]",
        "is set by `retry_after`: use that key [bad_header]",
        "leave one of them out [duplicate_key]",
    ];
    assert_eq!(lines.len(), ends.len(), "{lines:#?}");
    for (line, end) in lines.iter().zip(ends) {
        assert!(line.ends_with(end), "{line}");
    }
}

#[test]
fn entries_share_the_text_that_they_inherit() {
    let config = accept(
        r#"{"default": {"reject": {"body": "later", "headers": {"x-reason": "breaker"}}},
            "breakers": {"a": {"reject": {"status": 504}}, "b": {"window_size": 5}}}"#,
    );
    let texts = |id| {
        let OnRejection::Reject(reject) = &config.policy_for(id).on_rejection else { panic!("a fallback") };
        (reject.body.as_ref().unwrap().text.as_ptr(), reject.headers[0].value().as_ptr())
    };
    assert_eq!((texts("a"), texts("b")), (texts("x"), texts("x")));
}

#[test]
fn a_content_type_needs_a_body() {
    assert_eq!(
        refuse_reject(r#"{"content_type": "text/html"}"#),
        [
            "default.reject.content_type: is given without `body`, and the default body is JSON: give `body` as \
          well [conflict]"
        ]
    );
    let lines = refuse_reject(r#"{"body": 5, "content_type": "text/html"}"#);
    assert_eq!(lines.len(), 1, "{lines:?}");
}

#[test]
fn a_content_type_is_a_media_type() {
    for content_type in ["text/html", "application/problem+json; charset=utf-8", "text/plain ;x=1"] {
        reject(&format!(r#"{{"body": "x", "content_type": "{content_type}"}}"#));
    }
    for content_type in ["", "nonsense", "text/", "/html", "text/a b"] {
        assert_eq!(
            refuse_reject(&format!(r#"{{"body": "x", "content_type": "{content_type}"}}"#)),
            [format!(
                "default.reject.content_type: \"{content_type}\" is not a media type: give a media type, such as \
                 text/html [bad_header]"
            )]
        );
    }
}

#[test]
fn a_body_has_a_limit() {
    let body = |bytes: usize| format!(r#"{{"body": "{}"}}"#, "x".repeat(bytes));
    assert_eq!(reject(&body(65_536)).body.unwrap().text.len(), 65_536);
    assert!(
        refuse_reject(&body(65_537))[0]
            .ends_with("is too long: give a text of at most 64 KiB [out_of_range]")
    );
}

#[test]
fn an_entrys_answer_refines_the_inherited_one() {
    let config = accept(
        r#"{"default": {"reject": {"status": 429, "body": "a", "content_type": "text/html"}},
            "breakers": {"x": {"reject": {"body": "b"}}}}"#,
    );
    let OnRejection::Reject(reject) = &config.policy_for("x").on_rejection else { panic!("a fallback") };
    assert_eq!(reject.status, 429);
    assert_eq!(reject.body, Some(Body { text: "b".into(), content_type: "text/html".into() }));
}

#[test]
fn a_fallback_is_headers_for_another_route() {
    let config = accept(
        r#"{"default": {"fallback": {"header": {"X-Fallback": "cache", "x-tier": "2"}}},
            "breakers": {"a": {"reject": {}}, "b": {"fallback": {"header": {"x-b": "1"}}}}}"#,
    );
    let OnRejection::Fallback(headers) = &config.default.on_rejection else { panic!("an answer") };
    assert_eq!(pairs(headers), [("x-fallback", "cache"), ("x-tier", "2")]);
    assert_eq!(config.policy_for("a").on_rejection, OnRejection::default());
    assert_eq!(config.fallback_headers().into_iter().collect::<Vec<_>>(), ["x-b", "x-fallback", "x-tier"]);
}

#[test]
fn a_fallback_needs_headers_and_excludes_an_answer() {
    let missing = "is missing: give at least one header, {NAME: VALUE}, that another route matches";
    assert_eq!(
        refuse(r#"{"default": {"fallback": {}}}"#),
        [format!("default.fallback.header: {missing} [missing_key]")]
    );
    assert!(refuse(r#"{"default": {"fallback": {"header": {}}}}"#)[0].ends_with("[missing_key]"));
    assert!(
        refuse(r#"{"default": {"fallback": {"header": {"host": "a"}}}}"#)[0].contains("the proxy's to set")
    );
    assert_eq!(
        refuse(r#"{"default": {"fallback": {"header": {"x-f": "1"}}, "reject": {"status": 500}}}"#),
        ["default.fallback: excludes `reject`: a request is either answered or routed again; leave one out \
          [conflict]"]
    );
    let lines =
        refuse(r#"{"default": {"fallback": {"header": {"x-f": 1}}, "reject": {"status": 700, "body": 1}}}"#);
    let codes: Vec<_> = lines.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(codes, ["[conflict]", "[wrong_type]", "[out_of_range]", "[wrong_type]"], "{lines:#?}");
}

#[test]
fn an_attempt_that_has_its_host_has_no_fallback() {
    let lines =
        refuse(r#"{"per": "upstream_host", "breakers": {"a": {"fallback": {"header": {"x-f": "1"}}}}}"#);
    assert!(lines.len() == 1 && lines[0].starts_with("per: excludes `fallback`"), "{lines:?}");
}
