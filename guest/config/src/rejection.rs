use alloc::vec::Vec;

use crate::filter_keys::FALLBACK_KEYS;
use crate::header::Header;
use crate::json::Json;
use crate::report::Report;
use crate::table::{At, Table};
use crate::{Code, Reject};

const MOST_HEADERS: usize = 16;

/// What becomes of a request that the breaker rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnRejection {
    /// The client gets this answer.
    Reject(Reject),
    /// The request gets these headers, at least one, and its route is chosen again.
    Fallback(Vec<Header>),
}

impl Default for OnRejection {
    fn default() -> Self {
        Self::Reject(Reject::default())
    }
}

impl OnRejection {
    /// Reads `reject` or `fallback`, whichever `table` has; what `reject` does not say is as in `base`.
    pub(crate) fn read(table: &Table<'_>, base: &Self, report: &mut Report) -> Self {
        let reject = table.get("reject");
        let fallback = table.get("fallback");
        if let (Some(_), Some(fallback)) = (reject, fallback) {
            let message = "excludes `reject`: a request is either answered or routed again; leave one out";
            report.problem(&fallback.path, Code::Conflict, message);
        }
        let fallback = fallback.and_then(|at| read_fallback(at, report)).map(Self::Fallback);
        let reject = reject.and_then(|at| match base {
            Self::Reject(base) => Reject::read(at, base, report),
            Self::Fallback(_) => Reject::read(at, &Reject::default(), report),
        });
        fallback.or(reject.map(Self::Reject)).unwrap_or_else(|| base.clone())
    }
}

fn read_fallback(at: &At<'_>, report: &mut Report) -> Option<Vec<Header>> {
    let table = at.table(&[FALLBACK_KEYS], report)?;
    let Some(at) = table.get("header") else {
        let message = "is missing: give at least one header, {NAME: VALUE}, that another route matches";
        report.problem(&table.path_of("header"), Code::MissingKey, message);
        return None;
    };
    let headers = Header::read_all(at, MOST_HEADERS, &[], report)?;
    // Headers that were refused have been reported.
    if matches!(at.value, Json::Object(given) if given.is_empty()) {
        at.refuse(Code::MissingKey, "has no headers", report);
    }
    Some(headers)
}
