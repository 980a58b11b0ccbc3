use anyhow::{Context as _, Result};
use breakerbox_config::KEYS;
use serde_json::{Map, Value, json};

use super::{Host, Session};

mod session;
mod view;

use session::Guarded;

/// The built filter in a proxy of this process: a VM a worker, over one shared store.
///
/// An acquire is a request, its outcome a response with status 200 or 500, or a client that leaves. Snapshots and controls
/// are requests to the filter's role `admin`.
#[derive(Clone, Copy, Debug)]
pub struct Filter;

impl Host for Filter {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn open(&self, settings: &str, workers: usize) -> Result<Box<dyn Session>> {
        let settings = serde_json::from_str(settings).context("the settings are no JSON object")?;
        let config = json!({ "default": with_defaults_of_core(settings) });
        Ok(Box::new(Guarded::new(&config.to_string(), workers)?))
    }
}

/// What a scenario's settings do not name has the core's default, also where the filter's own is another.
fn with_defaults_of_core(mut settings: Map<String, Value>) -> Map<String, Value> {
    const NAME: &str = "max_wait_in_half_open";
    let key = KEYS.iter().find(|key| key.name == NAME);
    if !settings.keys().any(|given| key.is_some_and(|key| key.is_spelled(given))) {
        settings.insert(NAME.to_owned(), json!("0s"));
    }
    settings
}
