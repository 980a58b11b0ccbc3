use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::{Action, Difference, Observation, Step};

/// A scripted history of one breaker.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// The breaker's settings, as a user writes them: JSON.
    pub config: String,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// The file as it is written. Keys that are not here, such as `source`, are notes for people.
#[derive(Deserialize)]
struct Written {
    name: String,
    config: Value,
    #[serde(default)]
    clock: Clock,
    steps: Vec<Value>,
}

#[derive(Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Clock {
    #[default]
    Steady,
    Unsteady,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, or it is no scenario: the error has a line for each mistake, with step and key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).context("cannot be read")?;
        Self::parse(&text)
    }

    /// Reads a scenario from its text.
    ///
    /// # Errors
    /// The text is no scenario: the error has a line for each mistake, with step and key.
    pub fn parse(text: &str) -> Result<Self> {
        let written: Written = serde_json::from_str(text).context("is not a scenario")?;
        let config = written.config.to_string();
        let mut problems = Vec::new();
        if let Err(found) = breakerbox_config::settings(&config, &breakerbox_core::Settings::default()) {
            problems.extend(found.0.iter().map(|problem| format!("config: {problem}")));
        }
        let mut steps = Vec::new();
        for (step, number) in written.steps.into_iter().zip(1..) {
            match Step::parse(step) {
                Ok(step) => steps.push(step),
                Err(error) => problems.push(format!("step {number}: {error:#}")),
            }
        }
        // Where a step is missing, the others do not follow each other as they should.
        if problems.is_empty() {
            problems.extend(clock_problems(&steps, &written.clock));
            problems.extend(call_problems(&steps));
        }
        ensure!(problems.is_empty(), "{}", problems.join("\n"));
        Ok(Self { name: written.name, config, steps })
    }

    /// How many workers take part.
    pub fn workers(&self) -> usize {
        self.steps.iter().map(|step| step.worker + 1).max().unwrap_or(1)
    }

    /// Where what was seen is not what the file expects.
    pub fn differences(&self, seen: &[Observation]) -> Vec<Difference> {
        let steps = self.steps.iter().zip(seen).zip(1..);
        steps.flat_map(|((step, seen), number)| Difference::between(number, &step.expect, seen)).collect()
    }
}

/// Steps before which the clock would step back, if it must not.
fn clock_problems(steps: &[Step], clock: &Clock) -> Vec<String> {
    let times = steps.windows(2).zip(2..).map(|(pair, number)| (number, pair[0].at_ms, pair[1].at_ms));
    let back = times.filter(|(_, earlier, later)| earlier > later && *clock == Clock::Steady);
    back.map(|(number, earlier, later)| {
        format!(
            "step {number}: at_ms is {later}, before the {earlier} of the step before it: write \"clock\": \
             \"unsteady\" if the clock is to step back"
        )
    })
    .collect()
}

/// Steps that end a call which no step before them began.
fn call_problems(steps: &[Step]) -> Vec<String> {
    let (mut acquired, mut problems) = (HashSet::new(), Vec::new());
    for (step, number) in steps.iter().zip(1..) {
        match &step.action {
            Action::Acquire(id) => {
                acquired.insert(id);
            }
            Action::Record(id, _) if !acquired.contains(id) => {
                problems.push(format!("step {number}: record: no earlier step acquires \"{id}\""));
            }
            Action::Record(..) | Action::Snapshot | Action::Control(_) | Action::Restart => {}
        }
    }
    problems
}
