//! What the filter costs in a real Envoy: CPU per request, as a multiple of a chain without filters.
//!
//! `envoy-overhead [ROUNDS]`. One worker. Every variant's slice of requests lies between two slices of the bare
//! chain, and is compared with those two alone: on a shared machine only neighbours mean anything. Envoy is started
//! several times, since each start has its own luck with caches, and the rounds are made in each.
//!
//! With `CALLGRIND_DUMP`, where `ENVOY` is `under-callgrind.sh`, instructions are counted instead, in one start.

mod chains;
mod load;
mod meter;
mod results;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::envoy::Envoy;
use breakerbox_host::upstream::{Answer, Upstream};

use chains::{Chain, Variant};
use load::Load;
use meter::Meter;
use results::{Results, Slices};

/// More requests than a window holds.
const A_WINDOW: u32 = 320;

/// Starts of Envoy; in each, rounds to warm up and rounds that count, of slices of so many requests.
#[derive(Clone, Copy)]
struct Plan {
    starts: usize,
    warm_up: usize,
    rounds: usize,
    requests: u32,
}

const OF_CPU: Plan = Plan { starts: 5, warm_up: 1, rounds: 4, requests: 3_200 };
/// Under callgrind all is slow, and the second time like the first once all code is compiled.
const OF_INSTRUCTIONS: Plan = Plan { starts: 1, warm_up: 4, rounds: 2, requests: 320 };

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).map(|rounds| rounds.parse()).transpose();
    let rounds: Option<usize> = rounds.context("usage: envoy-overhead [ROUNDS]")?;
    let dump = std::env::var_os("CALLGRIND_DUMP").map(PathBuf::from);
    let plan = if dump.is_none() { OF_CPU } else { OF_INSTRUCTIONS };
    let plan = Plan { rounds: rounds.unwrap_or(plan.rounds), ..plan };

    let upstream = Upstream::start()?;
    upstream.on(load::FAILING_PATH, Answer::Status(500));
    let mut results = Results::default();
    for _ in 0..plan.starts {
        let envoy = Envoy::start(&chains::bootstrap(upstream.address())?, 1).await?;
        let meter = Meter::new(envoy.process().context("Envoy is gone")?, dump.clone());
        results.add(&measure(&envoy, meter, plan).await?);
    }
    results.print(if dump.is_none() { meter::CPU } else { meter::INSTRUCTIONS });
    Ok(())
}

/// All variants in one start of Envoy.
async fn measure(envoy: &Envoy, mut meter: Meter, plan: Plan) -> Result<Slices> {
    let addresses = chains::addresses(envoy).await?;
    let address_of = |chain: Chain| -> Result<SocketAddr> {
        addresses.get(chain.name()).copied().with_context(|| format!("no listener {}", chain.name()))
    };

    let mut bare = Load::connect(address_of(Chain::Bare)?, false).await?;
    let mut loads = vec![];
    for variant in Variant::ALL {
        let mut load = Load::connect(address_of(variant.chain)?, variant.one_in_ten_fails).await?;
        if variant.chain == Chain::Rejecting {
            ensure!(
                load.send(load::FAILING_PATH).await? == 500,
                "the call that opens the breaker did not fail"
            );
        }
        loads.push(load);
    }

    let mut slices = Slices::default();
    for round in 0..plan.warm_up + plan.rounds {
        // What warmed up is not looked at: compiled code, connections, a full window.
        if round == plan.warm_up {
            slices = Slices::default();
        }
        slices.bare.push(slice(&mut bare, &mut meter, plan).await?);
        for load in &mut loads {
            slices.of_variants.push(slice(load, &mut meter, plan).await?);
            slices.bare.push(slice(&mut bare, &mut meter, plan).await?);
        }
    }
    Ok(slices)
}

/// What a request of so many takes.
async fn slice(load: &mut Load, meter: &mut Meter, plan: Plan) -> Result<f64> {
    // Two variants share a chain, and each begins with the window that it makes itself.
    load.run(A_WINDOW).await?;
    meter.spent()?;
    load.run(plan.requests).await?;
    Ok(f64::from(u32::try_from(meter.spent()? / u64::from(plan.requests))?))
}
