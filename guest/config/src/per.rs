use crate::report::Report;
use crate::table::At;

/// What has a breaker of its own: whose name is the breaker's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The route that Envoy chose.
    #[default]
    Route,
    /// The cluster that the route leads to.
    Cluster,
}

impl Per {
    pub(crate) fn read(at: &At<'_>, report: &mut Report) -> Option<Self> {
        at.choice(&[("route", Self::Route), ("cluster", Self::Cluster)], report)
    }
}
