//! What the filter asks of the proxy for each kind of request. Every hostcall costs, those that return bytes by far the
//! most, so one more of them on the way of a healthy request should be somebody's decision.

use anyhow::Result;
use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response, Worker, hostcalls};

const ROUTE: &str = "get_property xds.route_name -> 6 bytes";
const STATUS: &str = "get_header_map_value :status -> 3 bytes";
const NO_GRPC_STATUS: &str = "get_header_map_value grpc-status";
/// How it ended. The harness ends requests as the ABI has it, where nothing is known yet but flags. Envoy has them logged
/// first, so there it is `response.code_details`, which returns bytes as well.
const ENDING: &str = "get_property response.flags -> 8 bytes";
const HINT: [&str; 2] = [
    "get_metric breakerbox_hint_granted[vm=][breaker=orders]",
    "get_metric breakerbox_hint_revocations[vm=][breaker=orders]",
];
const SUCCESSFUL: &str = "increment_metric breakerbox_calls[breaker=orders][kind=successful]";
const CLOCK: &str = "clock_time_get";

fn orders() -> Request {
    Request::get("/orders").route("orders")
}

/// A request whose upstream answers so, and the hostcalls that it took.
fn call(worker: &Worker, response: Response) -> Result<Vec<String>> {
    let (result, calls) = hostcalls(|| worker.request(orders())?.into_stream()?.respond(response));
    result?;
    Ok(calls.iter().map(ToString::to_string).collect())
}

/// A rejected request, and the hostcalls that it took.
fn rejection(worker: &Worker) -> Result<Vec<String>> {
    let (reply, calls) = hostcalls(|| worker.request(orders())?.into_reply());
    assert_eq!(reply?.status, 503);
    Ok(calls.iter().map(ToString::to_string).collect())
}

/// A worker whose breaker has a window full of successes.
fn start(configuration: &str) -> Result<Worker> {
    let worker = Proxy::new().start(&Module::filter()?, &[&Plugin::new(configuration)])?;
    for _ in 0..5 {
        call(&worker, Response::new(200))?;
    }
    Ok(worker)
}

#[test]
fn a_healthy_request_takes_three_that_return_bytes_and_six_cheap_ones() -> Result<()> {
    let worker = start(r#"{"default": {"window_size": 4}}"#)?;
    let [granted, revocations] = HINT;
    let expected =
        [ROUTE, granted, revocations, STATUS, NO_GRPC_STATUS, ENDING, granted, revocations, SUCCESSFUL];
    assert_eq!(call(&worker, Response::new(200))?, expected);
    assert_eq!(call(&worker, Response::new(200).body("a body takes none"))?, expected);
    Ok(())
}

#[test]
fn to_look_for_slow_calls_takes_the_clock_thrice() -> Result<()> {
    let worker = start(r#"{"default": {"window_size": 4, "slow_call_duration": "1s"}}"#)?;
    let [granted, revocations] = HINT;
    let expected = [
        ROUTE,
        granted,
        revocations,
        CLOCK,
        CLOCK,
        STATUS,
        NO_GRPC_STATUS,
        ENDING,
        CLOCK,
        granted,
        revocations,
        SUCCESSFUL,
    ];
    assert_eq!(call(&worker, Response::new(200))?, expected);
    Ok(())
}

#[test]
fn a_failure_reads_the_slot_and_writes_it() -> Result<()> {
    let worker = start(r#"{"default": {"window_size": 4}}"#)?;
    let calls = call(&worker, Response::new(500))?;
    let about_the_slot: Vec<_> = calls.iter().filter(|call| call.contains("shared_data")).collect();
    assert_eq!(
        about_the_slot,
        ["get_shared_data breakerbox/slot/orders -> 152 bytes", "set_shared_data breakerbox/slot/orders"],
        "{calls:#?}"
    );
    Ok(())
}

#[test]
fn a_rejection_reads_the_slot_once_and_the_next_ones_need_it_no_more() -> Result<()> {
    let worker = start(r#"{"default": {"window_size": 4, "consecutive_failures": 1}}"#)?;
    call(&worker, Response::new(500))?;
    let first = rejection(&worker)?;
    assert!(
        first.iter().any(|call| call.starts_with("get_shared_data breakerbox/slot/orders")),
        "{first:#?}"
    );
    let [_, revocations] = HINT;
    let expected = [
        ROUTE,
        CLOCK,
        revocations,
        "increment_metric breakerbox_not_permitted_calls[breaker=orders][reason=open]",
        "set_property breakerbox.breaker",
        "set_property breakerbox.decision",
        "get_header_map_value content-type",
        "send_local_response",
    ];
    assert_eq!(rejection(&worker)?, expected);
    Ok(())
}
