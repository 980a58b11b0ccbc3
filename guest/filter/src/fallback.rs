use breakerbox_config::Header;

use crate::hostcalls::{self, Headers};

/// Gives a request the headers by which another route takes it; whether it will. A filter of the upstream has no
/// other route to offer, since there the host is chosen.
pub(crate) fn take(headers: &[Header]) -> bool {
    if hostcalls::property("upstream\0address").is_some() {
        return false;
    }
    let set = |header: &Header| hostcalls::set_request_header(header.name(), header.value());
    // All of them, also if the proxy should refuse one: a route may need but some.
    headers.iter().filter(|header| set(header)).count() == headers.len()
}

/// Takes these headers off a request if its client has sent any, and with them the route that it chose by them;
/// whether that was so. Looking is cheap, while removing what is not there would cost the route as well.
pub(crate) fn strip(names: &[String]) -> bool {
    let sent = names.iter().filter(|name| hostcalls::header(Headers::Request, name).is_some());
    sent.filter(|name| hostcalls::remove_request_header(name)).count() > 0
}
