use alloc::string::String;
use alloc::vec::Vec;

use breakerbox_core::{Rules, Settings};

use crate::filter_keys::POLICY_KEYS;
use crate::keys::KEYS;
use crate::matches::Matches;
use crate::report::Report;
use crate::settings::{check, read_settings};
use crate::table::{At, Table};
use crate::{Code, Key, OnRejection, Outcomes, odd};

/// When something about a response is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// When its headers are there.
    Headers,
    /// When it is over.
    Complete,
}

/// Whether a breaker's word counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What it rejects is rejected.
    #[default]
    Enforce,
    /// It lives as it would, and rejects nothing: what it would have rejected is counted.
    Shadow,
}

impl Mode {
    /// Its name in configurations and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Shadow => "shadow",
        }
    }
}

/// How the requests of one id are guarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The breaker that the id shares with others; `None` is one of its own.
    pub breaker: Option<String>,
    /// The breaker's rules.
    pub rules: Rules,
    /// What each ending of a call means.
    pub outcomes: Outcomes,
    /// Until when a call's duration is taken.
    pub slow_call_timing: Moment,
    /// When a call is recorded.
    pub record_at: Moment,
    /// What becomes of a rejected request.
    pub on_rejection: OnRejection,
    /// Whether the breaker's word counts.
    pub mode: Mode,
}

impl Policy {
    /// The name of the breaker that guards `id`.
    pub fn breaker_of<'a>(&'a self, id: &'a str) -> &'a str {
        self.breaker.as_deref().unwrap_or(id)
    }

    /// The keys in which two policies differ that decide a breaker's life. What becomes of a rejected request is
    /// none of them: each id of a shared breaker may have its own way.
    pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let (a, b) = (self.rules.settings(), other.rules.settings());
        let differs = [
            ("window_type", a.window_type != b.window_type),
            ("window_size", a.window_size != b.window_size),
            ("minimum_calls", a.minimum_calls != b.minimum_calls),
            ("failure_rate_threshold", a.failure_rate_threshold != b.failure_rate_threshold),
            ("slow_call_duration", a.slow_call_duration != b.slow_call_duration),
            ("slow_call_rate_threshold", a.slow_call_rate_threshold != b.slow_call_rate_threshold),
            ("consecutive_failures", a.consecutive_failures != b.consecutive_failures),
            ("wait_in_open", a.wait_in_open != b.wait_in_open),
            ("open_backoff", a.open_backoff != b.open_backoff),
            ("open_jitter", a.open_jitter != b.open_jitter),
            ("half_open_calls", a.half_open_calls != b.half_open_calls),
            ("half_open_policy", a.half_open_policy != b.half_open_policy),
            ("max_wait_in_half_open", a.max_wait_in_half_open != b.max_wait_in_half_open),
            ("enabled", a.enabled != b.enabled),
            ("record_on", self.outcomes.record != other.outcomes.record),
            ("ignore_on", self.outcomes.ignore != other.outcomes.ignore),
            ("slow_call_timing", self.slow_call_timing != other.slow_call_timing),
            ("record_at", self.record_at != other.record_at),
            ("mode", self.mode != other.mode),
        ];
        differs.iter().filter(|(_, differs)| *differs).map(|(key, _)| *key).collect()
    }
}

/// A policy whose settings have not been checked yet: what others inherit from.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) settings: Settings,
    pub(crate) outcomes: Outcomes,
    slow_call_timing: Moment,
    record_at: Moment,
    on_rejection: OnRejection,
    mode: Mode,
}

impl Draft {
    /// The keys that a draft is read from.
    pub(crate) const KEYS: [&'static [Key]; 2] = [KEYS, POLICY_KEYS];

    /// What holds where nothing is said.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            outcomes: Outcomes::default(),
            slow_call_timing: Moment::Headers,
            record_at: Moment::Complete,
            on_rejection: OnRejection::default(),
            mode: Mode::default(),
        }
    }

    /// What `table` says, and `self` where it says nothing.
    pub(crate) fn refine(&self, table: &Table<'_>, report: &mut Report) -> Self {
        let mut draft = self.clone();
        draft.settings = read_settings(table, &self.settings, report);
        table.read("record_on", Matches::read, report, &mut draft.outcomes.record);
        table.read("ignore_on", Matches::read, report, &mut draft.outcomes.ignore);
        table.read("slow_call_timing", moment, report, &mut draft.slow_call_timing);
        table.read("record_at", moment, report, &mut draft.record_at);
        draft.on_rejection = OnRejection::read(table, &self.on_rejection, report);
        table.read("mode", mode, report, &mut draft.mode);
        draft.check_moments(table, report);
        odd::settings(table, &draft, report);
        draft
    }

    /// The policy, if its settings are within their limits; problems that `base` has as well are reported there.
    pub(crate) fn check(&self, path: &str, base: Option<&Self>, report: &mut Report) -> Option<Policy> {
        let rules = check(path, &self.settings, base.map(|base| &base.settings), report)?;
        Some(Policy {
            breaker: None,
            rules,
            outcomes: self.outcomes.clone(),
            slow_call_timing: self.slow_call_timing,
            record_at: self.record_at,
            on_rejection: self.on_rejection.clone(),
            mode: self.mode,
        })
    }

    /// A call cannot be recorded before it is known how long it took.
    fn check_moments(&self, table: &Table<'_>, report: &mut Report) {
        let (Moment::Complete, Moment::Headers) = (self.slow_call_timing, self.record_at) else { return };
        let (key, message) = if table.get("slow_call_timing").is_some() {
            (
                "slow_call_timing",
                "needs the whole response, but `record_at` is headers: make one like the other",
            )
        } else if table.get("record_at").is_some() {
            ("record_at", "is before `slow_call_timing`, which is complete: make one like the other")
        } else {
            return;
        };
        report.problem(&table.path_of(key), Code::Conflict, message);
    }
}

fn moment(at: &At<'_>, report: &mut Report) -> Option<Moment> {
    at.choice(&[("headers", Moment::Headers), ("complete", Moment::Complete)], report)
}

fn mode(at: &At<'_>, report: &mut Report) -> Option<Mode> {
    at.choice(&[Mode::Enforce, Mode::Shadow].map(|mode| (mode.name(), mode)), report)
}
