use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use anyhow::{Context as _, Result};
use proxy_wasm_host::abi::v0_2_1::ContextId;

use super::exchange::Exchange;
use super::vm::Vm;
use super::{Answer, Reply, Request, Response};

/// A request that passed the module and waits for its response. It is never heard of again if it is dropped.
pub struct Stream {
    vm: Rc<RefCell<Vm>>,
    context: ContextId,
    exchange: Exchange,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("context", &self.context).finish_non_exhaustive()
    }
}

impl Stream {
    pub(super) fn begin(vm: Rc<RefCell<Vm>>, plugin: Option<&str>, request: Request) -> Result<Answer> {
        let mut held = vm.borrow_mut();
        let root = held.root(plugin)?;
        let (context, mut exchange) = held.begin(root, Exchange::new(request))?;
        if let Some(reply) = exchange.reply.clone() {
            exchange.receive_reply(&reply);
            let exchange = held.respond(context, exchange)?;
            let exchange = held.end(context, exchange)?;
            return Ok(Answer::Replied(exchange.into_reply().unwrap_or(reply)));
        }
        drop(held);
        Ok(Answer::Passed(Self { vm, context, exchange }))
    }

    /// The upstream responds; the client gets what the module makes of it.
    ///
    /// # Errors
    /// The module breaks, or its VM is lost.
    pub fn respond(mut self, response: Response) -> Result<Reply> {
        let mut vm = self.vm.borrow_mut();
        self.exchange.receive(response);
        let mut exchange = vm.respond(self.context, self.exchange)?;
        if let Some(reply) = exchange.reply.clone() {
            exchange.receive_reply(&reply);
        }
        vm.end(self.context, exchange)?.into_reply().context("the module took the response's status away")
    }

    /// The client leaves before there is a response.
    ///
    /// # Errors
    /// The module breaks, or its VM is lost.
    pub fn leave(mut self) -> Result<()> {
        self.exchange.break_off(Response::CLIENT_LEFT);
        self.vm.borrow_mut().end(self.context, self.exchange)?;
        Ok(())
    }

    /// A header of the request as the module left it.
    pub fn request_header(&self, name: &str) -> Option<String> {
        self.exchange.request_header(name)
    }

    /// A property of the request, also one that the module set.
    pub fn property(&self, path: &[&str]) -> Option<&[u8]> {
        self.exchange.property(path)
    }
}
