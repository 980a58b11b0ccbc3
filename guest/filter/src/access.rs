use std::net::{IpAddr, Ipv6Addr};

use breakerbox_config::Token;

use crate::hostcalls::{self, Headers};

/// A header that a page of another site cannot send: the browser asks the server first whether it may, and the role
/// `admin` never agrees.
const MARK: &str = "x-breakerbox";

/// Why a request to the role `admin` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It has no token, or not this one.
    Token,
    /// Its host is a name, which anyone's DNS can point here, and there is no token.
    Host,
    /// It would change something and does not bear the mark.
    Mark,
}

impl Refusal {
    pub(crate) fn status(self) -> u32 {
        match self {
            Self::Token => 401,
            Self::Host | Self::Mark => 403,
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Token => "give the token, as `authorization: Bearer TOKEN`",
            Self::Host => {
                "use an IP address or localhost, or give the role admin a `token`: without one, other web sites \
                 could come here under a name of their own"
            }
            Self::Mark => {
                "controls need the header `x-breakerbox: 1`, which pages of other sites cannot send"
            }
        }
    }
}

/// Whether the current request may look, and, if it `changes` something, may do that.
pub(crate) fn check(token: Option<&Token>, changes: bool) -> Result<(), Refusal> {
    let header = |name| hostcalls::header(Headers::Request, name);
    match token {
        Some(token) if !bears(token, header("authorization").as_deref()) => return Err(Refusal::Token),
        None if !header(":authority").as_deref().is_some_and(is_unforgeable) => return Err(Refusal::Host),
        _ => {}
    }
    if changes && header(MARK).is_none_or(|mark| mark.is_empty()) {
        return Err(Refusal::Mark);
    }
    Ok(())
}

/// The scheme may be in any case, as RFC 9110 has it.
fn bears(token: &Token, authorization: Option<&[u8]>) -> bool {
    let parts = authorization.and_then(|given| given.split_first_chunk::<7>());
    parts.is_some_and(|(scheme, given)| scheme.eq_ignore_ascii_case(b"Bearer ") && token.matches(given))
}

/// Whether a host cannot be made to mean this server by somebody else's DNS: an IP address, or localhost.
fn is_unforgeable(authority: &[u8]) -> bool {
    let Ok(authority) = str::from_utf8(authority) else { return false };
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').is_some_and(|(address, _)| address.parse::<Ipv6Addr>().is_ok());
    }
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_unforgeable;

    #[test]
    fn addresses_and_localhost_are_nobody_elses_name() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:9900",
            "[::1]",
            "[::1]:9900",
            "localhost:9900",
            "a.localhost",
            "LOCALHOST",
        ] {
            assert!(is_unforgeable(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:9900",
            "127.0.0.1.evil.example",
            "[evil]",
            "localhost.evil.example",
        ] {
            assert!(!is_unforgeable(host.as_bytes()), "{host}");
        }
        assert!(!is_unforgeable(b"\xff"));
    }
}
