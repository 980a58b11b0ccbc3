use proxy_wasm_host::abi::v0_2_1::LocalResponse;

/// What a client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, without `:status`.
    pub headers: Vec<(String, String)>,
    /// The trailers.
    pub trailers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The response code details, for access logs.
    pub details: String,
    /// The gRPC status that a module's own reply carries.
    pub grpc_status: Option<u32>,
}

impl Reply {
    /// The first header or trailer of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.headers.iter().chain(&self.trailers);
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl From<LocalResponse<'_>> for Reply {
    fn from(response: LocalResponse<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            status: u16::try_from(response.status_code).unwrap_or(0),
            headers: response.headers.iter().map(|(name, value)| (text(name), text(value))).collect(),
            trailers: Vec::new(),
            body: response.body.to_vec(),
            details: text(&response.status_code_details),
            grpc_status: response.grpc_status,
        }
    }
}
