//! Scenarios: scripted histories of one breaker, which every host must answer alike.
//!
//! A [`Scenario`] is read from a JSON file, [`run`] on a [`Host`](crate::hosts::Host), and yields one [`Observation`] a
//! step. [`Scenario::differences`] compares those with what the file expects, [`Observation::differences`] with those of
//! another host.

mod difference;
mod expectation;
mod file;
mod observation;
mod runner;
mod step;

pub use difference::Difference;
pub use expectation::Expectation;
pub use file::Scenario;
pub use observation::Observation;
pub use runner::run;
pub use step::{Action, Control, Step};
