//! The command `breakerbox` says what differs and what is wrong, and its exit code says so as well.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// What a command printed and ended with.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn breakerbox(arguments: &[&Path]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_breakerbox")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn scenario(steps: &str) -> String {
    format!(
        r#"{{"name": "x", "config": {{"consecutive_failures": 1, "wait_in_open": "30s"}}, "steps": [{steps}]}}"#
    )
}

const OPENED: &str = r#"
    {"at_ms": 0, "acquire": "a", "expect": {"permitted": true, "reason": null, "state": "closed"}},
    {"at_ms": 5, "record": "a", "outcome": "failure", "expect": {"recorded": true, "events": ["opened"]}},
    {"at_ms": 6, "acquire": "b", "expect": {"permitted": false, "reason": "open", "retry_after_ms": 29999}}
"#;

#[test]
fn a_scenario_that_passes_is_counted() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder, "opened.json", &scenario(OPENED));
    let ended = breakerbox(&["run".as_ref(), &file, &file]);
    assert_eq!((ended.out.as_str(), ended.code), ("2 passed, 0 failed\n", Some(0)));
    // Nobody waits for progress where there is no terminal.
    assert_eq!(ended.err, "");
}

#[cfg(feature = "harness")]
#[test]
fn the_guests_run_scenarios_too() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder, "opened.json", &scenario(OPENED));
    for host in ["component", "filter"] {
        let ended = breakerbox(&["run".as_ref(), "--host".as_ref(), host.as_ref(), &file]);
        assert_eq!(
            (ended.out.as_str(), ended.code),
            ("1 passed, 0 failed\n", Some(0)),
            "{host}: {}",
            ended.err
        );
    }
}

#[cfg(not(feature = "harness"))]
#[test]
fn without_the_harness_a_guest_is_told_how_to_be_had() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder, "opened.json", &scenario(OPENED));
    let ended = breakerbox(&["run".as_ref(), "--host".as_ref(), "component".as_ref(), &file]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("without the harness") && ended.err.contains("cargo build"), "{}", ended.err);
}

#[test]
fn a_difference_names_file_step_key_expected_and_seen() {
    let folder = TempDir::new().unwrap();
    let wrong = OPENED.replace(r#""open""#, r#""forced_open""#).replace("29999", "30000");
    let good = file(&folder, "good.json", &scenario(OPENED));
    let wrong = file(&folder, "wrong.json", &scenario(&wrong));
    let ended = breakerbox(&["run".as_ref(), &wrong, &good]);
    let name = wrong.display();
    let expected = format!(
        "{name}: step 3: reason: expected \"forced_open\", seen \"open\"\n\
         {name}: step 3: retry_after_ms: expected 30000, seen 29999.0\n\
         1 passed, 1 failed\n"
    );
    assert_eq!((ended.out, ended.code), (expected, Some(1)));
}

#[test]
fn json_prints_what_was_seen_and_checks_nothing() {
    let folder = TempDir::new().unwrap();
    let wrong = file(&folder, "wrong.json", &scenario(&OPENED.replace("29999", "1")));
    let ended = breakerbox(&["run".as_ref(), "--json".as_ref(), &wrong]);
    assert_eq!(ended.code, Some(0));
    let lines: Vec<Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[2]["step"], 3);
    assert_eq!(lines[2]["retry_after_ms"], 29_999.0);
    assert_eq!(lines[1]["last_transition"]["rule"], "consecutive_failures");
}

#[test]
fn a_file_that_is_no_scenario_is_named_with_the_reason_and_nothing_is_run() {
    let folder = TempDir::new().unwrap();
    let good = file(&folder, "good.json", &scenario(OPENED));
    for (steps, reason) in [
        (
            r#"{"at_ms": 0, "aquire": "a", "wroker": 1}"#,
            "step 1: unknown key aquire, wroker: a step has at_ms",
        ),
        (
            r#"{"at_ms": 0, "snapshot": true, "expect": {"sate": "open"}}"#,
            "unknown key sate: there are permitted",
        ),
        (r#"{"at_ms": 0, "record": "a", "outcome": "success"}"#, "no earlier step acquires \"a\""),
        (
            r#"{"at_ms": 0, "acquire": "a"}, {"at_ms": 1, "record": "a"}"#,
            "step 2: record \"a\" without an outcome",
        ),
        (r#"{"at_ms": 5, "acquire": "a"}, {"at_ms": 4, "acquire": "b"}"#, "step 2: at_ms is 4, before the 5"),
        (r#"{"at_ms": 5}"#, "step 1: nothing happens"),
        (r#"{"at_ms": 5, "restart": true, "control": "reset"}"#, "step 1: more than one thing happens"),
        (r#"{"at_ms": 5, "control": "open"}"#, "step 1: unknown variant `open`"),
    ] {
        let bad = file(&folder, "bad.json", &scenario(steps));
        let ended = breakerbox(&["run".as_ref(), &good, &bad]);
        assert_eq!((ended.out.as_str(), ended.code), ("", Some(2)));
        let expected = format!("{}: ", bad.display());
        assert!(ended.err.contains(&expected) && ended.err.contains(reason), "{}", ended.err);
    }
    let bad = file(
        &folder,
        "bad.json",
        r#"{"name": "x", "config": {"window_size": 0, "colour": 1}, "steps": [{"at_ms": 0}, {"at_ms": 1, "aquire": "a"}]}"#,
    );
    let ended = breakerbox(&["run".as_ref(), &bad]);
    let all = ["config: colour: ", "config: window_size: ", "step 1: nothing", "step 2: unknown key aquire"];
    for (line, start) in ended.err.trim_start_matches("breakerbox: ").lines().zip(all) {
        assert!(line.starts_with(&format!("{}: {start}", bad.display())), "{}", ended.err);
    }
    assert_eq!(ended.err.lines().count(), all.len(), "{}", ended.err);
    let settings =
        file(&folder, "settings.json", r#"{"name": "x", "config": {"windw_size": 1}, "steps": []}"#);
    let ended = breakerbox(&["run".as_ref(), &settings, &folder.path().join("missing.json")]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("did you mean `window_size`?"), "{}", ended.err);
    assert!(ended.err.contains("missing.json: cannot be read"), "{}", ended.err);
}

#[test]
fn check_prints_every_problem_of_a_configuration() {
    let folder = TempDir::new().unwrap();
    let good = file(&folder, "good.json", r#"{"default": {"window_size": 20, "minimum_calls": 20}}"#);
    let odd =
        file(&folder, "odd.json", r#"{"breakers": {"orders": {"window_size": 20, "minimum_calls": 50}}}"#);
    let bad = file(
        &folder,
        "bad.json",
        r#"{"pre": "route", "default": {"wait_in_open": "0s"}, "breakers": {"orders": {"window_size": 0}}}"#,
    );
    let ended = breakerbox(&["check".as_ref(), &good]);
    assert_eq!((ended.out, ended.code), (format!("{}: accepted, 0 warnings\n", good.display()), Some(0)));

    let ended = breakerbox(&["check".as_ref(), &odd]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.out.contains("warning: breakers.orders.minimum_calls: "), "{}", ended.out);
    assert!(ended.out.ends_with("odd.json: accepted, 1 warning\n"), "{}", ended.out);

    let ended = breakerbox(&["check".as_ref(), &bad]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("bad.json: problem: pre: unknown key; did you mean `per`?"), "{}", ended.out);
    assert!(
        ended.out.contains("bad.json: problem: breakers.orders.window_size: 0 is out of range"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("bad.json: warning: default.wait_in_open: 0s"), "{}", ended.out);
    assert!(ended.out.ends_with("bad.json: refused, 2 problems, 1 warning\n"), "{}", ended.out);

    assert_eq!(breakerbox(&["check".as_ref(), "missing.json".as_ref()]).code, Some(2));
}

#[test]
fn check_takes_many_files_and_the_standard_input() {
    let folder = TempDir::new().unwrap();
    let good = file(&folder, "good.json", "{}");
    let bad = file(&folder, "bad.json", r#"{"pre": "route"}"#);
    let ended = breakerbox(&["check".as_ref(), &good, &bad, &good]);
    assert_eq!(ended.code, Some(1));
    let ends: Vec<_> = ended.out.lines().map(|line| line.rsplit(": ").next().unwrap()).collect();
    let [accepted, problem, refused] =
        ["accepted, 0 warnings", "[unknown_key]", "refused, 1 problem, 0 warnings"];
    assert!(ends[1].ends_with(problem), "{}", ended.out);
    assert_eq!([ends[0], ends[2], ends[3]], [accepted, refused, accepted]);

    let missing = breakerbox(&["check".as_ref(), "missing.json".as_ref(), &bad, &good]);
    assert_eq!((missing.out.lines().count(), missing.code), (3, Some(2)), "{}", missing.out);
    assert!(missing.err.contains("missing.json cannot be read"), "{}", missing.err);

    let input = fs::File::open(&bad).unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_breakerbox")).args(["check", "-"]).stdin(input).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.ends_with("-: refused, 1 problem, 0 warnings\n"), "{out}");
}

#[test]
fn check_may_deny_warnings() {
    let folder = TempDir::new().unwrap();
    let good = file(&folder, "good.json", "{}");
    let odd = file(&folder, "odd.json", r#"{"default": {"wait_in_open": "0s"}}"#);
    for (file, code) in [(&good, 0), (&odd, 1)] {
        assert_eq!(breakerbox(&["check".as_ref(), "--deny-warnings".as_ref(), file]).code, Some(code));
    }
}

#[test]
fn settings_prints_every_key_with_its_default() {
    let ended = breakerbox(&["settings".as_ref()]);
    assert_eq!(ended.code, Some(0));
    for key in breakerbox_config::SECTIONS.iter().flat_map(|section| section.keys) {
        let cells = [format!("| `{}` ", key.name), format!("| `{}` ", key.default)];
        let shown = ended.out.lines().any(|line| cells.iter().all(|cell| line.contains(cell)));
        assert!(shown, "{} is missing:\n{}", key.name, ended.out);
    }
}

#[test]
fn the_page_of_settings_is_what_the_command_prints() {
    let page = include_str!("../docs/settings.md");
    let printed = breakerbox(&["settings".as_ref()]).out;
    let expected = format!("# Settings\n\n<!-- printed by `breakerbox settings` -->\n\n{printed}");
    assert!(page == expected, "docs/settings.md should be:\n{expected}");
}
