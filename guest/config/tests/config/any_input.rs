use breakerbox_config::{SECTIONS, filter, settings};
use breakerbox_core::Settings;
use proptest::prelude::*;
use serde_json::Value;

const TEXTS: &[&str] = &[
    "",
    "off",
    "count",
    "5s",
    "1m30s",
    "-1s",
    "9e9h",
    "a",
    "b",
    "5xx",
    "599-100",
    "grpc:14",
    "header:x=y",
    "*",
    "a*",
    "**",
    "fixed:a",
    "path_prefix:300",
    "header:é",
    "admin",
    "\u{0}",
    "🦀",
    "timeout",
    "true",
];

/// Values that keys take, nearly take, or trip over.
fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..700u32).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(TEXTS).prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known: Vec<_> =
        SECTIONS.iter().flat_map(|section| section.keys).map(|key| key.name.to_owned()).collect();
    prop_oneof![
        8 => proptest::sample::select(known),
        1 => any::<String>(),
        1 => "[a-c*]{0,3}",
    ]
}

fn document() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            4 => prop::collection::btree_map(key(), inner, 0..8).prop_map(Value::from_iter),
        ]
    })
}

/// Whatever was read has to be usable, whatever was refused tellable in lines.
fn use_it(json: &str) {
    if let Err(problems) = settings(json, &Settings::default()) {
        assert_ne!(problems.0, []);
        assert_eq!(problems.to_string().lines().count(), problems.0.len(), "{problems}");
    }
    match filter(json) {
        Ok(config) => {
            for id in ["", "a", "ab", "c/d", "🦀"] {
                let policy = config.policy_for(id);
                let _ = (policy.breaker_of(id), policy.outcomes.classify_status(503));
            }
            let _ = (config.fallback_headers(), config.per.to_string());
        }
        Err(problems) => {
            assert_ne!(problems.0, []);
            assert_eq!(problems.to_string().lines().count(), problems.0.len(), "{problems}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        use_it(&text);
    }

    #[test]
    fn no_document_panics(document in document()) {
        use_it(&document.to_string());
    }

    #[test]
    fn no_filter_document_panics(
        default in document(),
        config in document(),
        entries in prop::collection::btree_map("[ab*]{1,3}", document(), 0..4),
    ) {
        let document = serde_json::json!({
            "default": default, "configs": {"a": config.clone(), "b": config}, "breakers": entries,
        });
        use_it(&document.to_string());
    }

    #[test]
    fn no_broken_document_panics(document in document(), cut in any::<prop::sample::Index>()) {
        let text = document.to_string();
        let end = (0..=text.len()).rev().find(|end| *end <= cut.index(text.len() + 1) && text.is_char_boundary(*end));
        use_it(&text[..end.unwrap_or(0)]);
    }
}

#[test]
fn deep_documents_are_refused() {
    for (open, close) in [("[", "]"), (r#"{"default":"#, "}")] {
        use_it(&format!("{}1{}", open.repeat(100_000), close.repeat(100_000)));
    }
}
