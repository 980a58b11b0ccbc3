use alloc::vec::Vec;

use crate::header::Header;
use crate::{Effect, Mark, Rule, Rules, Slot, State, window};

impl Slot<'_> {
    /// Whether the slot must be taken over before these rules work with it: they are a later edition than the
    /// slot has seen, or the same with another shape.
    pub(crate) fn awaits(&self, rules: &Rules) -> bool {
        let known = self.header.revision.get();
        let settings = rules.settings();
        rules.revision() > known
            || rules.revision() == known
                && ((self.header.enabled == 1) != settings.enabled
                    || (self.header.state() != State::HalfOpen && !self.has_shape_of(rules)))
    }

    fn has_shape_of(&self, rules: &Rules) -> bool {
        self.has_window_of(rules) && self.header.half_open_calls.get() == rules.settings().half_open_calls
    }

    fn has_window_of(&self, rules: &Rules) -> bool {
        let settings = rules.settings();
        self.header.window_type == settings.window_type as u8
            && self.header.window_size.get() == settings.window_size
    }

    /// Takes a slot over for a later edition of its settings, so that a change of configuration keeps the state:
    /// open stays open until the same instant. A window of another shape starts empty; a half-open breaker
    /// finishes with the probes that it has and changes shape afterwards. An edition that is older than what the
    /// slot has seen changes nothing.
    pub fn adopt(bytes: &mut Vec<u8>, rules: &Rules, now: Mark) -> Option<Effect<()>> {
        let (mut slot, _) = Slot::open(bytes, rules, now)?;
        if !slot.awaits(rules) {
            return Some(Effect::nothing(()));
        }
        let now = slot.header.clamp(now);
        let settings = rules.settings();
        slot.header.revision = rules.revision().into();
        let mut transition = None;
        if (slot.header.enabled == 1) != settings.enabled {
            slot.header.enabled = settings.enabled.into();
            transition = slot.enter(rules, Rule::Settings, now);
        }
        let state = slot.header.state();
        if state != State::HalfOpen && !slot.has_shape_of(rules) {
            let keeps_window = slot.has_window_of(rules);
            slot.header.window_type = settings.window_type as u8;
            slot.header.window_size = settings.window_size.into();
            slot.header.half_open_calls = settings.half_open_calls.into();
            if !keeps_window {
                slot.header.cursor = 0.into();
            }
            // The window comes first, so that another number of probes leaves it where it is.
            let body = Header::body_len(settings.window_type, settings.window_size, settings.half_open_calls);
            bytes.resize(Header::LEN.saturating_add(body), 0);
            if state == State::Closed && !keeps_window {
                let (header, body) = Header::parse_resized(bytes)?;
                window::clear(header, body, now);
            }
        }
        Some(Effect { answer: (), changed: true, transition })
    }
}
