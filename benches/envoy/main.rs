//! What the filter costs in a real Envoy: CPU per request, as a multiple of a chain without filters.
//!
//! `envoy-overhead [ROUNDS]`. One worker. Every variant's slice of requests lies between two slices of the bare
//! chain, and is compared with those two alone: on a shared machine only neighbours mean anything.

mod chains;
mod cpu;
mod load;

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use breakerbox_host::envoy::Envoy;
use breakerbox_host::upstream::{Answer, Upstream};

use chains::{Chain, Variant};
use load::Load;

const REQUESTS: u32 = 3_000;
const ROUNDS: usize = 16;

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(ROUNDS), |rounds| rounds.parse());
    let rounds = rounds.context("usage: envoy-overhead [ROUNDS]")?;
    let upstream = Upstream::start()?;
    upstream.on(load::FAILING_PATH, Answer::Status(500));
    let envoy = Envoy::start(&chains::bootstrap(upstream.address())?, 1).await?;
    let process = envoy.process().context("Envoy is gone")?;
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

    // Once to warm up, which is not looked at: compiled code, connections, a full window.
    for round in 0..=rounds {
        bare.slice(process).await?;
        for (_, measured) in &mut variants {
            measured.slice(process).await?;
            bare.slice(process).await?;
        }
        if round == 0 {
            bare.slices.clear();
            for (_, measured) in &mut variants {
                measured.slices.clear();
            }
        }
    }
    report(&bare.slices, &variants);
    Ok(())
}

/// A chain's load, and the CPU nanoseconds a request of each slice so far.
struct Measured {
    load: Load,
    slices: Vec<f64>,
}

impl Measured {
    async fn slice(&mut self, process: u32) -> Result<()> {
        let before = cpu::nanos(process)?;
        self.load.run(REQUESTS).await?;
        let spent = cpu::nanos(process)?.saturating_sub(before);
        self.slices.push(f64::from(u32::try_from(spent / u64::from(REQUESTS))?));
        Ok(())
    }
}

fn report(bare: &[f64], variants: &[(Variant, Measured)]) {
    let stride = variants.len() + 1;
    println!("| chain | CPU a request, times the bare chain's | from | to |\n|---|---|---|---|");
    for (at, (variant, measured)) in variants.iter().enumerate() {
        let mut ratios: Vec<f64> = measured
            .slices
            .iter()
            .enumerate()
            .filter_map(|(round, nanos)| {
                let before = bare.get(round * stride + at)?;
                let after = bare.get(round * stride + at + 1)?;
                Some(nanos * 2.0 / (before + after))
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        let at = |share: usize| ratios.get((ratios.len() - 1) * share / 100).copied().unwrap_or_default();
        println!("| {} | {:.2} | {:.2} | {:.2} |", variant.name, at(50), at(10), at(90));
    }
    let mut all = bare.to_vec();
    all.sort_by(f64::total_cmp);
    let median = all.get(all.len() / 2).copied().unwrap_or_default() / 1000.0;
    println!(
        "\nThe bare chain: {median:.1} us a request (median). From and to: the 10th and 90th percentile of the pairs."
    );
}
