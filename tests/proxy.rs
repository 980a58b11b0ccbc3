//! The filter under faults that a real proxy has rarely: conflicts, a store that does not answer, lost VMs.
//!
//! `breakerbox_host::proxy` is the harness, also for whoever tests a filter chain of their own.

use std::time::Duration;

use anyhow::{Context as _, Result};
use breakerbox_core::{Rules, Settings, Slot};
use breakerbox_host::proxy::{Answer, Module, Plugin, Proxy, Request, Response, Worker};

const SETTINGS: &str = r#"{"default": {"window_size": 4, "minimum_calls": 4, "wait_in_open": "10s",
    "half_open_calls": 2, "max_wait_in_half_open": "5s"}}"#;

fn start(workers: usize) -> Result<(Proxy, Vec<Worker>)> {
    let proxy = Proxy::new();
    let (module, plugin) = (Module::filter()?, Plugin::new(SETTINGS));
    let workers = (0..workers).map(|_| proxy.start(&module, &[&plugin])).collect::<Result<_>>()?;
    Ok((proxy, workers))
}

fn orders() -> Request {
    Request::get("/orders").route("orders")
}

fn end(worker: &Worker, status: u16) -> Result<()> {
    worker.request(orders())?.into_stream()?.respond(Response::new(status))?;
    Ok(())
}

fn calls(proxy: &Proxy, kind: &str) -> u64 {
    proxy.metric(&format!("breakerbox_calls[breaker=orders][kind={kind}]")).unwrap_or(0)
}

fn state(proxy: &Proxy) -> Option<u64> {
    proxy.metric("breakerbox_state[breaker=orders]")
}

const CLOSED: Option<u64> = Some(0);
const OPEN: Option<u64> = Some(1);
const HALF_OPEN: Option<u64> = Some(2);

#[test]
fn writes_that_meet_others_are_made_again() -> Result<()> {
    let (proxy, workers) = start(2)?;
    end(&workers[0], 200)?;
    for n in 1..4 {
        assert_eq!(state(&proxy), CLOSED);
        // The last of them on the last attempt.
        proxy.shared_data().conflict(if n == 3 { 31 } else { n });
        end(&workers[n as usize % 2], 500)?;
    }
    assert_eq!((calls(&proxy, "failed"), calls(&proxy, "successful")), (3, 1));
    assert_eq!(state(&proxy), OPEN);
    assert_eq!(workers[1].request(orders())?.into_reply()?.status, 503);
    Ok(())
}

/// On threads of their own, as in a proxy, so that their writes meet; and a few are made to meet in any case.
#[test]
fn of_eight_workers_that_write_at_once_no_outcome_is_lost() -> Result<()> {
    const CALLS: u32 = 500;
    let proxy = Proxy::new();
    let (module, plugin) =
        (Module::filter()?, Plugin::new(r#"{"default": {"window_size": 10000, "minimum_calls": 10000}}"#));
    let run = || -> Result<()> {
        let worker = proxy.start(&module, &[&plugin])?;
        for number in 0..CALLS {
            if number % 50 == 0 {
                proxy.shared_data().conflict(3);
            }
            end(&worker, if number % 10 == 0 { 200 } else { 500 })?;
        }
        // What a worker could not write waits there.
        worker.tick()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;

    let (failed, successful) = (8 * CALLS * 9 / 10, 8 * CALLS / 10);
    assert_eq!((calls(&proxy, "failed"), calls(&proxy, "successful")), (failed.into(), successful.into()));
    let mut slot = proxy.shared_data().get(b"breakerbox/slot/orders").context("no slot")?;
    let rules = Rules::new(&Settings::default()).expect("defaults are sound");
    let snapshot = Slot::parse(&mut slot)?.snapshot(&rules, proxy.clock().now());
    assert_eq!((snapshot.failed, snapshot.calls), (failed, failed + successful));
    let conflicts = proxy.metric("breakerbox_store_conflicts[breaker=orders]");
    assert!(conflicts.is_some_and(|conflicts| conflicts > 0), "no writes met: {conflicts:?}");
    Ok(())
}

#[test]
fn outcomes_that_cannot_be_stored_wait_for_the_next_tick() -> Result<()> {
    let (proxy, workers) = start(1)?;
    let streams = (0..4).map(|_| workers[0].request(orders())?.into_stream()).collect::<Result<Vec<_>>>()?;
    proxy.shared_data().withhold(4);
    for stream in streams {
        stream.respond(Response::new(500))?;
    }
    assert_eq!((calls(&proxy, "failed"), state(&proxy)), (0, CLOSED));
    workers[0].tick()?;
    assert_eq!((calls(&proxy, "failed"), state(&proxy)), (4, OPEN));
    assert!(proxy.log().contains("4 of 4 calls failed"), "{}", proxy.log());
    Ok(())
}

#[test]
fn requests_pass_while_the_store_does_not_answer() -> Result<()> {
    let (proxy, workers) = start(2)?;
    end(&workers[1], 200)?;
    for _ in 0..3 {
        end(&workers[0], 500)?;
    }
    assert_eq!(state(&proxy), OPEN);
    // Who opened it knows; the other has to ask.
    proxy.shared_data().withhold(1);
    workers[0].request(orders())?.into_reply()?;
    end(&workers[1], 200)?;
    assert_eq!(proxy.metric("breakerbox_unguarded_calls"), Some(1));
    workers[1].request(orders())?.into_reply()?;
    Ok(())
}

#[test]
fn outcomes_that_wait_outlive_the_configuration_under_which_they_came() -> Result<()> {
    let (proxy, mut workers) = start(1)?;
    let mut streams =
        (0..4).map(|_| workers[0].request(orders())?.into_stream()).collect::<Result<Vec<_>>>()?;
    let last = streams.pop().context("there are four")?;
    proxy.shared_data().withhold(3);
    for stream in streams {
        stream.respond(Response::new(500))?;
    }
    assert!(workers[0].configure(&Plugin::new(r#"{"default": {"wait_in_open": "1s"}}"#))?);
    proxy.shared_data().withhold(1);
    last.respond(Response::new(500))?;
    assert_eq!(calls(&proxy, "failed"), 4);
    Ok(())
}

#[test]
fn outcomes_that_wait_do_not_wait_for_the_last_request_under_their_configuration() -> Result<()> {
    let (proxy, mut workers) = start(1)?;
    let long = workers[0].request(orders())?.into_stream()?;
    let failing = workers[0].request(orders())?.into_stream()?;
    proxy.shared_data().withhold(1);
    failing.respond(Response::new(500))?;
    assert!(workers[0].configure(&Plugin::new(r#"{"default": {"wait_in_open": "1s"}}"#))?);
    workers[0].tick()?;
    assert_eq!(calls(&proxy, "failed"), 1);
    long.respond(Response::new(200))?;
    Ok(())
}

#[test]
fn a_lost_vm_loses_its_probe_but_not_the_breaker() -> Result<()> {
    let (proxy, mut workers) = start(2)?;
    for _ in 0..4 {
        end(&workers[0], 500)?;
    }
    proxy.clock().advance(Duration::from_secs(10));
    let lost = workers[0].request(orders())?.into_stream()?;
    workers[0].crash()?;
    lost.respond(Response::new(200)).unwrap_err();
    assert_eq!(state(&proxy), HALF_OPEN);

    // The other probe is still to be had, but the lost one is missed.
    end(&workers[0], 200)?;
    let full = workers[0].request(orders())?.into_reply()?;
    assert!(full.text().contains("half_open_full"), "{}", full.text());

    // Until max_wait_in_half_open is over, when the next call opens again.
    proxy.clock().advance(Duration::from_secs(5));
    assert_eq!(workers[1].request(orders())?.into_reply()?.header("retry-after"), Some("10"));
    proxy.clock().advance(Duration::from_secs(10));
    end(&workers[0], 200)?;
    end(&workers[1], 200)?;
    assert_eq!(state(&proxy), CLOSED);
    Ok(())
}

#[test]
fn bytes_that_are_no_slot_are_replaced_and_said_so() -> Result<()> {
    let (proxy, workers) = start(1)?;
    end(&workers[0], 500)?;
    let key = b"breakerbox/slot/orders";
    assert!(proxy.shared_data().keys().contains(&key.to_vec()));
    proxy.shared_data().set(key, b"something else");
    for _ in 0..4 {
        end(&workers[0], 500)?;
    }
    assert!(proxy.log().contains("began afresh"), "{}", proxy.log());
    assert_eq!(state(&proxy), OPEN);
    Ok(())
}

#[test]
fn a_request_without_a_route_passes_and_is_counted() -> Result<()> {
    let (proxy, workers) = start(1)?;
    let stream = workers[0].request(Request::get("/"))?.into_stream()?;
    assert_eq!(stream.respond(Response::new(500))?.status, 500);
    assert_eq!(proxy.metric("breakerbox_unguarded_calls"), Some(1));
    Ok(())
}

#[test]
fn a_client_that_leaves_is_ignored_even_after_the_headers() -> Result<()> {
    let (proxy, workers) = start(1)?;
    workers[0].request(orders())?.into_stream()?.leave()?;
    let left =
        Response::new(200).body("half of it").ended(Response::CLIENT_LEFT, "downstream_remote_disconnect");
    workers[0].request(orders())?.into_stream()?.respond(left)?;
    assert_eq!(calls(&proxy, "ignored"), 2);
    Ok(())
}

#[test]
fn a_grpc_status_in_the_trailers_counts() -> Result<()> {
    let (proxy, workers) = start(1)?;
    let request = || orders().header("content-type", "application/grpc");
    for _ in 0..4 {
        let unavailable = Response::new(200).body("message").trailer("grpc-status", "14");
        workers[0].request(request())?.into_stream()?.respond(unavailable)?;
    }
    let Answer::Replied(reply) = workers[0].request(request())? else { panic!("the breaker did not open") };
    assert_eq!((reply.grpc_status, calls(&proxy, "failed")), (Some(14), 4));
    Ok(())
}

#[test]
fn long_ids_do_not_fill_a_workers_memory() -> Result<()> {
    let proxy = Proxy::new();
    let module = Module::filter()?.with_memory(16 << 20);
    let worker = proxy.start(&module, &[&Plugin::new(r#"{"per": "header:x-breaker"}"#)])?;
    for nth in 0..1_000 {
        // As long as an Envoy lets it through.
        let id = format!("{}{nth}", "x".repeat(60_000));
        worker
            .request(Request::get("/").header("x-breaker", id))?
            .into_stream()?
            .respond(Response::new(200))?;
    }
    Ok(())
}

#[test]
fn a_configuration_that_is_refused_says_why() -> Result<()> {
    let plugin = Plugin::new(r#"{"default": {"windw_size": 4}}"#);
    let error = Proxy::new().start(&Module::filter()?, &[&plugin]).unwrap_err();
    assert!(format!("{error:#}").contains("did you mean `window_size`?"), "{error:#}");
    Ok(())
}

#[test]
fn what_is_no_module_is_refused() {
    assert!(Module::compile(b"no module").is_err());
}
