use std::cell::{Cell, RefCell};

use breakerbox_core::{
    Mark, Outcome, Permit, Reason, Rejection, Rules, Shared, Snapshot, State, Update, WindowType,
};

use crate::hostcalls::{self, Level};
use crate::id::Id;
use crate::metrics::Metrics;
use crate::revocations::GaugeRevocations;
use crate::store::SharedData;

/// How often the state gauge is set before another worker's moves are left to that worker.
const GAUGE_ATTEMPTS: u32 = 8;

/// One breaker as this VM sees it.
#[derive(Debug)]
pub(crate) struct Guard {
    id: Id,
    metrics: Metrics,
    /// Whether calls were recorded here that the gauges of the window do not show yet.
    is_shown: Cell<bool>,
    /// The window as the gauges showed it last.
    shown: Cell<Option<Window>>,
    // Borrowed within single methods here, none of which calls another that borrows.
    shared: RefCell<Shared<GaugeRevocations>>,
}

/// What a breaker says to a request.
pub(crate) enum Decision {
    Admitted(Permit),
    Rejected(Rejection),
    /// Shared data is out of order, and a breaker's own trouble must not stop traffic.
    Unguarded,
}

/// What an operator does to a breaker.
#[derive(Clone, Copy)]
pub(crate) enum Control {
    ForceOpen,
    Disable,
    Reset,
}

impl Control {
    pub(crate) const ALL: [Self; 3] = [Self::ForceOpen, Self::Disable, Self::Reset];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ForceOpen => "force-open",
            Self::Disable => "disable",
            Self::Reset => "reset",
        }
    }
}

impl Guard {
    /// The breaker `id` among the plugins of `vm`, created if this is the first worker to meet it.
    pub(crate) fn attach(id: Id, rules: Rules, vm: &str) -> Self {
        let revocations = GaugeRevocations::new(vm, &id.label);
        let guard = Self {
            metrics: Metrics::define(&id.label),
            is_shown: Cell::new(true),
            shown: Cell::new(None),
            shared: RefCell::new(Shared::new(rules, SharedData::slot_key(&id.name), revocations)),
            id,
        };
        guard.update();
        guard
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Whether it matters how long calls take.
    pub(crate) fn detects_slow_calls(&self) -> bool {
        self.shared.borrow().rules().detects_slow_calls()
    }

    /// Asks for a permit. While the breaker is known to be closed this is a gauge, and the clock if slow calls are looked
    /// for; while it is known to be open, a gauge and the clock.
    pub(crate) fn acquire(&self) -> Decision {
        let mut shared = self.shared.borrow_mut();
        let update = shared.acquire(&SharedData, hostcalls::now);
        self.report(&shared, &update);
        match update.answer {
            Some(Ok(permit)) => Decision::Admitted(permit),
            Some(Err(rejection)) => Decision::Rejected(rejection),
            None => Decision::Unguarded,
        }
    }

    /// Counts a call that was not let through.
    pub(crate) fn count_rejection(&self, reason: Reason) {
        self.metrics.count_rejection(reason);
    }

    /// Ends a call that lasted until `ended_at`, or until now. While the window is known to be clean, a success is a
    /// gauge, a counter, and the clock if slow calls are looked for.
    pub(crate) fn record(&self, permit: &Permit, outcome: Outcome, ended_at: Option<Mark>) {
        let mut shared = self.shared.borrow_mut();
        let update = if shared.rules().detects_slow_calls() {
            let now = hostcalls::now();
            let permit = Permit { admitted_at: as_if_admitted(permit.admitted_at, ended_at, now), ..*permit };
            shared.record(&SharedData, &permit, outcome, now)
        } else {
            shared.record(&SharedData, permit, outcome, hostcalls::now)
        };
        self.report(&shared, &update);
        // An outcome that has to wait is counted when it is merged.
        if let Some(recorded) = update.answer {
            self.metrics.count_call(recorded);
        }
        self.is_shown.set(false);
    }

    /// Does what an operator asks; false if shared data did not answer.
    pub(crate) fn control(&self, control: Control) -> bool {
        let now = hostcalls::now();
        let mut shared = self.shared.borrow_mut();
        let update = match control {
            Control::ForceOpen => shared.force_open(&SharedData, now),
            Control::Disable => shared.disable(&SharedData, now),
            Control::Reset => shared.reset(&SharedData, now),
        };
        self.report(&shared, &update);
        update.answer.is_some()
    }

    /// Stores the outcomes that wait here, if any.
    pub(crate) fn store_deferred(&self) {
        if self.shared.borrow().deferred() > 0 {
            self.update();
        }
    }

    /// Sets the gauges of the window, if it may have changed. Each worker does so until it has found nothing new, so that
    /// of those which set them at once the last is right; and while time alone can change the window.
    pub(crate) fn show_window(&self) {
        if self.is_shown.get() {
            return;
        }
        let shared = self.shared.borrow();
        let Some(snapshot) = shared.snapshot(&SharedData, hostcalls::now()) else { return };
        self.metrics.set_window(&snapshot);
        let window = Window::of(&snapshot);
        let fades = shared.rules().settings().window_type == WindowType::Time && snapshot.calls > 0;
        self.is_shown.set(self.shown.replace(Some(window)) == Some(window) && !fades);
    }

    fn update(&self) {
        let now = hostcalls::now();
        let mut shared = self.shared.borrow_mut();
        let update = shared.attach(&SharedData, now);
        self.report(&shared, &update);
        if let Some(snapshot) = update.answer {
            self.show_state(&shared, snapshot.state, now);
        }
    }

    /// Tells of what an operation did besides answering.
    fn report<T>(&self, shared: &Shared<GaugeRevocations>, update: &Update<T>) {
        for &recorded in &update.merged {
            self.metrics.count_call(recorded);
        }
        self.metrics.count_conflicts(update.conflicts);
        if update.answer.is_none() {
            self.metrics.count_give_up();
        }
        if let Some(fault) = update.replaced {
            let line =
                format!("breakerbox: {} began afresh: its stored state was no slot: {fault}", self.id.json);
            hostcalls::log(Level::Warn, &line);
        }
        for transition in &update.transitions {
            hostcalls::log(Level::Info, &format!("breakerbox: {} {transition}", self.id.json));
            self.metrics.count_transition(transition);
        }
        if let Some(last) = update.transitions.last() {
            self.show_state(shared, last.to, last.at);
            self.is_shown.set(false);
        }
    }

    /// Sets the state gauge. Another worker may make the next move and set the gauge before this one gets to it,
    /// so each looks at the slot after it set the gauge: the last to set it has seen that it is right.
    fn show_state(&self, shared: &Shared<GaugeRevocations>, state: State, now: Mark) {
        let mut state = state;
        for _ in 0..GAUGE_ATTEMPTS {
            self.metrics.set_state(state);
            match shared.snapshot(&SharedData, now) {
                Some(snapshot) if snapshot.state != state => state = snapshot.state,
                _ => return,
            }
        }
    }
}

/// What the gauges of a window show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    state: State,
    calls: u32,
    failed: u32,
    slow: u32,
}

impl Window {
    fn of(snapshot: &Snapshot) -> Self {
        let &Snapshot { state, calls, failed, slow, .. } = snapshot;
        Self { state, calls, failed, slow }
    }
}

/// A call may be slow by the time that its response took to begin, but is recorded when it is over. So that both
/// hold, its admission is moved by the time that the rest took. Where the clock stepped back that is none.
fn as_if_admitted(admitted_at: Mark, ended_at: Option<Mark>, now: Mark) -> Mark {
    admitted_at.after(now.since(ended_at.unwrap_or(now)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use breakerbox_core::Mark;

    use super::as_if_admitted;

    #[test]
    fn the_body_is_not_part_of_a_calls_duration() {
        let (admitted, answered, over) =
            (Mark::from_millis(1000), Mark::from_millis(1200), Mark::from_millis(9000));
        let shifted = as_if_admitted(admitted, Some(answered), over);
        assert_eq!(over.since(shifted), Duration::from_millis(200));
    }

    #[test]
    fn a_call_without_a_response_lasts_until_it_is_over() {
        let (admitted, over) = (Mark::from_millis(1000), Mark::from_millis(9000));
        assert_eq!(as_if_admitted(admitted, None, over), admitted);
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_call_longer() {
        let (admitted, over) = (Mark::from_millis(9000), Mark::from_millis(1000));
        assert_eq!(as_if_admitted(admitted, Some(over), over), admitted);
    }
}
