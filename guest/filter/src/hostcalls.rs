//! The proxy's functions.
//!
//! They are declared here rather than taken from the SDK because the SDK panics on every status that it does not
//! expect, and a panic costs the worker its VM. Here a missing value is `None`, whatever the status, and every
//! failure is a value.

mod abi;

use std::ptr::{null_mut, slice_from_raw_parts_mut};

use breakerbox_core::{Mark, Unavailable};

use abi::{
    clock_time_get, proxy_define_metric, proxy_get_buffer_bytes, proxy_get_header_map_value,
    proxy_get_metric, proxy_get_property, proxy_get_shared_data, proxy_increment_metric, proxy_log,
    proxy_record_metric, proxy_remove_header_map_value, proxy_replace_header_map_value,
    proxy_send_local_response, proxy_set_property, proxy_set_shared_data, proxy_set_tick_period_milliseconds,
};

/// Statuses that mean something to a caller; all others are failures.
const OK: u32 = 0;
const NOT_FOUND: u32 = 1;
const CAS_MISMATCH: u32 = 8;

/// The version to give [`set_shared_data`] for a key that must not exist yet: the host compares it with the
/// key's, if there is one, and hands out no such number. (0 would overwrite whatever is there.)
pub(crate) const ABSENT: u32 = u32::MAX;

const PLUGIN_CONFIGURATION: u32 = 7;
const MONOTONIC: u32 = 1;

/// How loud a log line is.
#[derive(Clone, Copy)]
pub(crate) enum Level {
    Info = 2,
    Warn = 3,
    Error = 4,
}

/// Where a header is looked for.
#[derive(Clone, Copy)]
pub(crate) enum Headers {
    Request = 0,
    Response = 2,
    ResponseTrailers = 3,
}

/// Kinds of metrics.
#[derive(Clone, Copy)]
pub(crate) enum MetricKind {
    Counter = 0,
    Gauge = 1,
}

/// Writes a line to the proxy's log. Should that fail, there is no better place to say so.
pub(crate) fn log(level: Level, message: &str) {
    // SAFETY: the host reads `message` before it returns.
    unsafe { proxy_log(level as u32, message.as_ptr(), message.len()) };
}

/// The time on a monotonic clock that all workers of this host share. A host without one stands still at zero:
/// counting goes on, and an open breaker stays so until it is reset.
pub(crate) fn now() -> Mark {
    let mut nanos = 0;
    // SAFETY: the host writes one `u64`.
    let status = unsafe { clock_time_get(MONOTONIC, 1, &raw mut nanos) };
    if status == OK { Mark::from_nanos(nanos) } else { Mark::ZERO }
}

/// Has the plugin called every `millis`; whether the host agreed.
pub(crate) fn set_tick_period(millis: u32) -> bool {
    // SAFETY: numbers only.
    unsafe { proxy_set_tick_period_milliseconds(millis) == OK }
}

/// The plugin's configuration, in `on_configure` only.
pub(crate) fn plugin_configuration(size: usize) -> Option<Vec<u8>> {
    receive(|data, length| {
        // SAFETY: the host writes one pointer and one size.
        unsafe { proxy_get_buffer_bytes(PLUGIN_CONFIGURATION, 0, size, data, length) }
    })
    .ok()
}

/// A header's value.
pub(crate) fn header(headers: Headers, name: &str) -> Option<Vec<u8>> {
    receive(|value, size| {
        // SAFETY: the host reads `name`, and writes one pointer and one size.
        unsafe { proxy_get_header_map_value(headers as u32, name.as_ptr(), name.len(), value, size) }
    })
    .ok()
}

/// Sets a request's header, in place of all that it has of this name; the proxy then chooses the route again.
pub(crate) fn set_request_header(name: &str, value: &str) -> bool {
    let map = Headers::Request as u32;
    // SAFETY: the host reads `name` and `value` before it returns.
    let status = unsafe {
        proxy_replace_header_map_value(map, name.as_ptr(), name.len(), value.as_ptr(), value.len())
    };
    status == OK
}

/// Takes a header off the request, and with it the route that was chosen, whether or not there was one.
pub(crate) fn remove_request_header(name: &str) -> bool {
    // SAFETY: the host reads `name` before it returns.
    let status = unsafe { proxy_remove_header_map_value(Headers::Request as u32, name.as_ptr(), name.len()) };
    status == OK
}

/// A property's value. The path's segments are separated by NUL.
pub(crate) fn property(path: &str) -> Option<Vec<u8>> {
    receive(|value, size| {
        // SAFETY: the host reads `path`, and writes one pointer and one size.
        unsafe { proxy_get_property(path.as_ptr(), path.len(), value, size) }
    })
    .ok()
}

/// Sets a property of the request, which access logs show as `%FILTER_STATE(wasm.NAME:PLAIN)%`. A host that does
/// not keep it logs nothing.
pub(crate) fn set_property(name: &str, value: &str) {
    // SAFETY: the host reads `name` and `value` before it returns.
    unsafe { proxy_set_property(name.as_ptr(), name.len(), value.as_ptr(), value.len()) };
}

/// A property that is an integer: eight bytes, little-endian.
pub(crate) fn integer_property(path: &str) -> Option<u64> {
    property(path)?.try_into().ok().map(u64::from_le_bytes)
}

/// A key's value and version.
pub(crate) fn shared_data(key: &[u8]) -> Result<Option<(Vec<u8>, u32)>, Unavailable> {
    let mut cas = 0;
    let received = receive(|value, size| {
        // SAFETY: the host reads `key`, and writes one pointer, one size and one `u32`.
        unsafe { proxy_get_shared_data(key.as_ptr(), key.len(), value, size, &raw mut cas) }
    });
    match received {
        Ok(value) => Ok(Some((value, cas))),
        Err(NOT_FOUND) => Ok(None),
        Err(_) => Err(Unavailable),
    }
}

/// Writes a key if its version is still `cas`; false if it is not.
pub(crate) fn set_shared_data(key: &[u8], value: &[u8], cas: u32) -> Result<bool, Unavailable> {
    // SAFETY: the host reads `key` and `value` before it returns.
    let status = unsafe { proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), cas) };
    match status {
        OK => Ok(true),
        CAS_MISMATCH => Ok(false),
        _ => Err(Unavailable),
    }
}

/// Makes a metric, or another number for one that exists.
pub(crate) fn define_metric(kind: MetricKind, name: &str) -> Option<u32> {
    let mut id = 0;
    // SAFETY: the host reads `name` and writes one `u32`.
    let status = unsafe { proxy_define_metric(kind as u32, name.as_ptr(), name.len(), &raw mut id) };
    (status == OK).then_some(id)
}

/// A metric's value.
pub(crate) fn metric(id: u32) -> Option<u64> {
    let mut value = 0;
    // SAFETY: the host writes one `u64`.
    let status = unsafe { proxy_get_metric(id, &raw mut value) };
    (status == OK).then_some(value)
}

/// Adds to a metric, atomically over all workers. Hosts refuse to add nothing.
pub(crate) fn increment_metric(id: u32, by: u32) {
    // SAFETY: numbers only. The only failure is a metric that does not exist, and `id` came from `define_metric`.
    unsafe { proxy_increment_metric(id, i64::from(by)) };
}

/// Sets a gauge.
pub(crate) fn set_metric(id: u32, value: u64) {
    // SAFETY: as above.
    unsafe { proxy_record_metric(id, value) };
}

/// A reply in the upstream's stead.
pub(crate) struct LocalResponse<'a> {
    pub(crate) status: u32,
    /// What access logs show as `%RESPONSE_CODE_DETAILS%`.
    pub(crate) details: &'a str,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a str,
    pub(crate) grpc_status: Option<u8>,
}

/// Answers the request here; whether the host took the answer. Once it did, nothing more may be sent.
pub(crate) fn send_local_response(response: &LocalResponse<'_>) -> bool {
    let LocalResponse { status, details, headers, body, grpc_status } = *response;
    let headers = serialize(headers);
    // SAFETY: the host reads all five before it returns.
    let status = unsafe {
        proxy_send_local_response(
            status,
            details.as_ptr(),
            details.len(),
            body.as_ptr(),
            body.len(),
            headers.as_ptr(),
            headers.len(),
            grpc_status.map_or(-1, i32::from),
        )
    };
    status == OK
}

/// A header map as the host reads it: the number of pairs, the sizes of each pair, then every string with a NUL
/// after it.
fn serialize(headers: &[(&str, &str)]) -> Vec<u8> {
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = size(headers.len()).to_vec();
    for (name, value) in headers {
        bytes.extend(size(name.len()));
        bytes.extend(size(value.len()));
    }
    for text in headers.iter().flat_map(|&(name, value)| [name, value]) {
        bytes.extend(text.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Makes a call that returns bytes. The host has `proxy_on_memory_allocate`, which the SDK exports, make room for
/// them, and hands them over with its address.
fn receive(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Result<Vec<u8>, u32> {
    let (mut data, mut size) = (null_mut(), 0);
    let status = call(&raw mut data, &raw mut size);
    if status != OK {
        return Err(status);
    }
    if data.is_null() {
        return Ok(Vec::new());
    }
    // SAFETY: `proxy_on_memory_allocate` made `data` of a boxed slice of `size` bytes, which the host filled and
    // does not keep.
    Ok(unsafe { Box::from_raw(slice_from_raw_parts_mut(data, size)) }.into_vec())
}

#[cfg(test)]
mod tests {
    use super::serialize;

    #[test]
    fn headers_are_written_as_the_host_reads_them() {
        assert_eq!(serialize(&[]), [0, 0, 0, 0]);
        assert_eq!(
            serialize(&[("a", "xyz"), ("bc", "")]),
            *b"\x02\0\0\0\x01\0\0\0\x03\0\0\0\x02\0\0\0\0\0\0\0a\0xyz\0bc\0\0"
        );
    }
}
