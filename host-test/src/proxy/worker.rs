use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;

use super::stream::Stream;
use super::vm::Vm;
use super::{Answer, Module, Plugin, Proxy, Request};

/// One of the proxy's workers: a VM with its plugins.
#[derive(Debug)]
pub struct Worker {
    proxy: Proxy,
    module: Module,
    plugins: Vec<Plugin>,
    /// Streams hold on to the VM that they began in.
    vm: Rc<RefCell<Vm>>,
}

impl Worker {
    pub(super) fn start(proxy: Proxy, module: Module, plugins: Vec<Plugin>) -> Result<Self> {
        let vm = Rc::new(RefCell::new(Vm::start(&proxy, &module, &plugins)?));
        Ok(Self { proxy, module, plugins, vm })
    }

    /// A request arrives at the first plugin.
    ///
    /// # Errors
    /// The module breaks.
    pub fn request(&self, request: Request) -> Result<Answer> {
        Stream::begin(Rc::clone(&self.vm), None, request)
    }

    /// A request arrives at the plugin of this name.
    ///
    /// # Errors
    /// The module breaks, or there is no such plugin.
    pub fn request_to(&self, plugin: &str, request: Request) -> Result<Answer> {
        Stream::begin(Rc::clone(&self.vm), Some(plugin), request)
    }

    /// Calls every plugin's tick, which is never called otherwise.
    ///
    /// # Errors
    /// The module breaks.
    pub fn tick(&self) -> Result<()> {
        self.vm.borrow_mut().tick()
    }

    /// The VM is lost, as in a crash: its memory is gone, the plugins never hear how their requests ended, and those are
    /// errors from now on. A new VM takes its place.
    ///
    /// # Errors
    /// The new one does not start.
    pub fn crash(&mut self) -> Result<()> {
        self.vm.borrow_mut().is_lost = true;
        self.replace()
    }

    /// A new VM takes the place of the old, which ends the requests that it has and is gone then.
    ///
    /// # Errors
    /// The new one does not start.
    pub fn replace(&mut self) -> Result<()> {
        let vm = Vm::start(&self.proxy, &self.module, &self.plugins)?;
        self.vm = Rc::new(RefCell::new(vm));
        Ok(())
    }
}
