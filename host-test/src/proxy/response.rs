use std::collections::BTreeMap;

/// An upstream's response, and what Envoy would say of it.
#[derive(Clone, Debug)]
pub struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) trailers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) body: Vec<u8>,
    pub(super) flags: u64,
    pub(super) details: String,
    pub(super) attempts: u64,
    /// What is said otherwise than by the above, or not at all.
    pub(super) properties: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

impl Response {
    /// Envoy's response flag DC: the client left.
    pub const CLIENT_LEFT: u64 = 1 << 14;

    /// A response that came from the upstream, without anything special.
    pub fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            trailers: Vec::new(),
            body: Vec::new(),
            flags: 0,
            details: "via_upstream".to_owned(),
            attempts: 1,
            properties: BTreeMap::new(),
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.into(), value.as_ref().to_vec()));
        self
    }

    /// With one more trailer.
    #[must_use]
    pub fn trailer(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.trailers.push((name.into(), value.as_ref().to_vec()));
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// Which ended with these response flags and details, such as `(1 << 2, "response_timeout")`.
    #[must_use]
    pub fn ended(self, flags: u64, details: &str) -> Self {
        Self { flags, details: details.to_owned(), ..self }
    }

    /// After so many attempts; 0 if the request never went upstream.
    #[must_use]
    pub fn attempts(self, attempts: u64) -> Self {
        Self { attempts, ..self }
    }

    /// Of which the proxy says this in a property, whatever the response says; nothing if it is `None`.
    #[must_use]
    pub fn property(mut self, path: &[&str], value: Option<&[u8]>) -> Self {
        self.properties.insert(path.join("\0").into_bytes(), value.map(<[u8]>::to_vec));
        self
    }
}
