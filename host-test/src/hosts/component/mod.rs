use anyhow::Result;

use super::agreeing::Agreeing;
use super::{Host, Session};

mod instance;
mod kept;
mod restored;

use kept::Kept;
use restored::Restored;

/// The built component in wasmtime.
///
/// There are two ways to use it: an instance that lives long and keeps the breaker, and instances that restore it from a
/// store for each call. Every scenario runs both ways, and they must agree.
#[derive(Clone, Copy, Debug)]
pub struct Component;

impl Host for Component {
    fn name(&self) -> &'static str {
        "component"
    }

    fn open(&self, settings: &str, workers: usize) -> Result<Box<dyn Session>> {
        let kept = Kept::new(settings)?;
        let restored = Restored::new(settings, workers)?;
        Ok(Box::new(Agreeing::new(("in one instance", kept), ("restored for each call", restored))))
    }
}
