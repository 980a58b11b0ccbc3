//! What the filter costs in a real Envoy: CPU per request, as a multiple of a chain without filters.
//!
//! `envoy-overhead [ROUNDS]`. One worker. Every variant's slice of requests lies between two slices of the bare
//! chain, and is compared with those two alone: on a shared machine only neighbours mean anything.
//!
//! With `CALLGRIND_DUMP`, where `ENVOY` is `under-callgrind.sh`, instructions are counted instead.

mod chains;
mod load;
mod meter;

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::envoy::Envoy;
use breakerbox_host::upstream::{Answer, Upstream};

use chains::{Chain, Variant};
use load::Load;
use meter::Meter;

const ROUNDS: usize = 16;
/// Under callgrind all is slow, and the second time like the first once all code is compiled.
const COUNTED_ROUNDS: usize = 2;

/// More requests than a window holds.
const A_WINDOW: u32 = 320;

/// Requests in a slice, and rounds to warm up.
#[derive(Clone, Copy)]
struct Plan {
    requests: u32,
    warm_up: usize,
    rounds: usize,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).map(|rounds| rounds.parse()).transpose();
    let rounds: Option<usize> = rounds.context("usage: envoy-overhead [ROUNDS]")?;
    let upstream = Upstream::start()?;
    upstream.on(load::FAILING_PATH, Answer::Status(500));
    let envoy = Envoy::start(&chains::bootstrap(upstream.address())?, 1).await?;
    let process = envoy.process().context("Envoy is gone")?;
    let (mut meter, plan) = match std::env::var_os("CALLGRIND_DUMP") {
        None => {
            let plan = Plan { requests: 3_200, warm_up: 1, rounds: rounds.unwrap_or(ROUNDS) };
            (Meter::Cpu { process, last: 0 }, plan)
        }
        Some(dump) => {
            let plan = Plan { requests: 320, warm_up: 4, rounds: rounds.unwrap_or(COUNTED_ROUNDS) };
            (Meter::Instructions { process, dump: dump.into(), dumps: 0 }, plan)
        }
    };
    let addresses = chains::addresses(&envoy).await?;
    let address_of = |chain: Chain| -> Result<SocketAddr> {
        addresses.get(chain.name()).copied().with_context(|| format!("no listener {}", chain.name()))
    };

    let mut bare = Measured { load: Load::connect(address_of(Chain::Bare)?, false).await?, slices: vec![] };
    let mut variants = vec![];
    for variant in Variant::ALL {
        let mut load = Load::connect(address_of(variant.chain)?, variant.one_in_ten_fails).await?;
        if variant.chain == Chain::Rejecting {
            ensure!(
                load.send(load::FAILING_PATH).await? == 500,
                "the call that opens the breaker did not fail"
            );
        }
        variants.push((variant, Measured { load, slices: vec![] }));
    }

    // What warms up is not looked at: compiled code, connections, a full window.
    for round in 1..=plan.warm_up + plan.rounds {
        bare.slice(&mut meter, plan).await?;
        for (_, measured) in &mut variants {
            measured.slice(&mut meter, plan).await?;
            bare.slice(&mut meter, plan).await?;
        }
        if round == plan.warm_up {
            bare.slices.clear();
            for (_, measured) in &mut variants {
                measured.slices.clear();
            }
        }
    }
    report(meter.unit(), &bare.slices, &variants);
    Ok(())
}

/// A chain's load, and what a request of each slice so far has taken.
struct Measured {
    load: Load,
    slices: Vec<f64>,
}

impl Measured {
    async fn slice(&mut self, meter: &mut Meter, plan: Plan) -> Result<()> {
        // Two variants share a chain, and each begins with the window that it makes itself.
        self.load.run(A_WINDOW).await?;
        meter.spent()?;
        self.load.run(plan.requests).await?;
        self.slices.push(f64::from(u32::try_from(meter.spent()? / u64::from(plan.requests))?));
        Ok(())
    }
}

fn report([what, thousand]: [&str; 2], bare: &[f64], variants: &[(Variant, Measured)]) {
    let stride = variants.len() + 1;
    println!("| chain | {what} a request, times the bare chain's | from | to |\n|---|---|---|---|");
    for (at, (variant, measured)) in variants.iter().enumerate() {
        let mut ratios: Vec<f64> = measured
            .slices
            .iter()
            .enumerate()
            .filter_map(|(round, spent)| {
                let before = bare.get(round * stride + at)?;
                let after = bare.get(round * stride + at + 1)?;
                Some(spent * 2.0 / (before + after))
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |share: usize| ratios.get((ratios.len() - 1) * share / 100).copied().unwrap_or_default();
        println!("| {} | {:.2} | {:.2} | {:.2} |", variant.name, at(50), at(10), at(90));
    }
    let mut all = bare.to_vec();
    all.sort_by(f64::total_cmp);
    let thousands = all.get(all.len() / 2).copied().unwrap_or_default() / 1000.0;
    println!(
        "\nThe bare chain: {thousands:.1} {thousand} a request (median). From and to: the 10th and 90th percentile of the pairs."
    );
}
