use std::collections::BTreeMap;

use proxy_wasm_host::abi::v0_2_1::types::{BufferType, MapType, Status};
use proxy_wasm_host::abi::v0_2_1::{Access, Callback, Invocation, LocalResponse, StreamState};
use proxy_wasm_host::{Buffer, HeaderMap, HeaderMapExt as _};

use super::headers::Headers;
use super::hostcalls::heard;
use super::{Reply, Request, Response};

/// One request and its response, as the module sees and changes them.
pub(super) struct Exchange {
    request: Headers,
    request_body: Vec<u8>,
    response: Headers,
    response_body: Vec<u8>,
    response_trailers: Headers,
    /// By path, whose segments are separated by NUL.
    properties: BTreeMap<Vec<u8>, Vec<u8>>,
    /// What the module said in the upstream's stead.
    pub(super) reply: Option<Reply>,
}

impl Exchange {
    pub(super) fn new(request: Request) -> Self {
        Self {
            request: request.headers.into_iter().collect(),
            request_body: request.body,
            response: Headers::default(),
            response_body: Vec::new(),
            response_trailers: Headers::default(),
            properties: request.properties,
            reply: None,
        }
    }

    /// The upstream's response is here.
    pub(super) fn receive(&mut self, response: Response) {
        self.response = response.headers.into_iter().collect();
        self.response_trailers = response.trailers.into_iter().collect();
        self.response_body = response.body;
        self.set_status(response.status, response.flags, response.details, response.attempts);
        for (path, value) in response.properties {
            match value {
                Some(value) => drop(self.properties.insert(path, value)),
                None => drop(self.properties.remove(&path)),
            }
        }
    }

    /// The module's reply is what the client gets. Its status and details are known, and that nothing went upstream.
    pub(super) fn receive_reply(&mut self, reply: &Reply) {
        self.response =
            reply.headers.iter().map(|(name, value)| (name.clone().into(), value.clone().into())).collect();
        self.response_body.clone_from(&reply.body);
        self.set_status(reply.status, 0, reply.details.clone(), 0);
    }

    /// There will be no response.
    pub(super) fn break_off(&mut self, flags: u64) {
        self.set_integer("response\0flags", flags);
        self.set_integer("upstream\0request_attempt_count", 1);
    }

    /// What the client gets, or `None` if there was no response.
    pub(super) fn into_reply(self) -> Option<Reply> {
        let status =
            self.response.value(":status").and_then(|status| str::from_utf8(&status).ok()?.parse().ok())?;
        let details = self.properties.get(&b"response\0code_details"[..]);
        let grpc_status = self.reply.and_then(|reply| reply.grpc_status);
        let pairs =
            |map: &Headers| map.pairs().iter().map(|(name, value)| (text(name), text(value))).collect();
        let mut headers: Vec<(String, String)> = pairs(&self.response);
        headers.retain(|(name, _)| name != ":status");
        let trailers = pairs(&self.response_trailers);
        let details = details.map(|details| text(details)).unwrap_or_default();
        Some(Reply { status, headers, trailers, body: self.response_body, details, grpc_status })
    }

    pub(super) fn request_header(&self, name: &str) -> Option<String> {
        self.request.value(name).map(|value| text(&value))
    }

    pub(super) fn property(&self, path: &[&str]) -> Option<&[u8]> {
        self.properties.get(path.join("\0").as_bytes()).map(Vec::as_slice)
    }

    pub(super) fn sizes(&self) -> Sizes {
        Sizes {
            request_headers: size(self.request.len()),
            request_body: size(self.request_body.len()),
            response_headers: size(self.response.len()),
            response_body: size(self.response_body.len()),
            response_trailers: size(self.response_trailers.len()),
        }
    }

    fn set_status(&mut self, status: u16, flags: u64, details: String, attempts: u64) {
        self.response.set_value(":status", &status.to_string());
        self.set_integer("response\0code", status.into());
        self.set_integer("response\0flags", flags);
        self.set_integer("upstream\0request_attempt_count", attempts);
        self.properties.insert(b"response\0code_details".to_vec(), details.into_bytes());
    }

    fn set_integer(&mut self, path: &str, value: u64) {
        self.properties.insert(path.as_bytes().to_vec(), value.to_le_bytes().to_vec());
    }
}

/// How much there is of everything, in headers and bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) request_headers: u32,
    pub(super) request_body: u32,
    pub(super) response_headers: u32,
    pub(super) response_body: u32,
    pub(super) response_trailers: u32,
}

impl StreamState for Exchange {
    /// As in Envoy, headers are within reach in the callbacks of their own direction, and all of them when it logs.
    fn header_map(
        &mut self,
        call: Invocation,
        _: Access,
        kind: MapType,
    ) -> Result<&mut dyn HeaderMap, Status> {
        use Callback as C;
        let map = match (kind, call.callback) {
            (
                MapType::HttpRequestHeaders,
                Some(C::RequestHeaders | C::RequestBody | C::RequestTrailers | C::Log),
            ) => &mut self.request,
            (
                MapType::HttpResponseHeaders,
                Some(C::ResponseHeaders | C::ResponseBody | C::ResponseTrailers | C::Log),
            ) => &mut self.response,
            (MapType::HttpResponseTrailers, Some(C::ResponseTrailers | C::Log)) => {
                &mut self.response_trailers
            }
            _ => return Err(Status::BadArgument),
        };
        Ok(map)
    }

    fn buffer(&mut self, _: Invocation, _: Access, kind: BufferType) -> Result<&mut dyn Buffer, Status> {
        match kind {
            BufferType::HttpRequestBody => Ok(&mut self.request_body),
            BufferType::HttpResponseBody => Ok(&mut self.response_body),
            _ => Err(Status::NotFound),
        }
    }

    fn send_local_response(&mut self, _: Invocation, response: LocalResponse<'_>) -> Result<(), Status> {
        heard("send_local_response", b"", None);
        // A second reply is a mistake that costs an Envoy its stream.
        if self.reply.is_some() {
            return Err(Status::BadArgument);
        }
        self.reply = Some(response.into());
        Ok(())
    }

    fn property(&mut self, _: Invocation, path: &[&[u8]], out: &mut Vec<u8>) -> Result<(), Status> {
        let path = path.join(&0);
        let value = self.properties.get(&path);
        heard("get_property", &path, value.map(Vec::len));
        out.extend(value.ok_or(Status::NotFound)?);
        Ok(())
    }

    fn set_property(&mut self, _: Invocation, path: &[&[u8]], value: &[u8]) -> Result<(), Status> {
        let path = path.join(&0);
        heard("set_property", &path, None);
        self.properties.insert(path, value.to_vec());
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
