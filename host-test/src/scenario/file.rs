use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
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
    /// The file cannot be read, or it is no scenario: the error names the step and the key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).context("cannot be read")?;
        Self::parse(&text)
    }

    /// Reads a scenario from its text.
    ///
    /// # Errors
    /// The text is no scenario: the error names the step and the key.
    pub fn parse(text: &str) -> Result<Self> {
        let written: Written = serde_json::from_str(text).context("is not a scenario")?;
        let config = written.config.to_string();
        if let Err(problems) = breakerbox_config::settings(&config, &breakerbox_core::Settings::default()) {
            bail!("config: {problems}");
        }
        let steps = written
            .steps
            .into_iter()
            .zip(1..)
            .map(|(step, number)| Step::parse(step).with_context(|| format!("step {number}")))
            .collect::<Result<Vec<_>>>()?;
        check_clock(&steps, &written.clock)?;
        check_calls(&steps)?;
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

fn check_clock(steps: &[Step], clock: &Clock) -> Result<()> {
    for (pair, number) in steps.windows(2).zip(2..) {
        let (earlier, later) = (pair[0].at_ms, pair[1].at_ms);
        ensure!(
            earlier <= later || *clock == Clock::Unsteady,
            "step {number}: at_ms is {later}, before the {earlier} of the step before it: write \"clock\": \"unsteady\" \
             if the clock is to step back"
        );
    }
    Ok(())
}

fn check_calls(steps: &[Step]) -> Result<()> {
    let mut acquired = HashSet::new();
    for (step, number) in steps.iter().zip(1..) {
        match &step.action {
            Action::Acquire(id) => {
                acquired.insert(id);
            }
            Action::Record(id, _) => {
                ensure!(acquired.contains(id), "step {number}: record: no earlier step acquires \"{id}\"");
            }
            Action::Snapshot | Action::Control(_) | Action::Restart => {}
        }
    }
    Ok(())
}
