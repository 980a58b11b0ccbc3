use anyhow::{Result, anyhow};
use breakerbox_core::{Rejection, Settings};

use super::agreeing::Agreeing;
use super::{Decision, Host, Session};

mod in_process;
mod shared;

use in_process::InProcess;
use shared::SharedSlot;

/// The core in this process, without wasm.
///
/// There are two ways to use it: a breaker that threads share, and workers on a slot in a store. Every scenario runs both
/// ways, and they must agree.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Host for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn open(&self, settings: &str, workers: usize) -> Result<Box<dyn Session>> {
        let rules = breakerbox_config::settings(settings, &Settings::default())
            .map_err(|problems| anyhow!("config: {problems}"))?;
        let in_process = InProcess::new(rules.clone())?;
        let shared = SharedSlot::new(&rules, workers)?;
        Ok(Box::new(Agreeing::new(("in one process", in_process), ("on a shared slot", shared))))
    }
}

impl<T> From<Result<T, Rejection>> for Decision {
    fn from(answer: Result<T, Rejection>) -> Self {
        match answer {
            Ok(_) => Self::Admitted,
            Err(Rejection { reason, retry_after, .. }) => Self::Rejected { reason, retry_after },
        }
    }
}
