use std::cell::RefCell;
use std::rc::Rc;

use anyhow::Result;

use super::exchange::Exchange;
use super::stream::Stream;
use super::vm::Vm;
use super::{Answer, Callback, Module, Plugin, Proxy, Reply, Request, Response};

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

    /// A request to the plugin of this name whose callbacks come in this order, which need not make sense. The response's
    /// headers and properties are there from the start. What the plugin replied, if it did.
    ///
    /// # Errors
    /// The module breaks, or there is no such plugin.
    pub fn callbacks(
        &self,
        plugin: &str,
        request: Request,
        response: Response,
        callbacks: &[Callback],
    ) -> Result<Option<Reply>> {
        let mut vm = self.vm.borrow_mut();
        let root = vm.root(Some(plugin))?;
        let mut exchange = Exchange::new(request);
        exchange.receive(response);
        Ok(vm.play(root, exchange, callbacks)?.reply)
    }

    /// The configuration of the plugin with this one's name changes, as Envoy does it: it is tried in a VM of its own first.
    /// False if the plugin refuses it, and then the old one stays.
    ///
    /// # Errors
    /// The module breaks, or there is no such plugin.
    pub fn configure(&mut self, plugin: &Plugin) -> Result<bool> {
        if !Vm::accepts(&self.proxy, &self.module, plugin)? {
            return Ok(false);
        }
        self.vm.borrow_mut().configure(plugin)?;
        for known in self.plugins.iter_mut().filter(|known| known.name == plugin.name) {
            known.clone_from(plugin);
        }
        Ok(true)
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
