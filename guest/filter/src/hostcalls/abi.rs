//! What the proxy offers, as proxy-wasm 0.2.1 and WASI name it.

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    pub(super) fn proxy_log(level: u32, message: *const u8, size: usize) -> u32;
    pub(super) fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    pub(super) fn proxy_get_buffer_bytes(
        buffer: u32,
        start: usize,
        max_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    pub(super) fn proxy_get_header_map_value(
        map: u32,
        key: *const u8,
        key_size: usize,
        value: *mut *mut u8,
        value_size: *mut usize,
    ) -> u32;
    pub(super) fn proxy_replace_header_map_value(
        map: u32,
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    pub(super) fn proxy_remove_header_map_value(map: u32, key: *const u8, key_size: usize) -> u32;
    pub(super) fn proxy_get_property(
        path: *const u8,
        path_size: usize,
        value: *mut *mut u8,
        value_size: *mut usize,
    ) -> u32;
    pub(super) fn proxy_set_property(
        path: *const u8,
        path_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    pub(super) fn proxy_get_shared_data(
        key: *const u8,
        key_size: usize,
        value: *mut *mut u8,
        value_size: *mut usize,
        cas: *mut u32,
    ) -> u32;
    pub(super) fn proxy_set_shared_data(
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
        cas: u32,
    ) -> u32;
    pub(super) fn proxy_define_metric(kind: u32, name: *const u8, name_size: usize, id: *mut u32) -> u32;
    pub(super) fn proxy_get_metric(id: u32, value: *mut u64) -> u32;
    pub(super) fn proxy_increment_metric(id: u32, offset: i64) -> u32;
    pub(super) fn proxy_record_metric(id: u32, value: u64) -> u32;
    pub(super) fn proxy_send_local_response(
        status: u32,
        details: *const u8,
        details_size: usize,
        body: *const u8,
        body_size: usize,
        headers: *const u8,
        headers_size: usize,
        grpc_status: i32,
    ) -> u32;
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    pub(super) fn clock_time_get(clock: u32, precision: u64, time: *mut u64) -> u32;
}
