//! Every state meets every event under every kind of settings; the moves seen are the table's, all of them.

use std::collections::BTreeSet;
use std::time::Duration;

use breakerbox_core::{
    HalfOpenPolicy, Hundredths, Mark, Outcome, OwnedSlot, Permit, Rule, Rules, Settings, Slot, State,
    Transition,
};

/// `state, rule, enabled -> state`, one line for each move there is.
const TABLE: &str = "\
closed, failure_rate -> open
closed, slow_call_rate -> open
closed, consecutive_failures -> open
closed, force_open -> forced_open
closed, disable -> disabled
closed, reset -> closed
closed, reset (enabled: false) -> disabled
closed, settings (enabled: false) -> disabled
open, wait_in_open -> half_open
open, force_open -> forced_open
open, disable -> disabled
open, reset -> closed
open, reset (enabled: false) -> disabled
open, settings (enabled: false) -> disabled
half_open, failure_rate -> open
half_open, slow_call_rate -> open
half_open, probes_succeeded -> closed
half_open, probe_failed -> open
half_open, max_wait_in_half_open -> open
half_open, force_open -> forced_open
half_open, disable -> disabled
half_open, reset -> closed
half_open, reset (enabled: false) -> disabled
half_open, settings (enabled: false) -> disabled
forced_open, disable -> disabled
forced_open, reset -> closed
forced_open, reset (enabled: false) -> disabled
disabled, force_open -> forced_open
disabled, reset -> closed
disabled, reset (enabled: false) -> disabled
disabled, settings -> closed
";

fn line(from: State, rule: Rule, enabled: bool, to: State) -> String {
    // Whatever else moves a breaker does not ask whether it is enabled.
    let asks = matches!(rule, Rule::Reset | Rule::Settings);
    let enabled = if enabled || !asks { "" } else { " (enabled: false)" };
    format!("{}, {}{enabled} -> {}", from.name(), rule.name(), to.name())
}

#[test]
fn the_table_is_the_one_written_here() {
    let mut lines = vec![];
    for from in State::ALL {
        for rule in Rule::ALL {
            for enabled in [true, false] {
                lines.extend(from.next(rule, enabled).map(|to| line(from, rule, enabled, to)));
            }
        }
    }
    lines.dedup();
    assert_eq!(lines.join("\n") + "\n", TABLE);
}

#[derive(Clone, Copy, Debug)]
enum Event {
    AcquireAtOnce,
    AcquireAfterTheWait,
    AcquireAfterTheProbesLimit,
    Success,
    Failure,
    SlowSuccess,
    Ignored,
    RecordedByAnEarlierGeneration,
    ForceOpen,
    Disable,
    Reset,
    EnabledByANewConfiguration,
    DisabledByANewConfiguration,
}

const EVENTS: [Event; 13] = [
    Event::AcquireAtOnce,
    Event::AcquireAfterTheWait,
    Event::AcquireAfterTheProbesLimit,
    Event::Success,
    Event::Failure,
    Event::SlowSuccess,
    Event::Ignored,
    Event::RecordedByAnEarlierGeneration,
    Event::ForceOpen,
    Event::Disable,
    Event::Reset,
    Event::EnabledByANewConfiguration,
    Event::DisabledByANewConfiguration,
];

const START: Mark = Mark::from_millis(1_000_000);
const WAIT: Duration = Duration::from_secs(10);
const PROBES_LIMIT: Duration = Duration::from_secs(100);
const SLOW: Duration = Duration::from_secs(1);

/// Settings under which a closed breaker opens at the first bad call by one rule each, and judges its only probe.
fn variants() -> Vec<Settings> {
    let base = Settings {
        window_size: 1,
        minimum_calls: 1,
        half_open_calls: 1,
        wait_in_open: WAIT,
        max_wait_in_half_open: PROBES_LIMIT,
        slow_call_duration: SLOW,
        ..Settings::default()
    };
    let long = Settings { window_size: 100, minimum_calls: 100, ..base.clone() };
    vec![
        long.clone(),
        Settings { consecutive_failures: Some(1), ..long },
        Settings { half_open_policy: HalfOpenPolicy::AllMustSucceed, ..base.clone() },
        base,
    ]
}

/// A breaker that got into `state` by the shortest way, and a permit of the state's generation.
fn in_state(state: State, rules: &Rules) -> (Vec<u8>, Permit) {
    let mut owned = OwnedSlot::fresh(rules, START);
    let mut slot = owned.slot();
    // So that there is an earlier generation whose permits can come late.
    let _ = slot.reset(rules, START);
    let mut permit = slot.acquire(rules, START).answer.unwrap();
    match state {
        State::Closed => {}
        State::ForcedOpen => drop(slot.force_open(rules, START)),
        State::Disabled => drop(slot.disable(rules, START)),
        State::Open | State::HalfOpen => {
            let limit = rules.settings().window_size;
            for _ in 0..limit {
                let _ = slot.record(rules, &permit, Outcome::Failure, START);
            }
        }
    }
    match state {
        State::HalfOpen => permit = slot.acquire(rules, START.after(WAIT)).answer.unwrap(),
        _ => permit.generation = slot.snapshot(rules, START).generation,
    }
    let bytes = owned.to_bytes();
    let reached =
        OwnedSlot::restore(bytes.clone(), rules, START).unwrap().0.slot().snapshot(rules, START).state;
    assert_eq!(reached, state);
    (bytes, permit)
}

fn meet(bytes: &mut Vec<u8>, permit: &Permit, event: Event, rules: &Rules) -> Option<Transition> {
    let settings =
        |enabled| Rules::new(&Settings { enabled, ..rules.settings().clone() }).unwrap().at_revision(1);
    let now = permit.admitted_at;
    let slot = |bytes| Slot::parse(bytes).unwrap();
    match event {
        Event::AcquireAtOnce => slot(bytes).acquire(rules, now).transition,
        Event::AcquireAfterTheWait => slot(bytes).acquire(rules, now.after(WAIT)).transition,
        Event::AcquireAfterTheProbesLimit => slot(bytes).acquire(rules, now.after(PROBES_LIMIT)).transition,
        Event::Success => slot(bytes).record(rules, permit, Outcome::Success, now).transition,
        Event::Failure => slot(bytes).record(rules, permit, Outcome::Failure, now).transition,
        Event::SlowSuccess => slot(bytes).record(rules, permit, Outcome::Success, now.after(SLOW)).transition,
        Event::Ignored => slot(bytes).record(rules, permit, Outcome::Ignored, now).transition,
        Event::RecordedByAnEarlierGeneration => {
            let earlier = Permit { generation: permit.generation - 1, ..*permit };
            slot(bytes).record(rules, &earlier, Outcome::Failure, now).transition
        }
        Event::ForceOpen => slot(bytes).force_open(rules, now).transition,
        Event::Disable => slot(bytes).disable(rules, now).transition,
        Event::Reset => slot(bytes).reset(rules, now).transition,
        Event::EnabledByANewConfiguration => Slot::adopt(bytes, &settings(true), now).unwrap().transition,
        Event::DisabledByANewConfiguration => Slot::adopt(bytes, &settings(false), now).unwrap().transition,
    }
}

#[test]
fn every_state_meets_every_event_and_moves_only_along_the_table() {
    let mut seen = BTreeSet::new();
    for settings in variants() {
        for state in State::ALL {
            for event in EVENTS {
                for enabled in [true, false] {
                    // The state is reached while enabled; then the event comes, for a reset under either setting.
                    let rules = Rules::new(&settings).unwrap();
                    let (mut bytes, permit) = in_state(state, &rules);
                    let (at_event, then_enabled) = match event {
                        Event::Reset => {
                            (Rules::new(&Settings { enabled, ..settings.clone() }).unwrap(), enabled)
                        }
                        Event::DisabledByANewConfiguration => (rules, false),
                        Event::EnabledByANewConfiguration => {
                            let off = Rules::new(&Settings { enabled: false, ..settings.clone() }).unwrap();
                            let adopted = Slot::adopt(&mut bytes, &off, START).unwrap();
                            if adopted.transition.is_some() && state != State::Disabled {
                                continue;
                            }
                            (rules, true)
                        }
                        _ => (rules, true),
                    };
                    let moved = meet(&mut bytes, &permit, event, &at_event);
                    let after = Slot::parse(&mut bytes).unwrap().snapshot(&at_event, START);
                    let Some(moved) = moved else {
                        assert_eq!(after.state, state, "{event:?} moved {state:?} without saying so");
                        continue;
                    };
                    assert_eq!((moved.from, moved.to), (state, after.state));
                    assert_eq!(after.generation, moved.generation);
                    assert_eq!(after.last, Some(moved));
                    assert_eq!(state.next(moved.rule, then_enabled), Some(moved.to));
                    seen.insert(line(state, moved.rule, then_enabled, moved.to));
                }
            }
        }
    }
    let table: BTreeSet<String> = TABLE.lines().map(str::to_string).collect();
    let missing: Vec<_> = table.difference(&seen).collect();
    let foreign: Vec<_> = seen.difference(&table).collect();
    assert!(
        missing.is_empty() && foreign.is_empty(),
        "never seen: {missing:?}; not in the table: {foreign:?}"
    );
}

/// As an operator's worker does that does not know the settings, or one whose configuration is being replaced.
#[test]
fn a_reset_leads_where_the_latest_settings_say_whoever_makes_it() {
    for enabled in [true, false] {
        let rules = |enabled| Rules::new(&Settings { enabled, ..Settings::default() }).unwrap();
        let (latest, earlier) = (rules(enabled).at_revision(2), rules(!enabled).at_revision(1));
        let mut owned = OwnedSlot::fresh(&latest, START);
        let mut slot = owned.slot();
        let _ = slot.force_open(&earlier, START);
        let reset = slot.reset(&earlier, START).transition.unwrap();
        assert_eq!(reset.to, if enabled { State::Closed } else { State::Disabled });
    }
}

#[test]
fn the_readme_shows_the_table_as_its_diagram() {
    let mut edges: Vec<(State, State, Vec<&str>)> = vec![];
    for from in State::ALL {
        for rule in Rule::ALL {
            for enabled in [true, false] {
                let Some(to) = from.next(rule, enabled) else { continue };
                let known = edges.iter_mut().find(|edge| (edge.0, edge.1) == (from, to));
                match known {
                    Some((_, _, rules)) if rules.contains(&rule.name()) => {}
                    Some((_, _, rules)) => rules.push(rule.name()),
                    None => edges.push((from, to, vec![rule.name()])),
                }
            }
        }
    }
    let lines = edges
        .iter()
        .map(|(from, to, rules)| format!("    {} --> {}: {}\n", from.name(), to.name(), rules.join(", ")));
    let diagram =
        format!("```mermaid\nstateDiagram-v2\n    [*] --> closed\n{}```\n", lines.collect::<String>());
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(&diagram), "README.md should contain:\n{diagram}");
}

#[test]
fn a_threshold_shows_in_the_reason_of_a_move() {
    let settings = Settings { window_size: 3, minimum_calls: 3, wait_in_open: WAIT, ..Settings::default() };
    let rules = Rules::new(&Settings { failure_rate_threshold: Hundredths(6650), ..settings }).unwrap();
    let mut owned = OwnedSlot::fresh(&rules, START);
    let mut slot = owned.slot();
    let permit = slot.acquire(&rules, START).answer.unwrap();
    for outcome in [Outcome::Failure, Outcome::Success] {
        assert_eq!(slot.record(&rules, &permit, outcome, START).transition, None);
    }
    let opened = slot.record(&rules, &permit, Outcome::Failure, START).transition.unwrap();
    assert_eq!(
        opened.to_string(),
        "closed -> open: failure rate 66.66% reached 66.50% (2 of 3 calls failed); next probe in 10s"
    );
}
