//! Any text where a configuration should be: it is one, or everything that is wrong with it is said.

#[path = "configuration/damage.rs"]
mod damage;

use std::fs;
use std::path::Path;

use breakerbox_config::{Code, FilterConfig, Problems, filter, settings};
use breakerbox_core::Settings;
use serde_json::{Value, json};

use damage::Damage;

/// The most that a refusal may say, in problems and in bytes a problem.
const MOST_PROBLEMS: usize = 101;
const LONGEST_PROBLEM: usize = 2_000;

#[test]
fn any_bytes_are_read_or_refused() {
    bolero::check!(name = "configuration").with_iterations(20_000).for_each(|bytes: &[u8]| {
        read(&String::from_utf8_lossy(bytes));
    });
}

/// Bytes that come by chance are hardly ever JSON, so others begin with a sound configuration.
#[test]
fn any_damage_to_a_configuration_is_read_or_refused() {
    let sound = sound_configurations();
    bolero::check!(name = "damaged_configuration").with_type::<Damage>().with_iterations(20_000).for_each(
        |damage| {
            read(&damage.apply(&sound));
        },
    );
}

/// What a configuration can be damaged from: the corpus, and the settings of every scenario.
fn sound_configurations() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read_all = |folder: &str| {
        let mut paths: Vec<_> =
            fs::read_dir(tests.join(folder)).unwrap().map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths.into_iter().map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned())
    };
    let scenarios =
        ["own", "peer", "seeds"].into_iter().flat_map(|folder| read_all(&format!("scenarios/{folder}")));
    let settings =
        scenarios.map(|scenario| serde_json::from_str::<Value>(&scenario).unwrap()["config"].to_string());
    read_all("fuzz/__fuzz__/configuration/corpus").chain(settings).collect()
}

fn read(text: &str) {
    match settings(text, &Settings::default()) {
        Ok(rules) => {
            let written = written(rules.settings());
            assert_eq!(settings(&written, &Settings::default()), Ok(rules), "{written}");
        }
        Err(problems) => check(&problems),
    }
    match filter(text) {
        Ok(config) => {
            // Neither blanks nor the order of keys matter.
            let rewritten: Value = serde_json::from_str(text).unwrap_or(json!({}));
            let again = filter(&rewritten.to_string()).expect("a configuration that was read");
            assert_eq!(without_warnings(again), without_warnings(config.clone()));
            use_it(&config);
        }
        Err(problems) => check(&problems),
    }
}

fn without_warnings(config: FilterConfig) -> FilterConfig {
    FilterConfig { warnings: Vec::new(), ..config }
}

/// Settings as JSON, each key by its name.
fn written(settings: &Settings) -> String {
    let duration = |duration: std::time::Duration| format!("{}ns", duration.as_nanos());
    let backoff = settings
        .open_backoff
        .map_or(json!("off"), |it| json!({ "multiplier": it.multiplier.to_f64(), "max": duration(it.max) }));
    json!({
        "window_type": settings.window_type.name(),
        "window_size": settings.window_size,
        "minimum_calls": settings.minimum_calls,
        "failure_rate_threshold": settings.failure_rate_threshold.to_f64(),
        "slow_call_duration": duration(settings.slow_call_duration),
        "slow_call_rate_threshold": settings.slow_call_rate_threshold.to_f64(),
        "consecutive_failures": settings.consecutive_failures.map_or(json!("off"), Value::from),
        "wait_in_open": duration(settings.wait_in_open),
        "open_backoff": backoff,
        "open_jitter": settings.open_jitter.to_f64(),
        "half_open_calls": settings.half_open_calls,
        "half_open_policy": settings.half_open_policy.name(),
        "max_wait_in_half_open": duration(settings.max_wait_in_half_open),
        "enabled": settings.enabled,
    })
    .to_string()
}

fn use_it(config: &FilterConfig) {
    assert!(config.warnings.iter().all(|warning| !warning.to_string().contains('\n')));
    let _ = (config.fallback_headers(), config.per.to_string());
    for id in ["", "a", "ab", "orders", "c/d", "🦀", "default"] {
        let policy = config.policy_for(id);
        let breaker = policy.breaker_of(id);
        // The breaker of an id is judged as its policy says, whoever else shares it.
        if policy.breaker.is_some() {
            assert_eq!(&config.policy_of_breaker(breaker).rules, &policy.rules);
        }
        for status in [0, 100, 200, 503, 599, u16::MAX] {
            let _ = policy.outcomes.classify_status(status);
        }
    }
}

/// Each problem is a line that says where, and what to do.
fn check(problems: &Problems) {
    assert!((1..=MOST_PROBLEMS).contains(&problems.0.len()), "{} problems", problems.0.len());
    for problem in &problems.0 {
        let line = problem.to_string();
        assert!(line.len() <= LONGEST_PROBLEM, "{} bytes: {line}", line.len());
        assert!(!line.contains(char::is_control), "{line:?}");
        if problem.code == Code::BadJson {
            assert!(line.contains("line"), "{line}");
            continue;
        }
        let remedies =
            ["give ", "write ", "leave ", "use ", "make ", "take ", "mend ", "did you mean", "belongs in"];
        assert!(remedies.iter().any(|remedy| line.contains(remedy)), "{line}");
        assert!(
            !problem.path.is_empty() || matches!(problem.code, Code::WrongType | Code::TooMany),
            "{line}"
        );
    }
}
