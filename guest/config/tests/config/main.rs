//! What the configuration accepts, refuses and warns of.

mod any_input;
mod filter;
mod inheritance;
mod keys;
mod outcomes;
mod rejections;
mod settings;
mod sharing;
mod warnings;

use breakerbox_config::{FilterConfig, Problems};

/// A filter's configuration that has to be accepted.
#[track_caller]
fn accept(json: &str) -> FilterConfig {
    breakerbox_config::filter(json).unwrap_or_else(|problems| panic!("refused: {problems}\n{json}"))
}

/// The lines that refuse a filter's configuration.
#[track_caller]
fn refuse(json: &str) -> Vec<String> {
    let problems = breakerbox_config::filter(json).map(|config| panic!("accepted: {config:?}\n{json}"));
    lines(&problems.unwrap_err())
}

fn lines(problems: &Problems) -> Vec<String> {
    problems.to_string().lines().map(str::to_owned).collect()
}
