use std::rc::Rc;
use std::sync::Arc;

use breakerbox_config::{Mode, OnRejection, Policy, Reject};
use breakerbox_core::Rejection;
use proxy_wasm::types::Action;

use crate::guard::Guard;
use crate::metric::Counter;
use crate::metrics::Rejections;
use crate::{fallback, hostcalls, reply};

/// What is guarded: the requests of one id. Several may have the same guard.
pub(crate) struct Ward {
    guard: Rc<Guard>,
    policy: Arc<Policy>,
    /// In shadow mode: what the breaker would have rejected.
    would_reject: Option<Rejections>,
    /// Where there is a fallback: requests that took it.
    fallbacks: Option<Counter>,
}

impl Ward {
    pub(crate) fn new(guard: Rc<Guard>, policy: Arc<Policy>) -> Self {
        let label = &guard.id().label;
        let has_fallback = matches!(policy.on_rejection, OnRejection::Fallback(_));
        Self {
            would_reject: (policy.mode == Mode::Shadow)
                .then(|| Rejections::define("would_reject_calls", label)),
            fallbacks: has_fallback
                .then(|| Counter::define(&format!("breakerbox_fallback_calls[breaker={label}]"))),
            guard,
            policy,
        }
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Does with a request what is to be done where the breaker rejects it. It has no permit, whatever becomes of
    /// it, so nothing of it is recorded: a shadow lives as the breaker would.
    pub(crate) fn reject(&self, rejection: &Rejection) -> Action {
        let id = self.guard.id();
        // For access logs, and here only: a healthy request pays nothing for them.
        let note = |decision| {
            hostcalls::set_property("breakerbox.breaker", &id.name);
            hostcalls::set_property("breakerbox.decision", decision);
        };
        if let Some(would_reject) = self.would_reject {
            note("would_reject");
            would_reject.count(rejection.reason);
            return Action::Continue;
        }
        self.guard.count_rejection(rejection.reason);
        let reject = match &self.policy.on_rejection {
            OnRejection::Fallback(headers) if fallback::take(headers) => {
                note("fallback");
                if let Some(fallbacks) = self.fallbacks {
                    fallbacks.increment();
                }
                return Action::Continue;
            }
            OnRejection::Fallback(_) => &Reject::default(),
            OnRejection::Reject(reject) => reject,
        };
        note("rejected");
        // If the proxy does not take the reply the request goes on: without one it would hang.
        if reply::send(id, rejection, reject) { Action::Pause } else { Action::Continue }
    }
}
