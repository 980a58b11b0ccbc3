//! What operators see and use of the filter in a real Envoy: the role `admin` and its page, the access log, the dashboard,
//! the alerts, the manifests.

mod access_log;
mod browser;
mod manifests;
mod page;
mod queries;
mod refusals;
mod world;
