/// Why a call ended without a complete response, as far as the proxy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The upstream could not be connected to.
    ConnectFailure = 0,
    /// It took too long.
    Timeout = 1,
    /// The upstream broke the response or the connection off.
    Reset = 2,
    /// No host of the cluster is healthy.
    NoHealthyUpstream = 3,
    /// The proxy's own limits (connections, pending requests) let nothing through to the upstream.
    Overflow = 4,
    /// The client left, broke the protocol, or took too long to send its request.
    ClientGone = 5,
}

impl Cause {
    /// Every cause.
    pub const ALL: [Self; 6] = [
        Self::ConnectFailure,
        Self::Timeout,
        Self::Reset,
        Self::NoHealthyUpstream,
        Self::Overflow,
        Self::ClientGone,
    ];

    /// The cause's name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ConnectFailure => "connect_failure",
            Self::Timeout => "timeout",
            Self::Reset => "reset",
            Self::NoHealthyUpstream => "no_healthy_upstream",
            Self::Overflow => "overflow",
            Self::ClientGone => "client_gone",
        }
    }

    /// Whether it says nothing about the upstream: whoever ended the call was not the upstream. Such a call is
    /// ignored unless `record_on` names the cause, whatever status was made up for it.
    pub const fn is_neutral(self) -> bool {
        matches!(self, Self::Overflow | Self::ClientGone)
    }

    /// The cause's bit in a set of causes.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}
