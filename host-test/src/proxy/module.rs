use std::fs;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use proxy_wasm_host::abi::v0_2_1::{Guest, Host, VmServices};
use proxy_wasm_host::{Engine, Limits, Module as Compiled};

use crate::guests::FILTER_WASM;

/// A compiled proxy-wasm module, which VMs are made of.
#[derive(Clone, Debug)]
pub struct Module {
    compiled: Compiled,
    limits: Limits,
}

/// Modules and VMs of this process have one engine.
static HOST: OnceLock<Host> = OnceLock::new();
static FILTER: Mutex<Option<Module>> = Mutex::new(None);

impl Module {
    /// A module that hangs ends with an error after this long; no test waits for ever.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// breakerbox's filter, as the build script built it. It is compiled once in a process.
    ///
    /// # Errors
    /// The file that was built is gone.
    pub fn filter() -> Result<Self> {
        let mut filter = FILTER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = &*filter {
            return Ok(module.clone());
        }
        Ok(filter.insert(Self::read(Path::new(FILTER_WASM))?).clone())
    }

    /// The module of a wasm file.
    ///
    /// # Errors
    /// The file cannot be read, or is no module.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
        Self::compile(&bytes).with_context(|| format!("{} cannot be used", path.display()))
    }

    /// The module of these bytes.
    ///
    /// # Errors
    /// They are no module.
    pub fn compile(bytes: &[u8]) -> Result<Self> {
        // As many metrics as the module likes: Envoy has no limit either.
        let limits = Limits::new().with_cpu_time(Self::PATIENCE).with_max_shared_names(None);
        Ok(Self { compiled: Compiled::new(host()?.engine(), bytes)?, limits })
    }

    /// The module, whose VMs break if they need more memory than this; otherwise they may have 128 MiB.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { limits: self.limits.with_memory_bytes(bytes), ..self }
    }

    pub(super) fn instantiate(&self, services: VmServices) -> Result<Guest> {
        Ok(Guest::new(host()?, &self.compiled, services, &self.limits)?)
    }
}

fn host() -> Result<&'static Host> {
    if let Some(host) = HOST.get() {
        return Ok(host);
    }
    let host = Host::new(&Engine::new()?)?;
    Ok(HOST.get_or_init(|| host))
}
