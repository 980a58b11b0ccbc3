//! What the filter asks of the proxy for some kinds of requests; `envoy/hostcalls.rs` has the healthy one's, in Envoy.

use anyhow::Result;
use breakerbox_host::proxy::{Module, Plugin, Proxy, Request, Response, Worker, hostcalls};

const ROUTE: &str = "get_property xds.route_name -> 6 bytes";
const REVOCATIONS: &str = "get_metric breakerbox_hint_revocations[vm=][breaker=orders]";
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
fn the_clock_is_read_only_where_slow_calls_are_looked_for() -> Result<()> {
    let reads = |calls: Vec<String>| calls.iter().filter(|call| *call == CLOCK).count();
    let worker = start(r#"{"default": {"window_size": 4}}"#)?;
    assert_eq!(reads(call(&worker, Response::new(200))?), 0);
    let worker = start(r#"{"default": {"window_size": 4, "slow_call_duration": "1s"}}"#)?;
    assert_eq!(reads(call(&worker, Response::new(200))?), 3);
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
fn a_worker_reads_the_slot_of_an_open_breaker_once_and_who_opened_it_not_at_all() -> Result<()> {
    let (proxy, module) = (Proxy::new(), Module::filter()?);
    let plugin = Plugin::new(r#"{"default": {"window_size": 4, "consecutive_failures": 1}}"#);
    let [one, other] = [proxy.start(&module, &[&plugin])?, proxy.start(&module, &[&plugin])?];
    call(&other, Response::new(200))?;
    call(&one, Response::new(500))?;
    let expected = [
        ROUTE,
        REVOCATIONS,
        CLOCK,
        "increment_metric breakerbox_not_permitted_calls[breaker=orders][reason=open]",
        "set_property breakerbox.breaker",
        "set_property breakerbox.decision",
        "get_header_map_value content-type",
        "send_local_response",
    ];
    assert_eq!(rejection(&one)?, expected);
    let first = rejection(&other)?;
    assert!(
        first.iter().any(|call| call.starts_with("get_shared_data breakerbox/slot/orders")),
        "{first:#?}"
    );
    assert_eq!(rejection(&other)?, expected);
    Ok(())
}
