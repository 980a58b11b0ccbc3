use std::collections::BTreeMap;

/// A request, and what Envoy would say of it.
#[derive(Clone, Debug)]
pub struct Request {
    pub(super) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) body: Vec<u8>,
    pub(super) properties: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Request {
    /// A GET.
    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    /// A request with this method, to the authority `localhost`.
    pub fn new(method: &str, path: &str) -> Self {
        let pseudo = [(":method", method), (":path", path), (":authority", "localhost"), (":scheme", "http")];
        let headers = pseudo.map(|(name, value)| (name.into(), value.into())).to_vec();
        Self { headers, body: Vec::new(), properties: BTreeMap::new() }
    }

    /// With one more header, or another value of one of the pseudo-headers.
    #[must_use]
    pub fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let mut request = if name.starts_with(':') { self.without(name) } else { self };
        request.headers.push((name.into(), value.as_ref().to_vec()));
        request
    }

    /// Without any header of this name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name.as_bytes());
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(self, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// For which Envoy chose this route.
    #[must_use]
    pub fn route(self, name: &str) -> Self {
        self.property(&["xds", "route_name"], name)
    }

    /// Whose route leads to this cluster.
    #[must_use]
    pub fn cluster(self, name: &str) -> Self {
        self.property(&["xds", "cluster_name"], name)
    }

    /// With a property as modules read it: text as it is, integers as eight bytes in little-endian order.
    #[must_use]
    pub fn property(mut self, path: &[&str], value: impl Into<Vec<u8>>) -> Self {
        self.properties.insert(path.join("\0").into_bytes(), value.into());
        self
    }
}
