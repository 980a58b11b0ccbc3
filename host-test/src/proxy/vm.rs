use anyhow::{Context as _, Result, bail, ensure};
use proxy_wasm_host::abi::v0_2_1::types::Action;
use proxy_wasm_host::abi::v0_2_1::{CallScope, ContextId, Guest, GuestError, Started, StreamKind};

use super::exchange::Exchange;
use super::{Callback, Module, Plugin, Proxy};

/// One VM and the plugins in it.
#[derive(Debug)]
pub(super) struct Vm {
    guest: Guest,
    /// By name, in the order in which they were started.
    roots: Vec<(String, ContextId)>,
    pub(super) is_lost: bool,
}

/// The callbacks that one request makes, on its context.
pub(super) type Scope<'a> = CallScope<'a, Exchange>;

impl Vm {
    pub(super) fn start(proxy: &Proxy, module: &Module, plugins: &[Plugin]) -> Result<Self> {
        let mut guest = module.instantiate(proxy.vm_services())?;
        let mut roots = Vec::new();
        for plugin in plugins {
            let name = &plugin.name;
            match guest.start(plugin.config())? {
                Started::Serving(root) => roots.push((name.clone(), root)),
                Started::Refused { .. } => {
                    bail!("the module refused the configuration of {name}:\n{}", proxy.log())
                }
            }
        }
        Ok(Self { guest, roots, is_lost: false })
    }

    /// Whether the module takes a plugin's configuration.
    pub(super) fn accepts(proxy: &Proxy, module: &Module, plugin: &Plugin) -> Result<bool> {
        let started = module.instantiate(proxy.vm_services())?.start(plugin.config())?;
        Ok(matches!(started, Started::Serving(_)))
    }

    /// Gives a plugin another configuration.
    pub(super) fn configure(&mut self, plugin: &Plugin) -> Result<()> {
        let root = self.root(Some(&plugin.name))?;
        let is_accepted = self.guest.enter_root().on_configure(root, plugin.config())?;
        ensure!(is_accepted, "the module refused a configuration that it took in another VM");
        Ok(())
    }

    /// The context of a plugin, or of the first one.
    pub(super) fn root(&self, plugin: Option<&str>) -> Result<ContextId> {
        let mut roots = self.roots.iter();
        let root = match plugin {
            Some(name) => roots.find(|(known, _)| known == name),
            None => roots.next(),
        };
        let &(_, root) =
            root.with_context(|| format!("no plugin {} was started", plugin.unwrap_or("at all")))?;
        Ok(root)
    }

    pub(super) fn tick(&mut self) -> Result<()> {
        for &(_, root) in &self.roots {
            self.guest.enter_root().on_tick(root)?;
        }
        Ok(())
    }

    /// A request arrives. It waits for its response unless the module replied.
    pub(super) fn begin(&mut self, root: ContextId, exchange: Exchange) -> Result<(ContextId, Exchange)> {
        let sizes = exchange.sizes();
        let (answer, exchange) = self.run(exchange, |scope| {
            let stream = scope.on_context_create(Some(root))?;
            scope.expect_stream_kind(stream, StreamKind::Http)?;
            let no_body = sizes.request_body == 0;
            let mut action = scope.on_request_headers(stream, sizes.request_headers, no_body)?;
            if action == Action::Continue && !no_body {
                action = scope.on_request_body(stream, sizes.request_body, true)?;
            }
            Ok((stream, action))
        })?;
        let (stream, action) = answer;
        ensure!(
            action == Action::Continue || exchange.reply.is_some(),
            "the module paused the request and sent no reply; callouts, which it may wait for, are not served"
        );
        Ok((stream, exchange))
    }

    /// A response that the exchange has received passes through the module.
    pub(super) fn respond(&mut self, stream: ContextId, exchange: Exchange) -> Result<Exchange> {
        let sizes = exchange.sizes();
        let (no_body, no_trailers) = (sizes.response_body == 0, sizes.response_trailers == 0);
        let ((), exchange) = self.run(exchange, |scope| {
            scope.on_response_headers(stream, sizes.response_headers, no_body && no_trailers)?;
            if !no_body {
                scope.on_response_body(stream, sizes.response_body, no_trailers)?;
            }
            if !no_trailers {
                scope.on_response_trailers(stream, sizes.response_trailers)?;
            }
            Ok(())
        })?;
        Ok(exchange)
    }

    /// The request is over.
    pub(super) fn end(&mut self, stream: ContextId, exchange: Exchange) -> Result<Exchange> {
        let ((), exchange) = self.run(exchange, |scope| {
            scope.on_done(stream)?;
            scope.on_log(stream)?;
            scope.on_delete(stream)?;
            Ok(())
        })?;
        Ok(exchange)
    }

    /// A request with these callbacks, and its end.
    pub(super) fn play(
        &mut self,
        root: ContextId,
        exchange: Exchange,
        callbacks: &[Callback],
    ) -> Result<Exchange> {
        let sizes = exchange.sizes();
        let ((), exchange) = self.run(exchange, |scope| {
            let stream = scope.on_context_create(Some(root))?;
            scope.expect_stream_kind(stream, StreamKind::Http)?;
            callbacks.iter().try_for_each(|callback| callback.call(scope, stream, sizes))?;
            scope.on_done(stream)?;
            scope.on_delete(stream)?;
            Ok(())
        })?;
        Ok(exchange)
    }

    fn run<T>(
        &mut self,
        exchange: Exchange,
        callbacks: impl FnOnce(&mut Scope<'_>) -> Result<T, GuestError>,
    ) -> Result<(T, Exchange)> {
        ensure!(!self.is_lost, "the request's VM is lost, and nobody will hear of how it ended");
        let (answer, exchange) = self.guest.with(exchange, callbacks);
        Ok((answer.context("the module broke")?, exchange))
    }
}
