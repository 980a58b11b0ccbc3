use std::fmt;

use anyhow::Result;
use breakerbox_host::envoy::Envoy;

/// What an allocator may take from the system at once, on no request's account in particular.
const STEP: f64 = 1024.0 * 1024.0;

/// How much memory a server occupied after how many requests.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<(u64, u64)>);

impl Samples {
    pub(crate) fn take(&mut self, envoy: &Envoy, requests: u64) -> Result<()> {
        self.0.push((requests, envoy.memory()?));
        Ok(())
    }

    /// Whether memory did not grow with requests: by no more than a byte for each, and a step.
    pub(crate) fn are_flat(&self) -> bool {
        let half = self.second_half();
        let requests = half.last().map_or(0.0, |last| last.0) - half.first().map_or(0.0, |first| first.0);
        self.slope() * requests <= requests + STEP
    }

    /// By how many bytes a request it grew in the second half, by least squares.
    fn slope(&self) -> f64 {
        let half = self.second_half();
        #[allow(clippy::cast_precision_loss, reason = "a handful")]
        let count = half.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| half.iter().map(of).sum::<f64>() / count;
        let (mean_requests, mean_bytes) = (mean(|at| at.0), mean(|at| at.1));
        let rise: f64 = half.iter().map(|at| (at.0 - mean_requests) * (at.1 - mean_bytes)).sum();
        let run: f64 = half.iter().map(|at| (at.0 - mean_requests).powi(2)).sum();
        rise / run
    }

    /// Without the warm-up.
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    fn second_half(&self) -> Vec<(f64, f64)> {
        self.0.iter().skip(self.0.len() / 2).map(|at| (at.0 as f64, at.1 as f64)).collect()
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} bytes a request in the second half:", self.slope())?;
        self.0.iter().try_for_each(|(requests, bytes)| write!(f, " {requests}: {} KiB", bytes / 1024))
    }
}

#[test]
fn growth_shows_in_the_second_half_and_the_warm_up_does_not() {
    let of = |bytes: fn(u64) -> u64| Samples((1..=20).map(|nth| (nth * 2_500, bytes(nth * 2_500))).collect());
    assert!(of(|requests| requests.min(20_000) * 1000).are_flat());
    let leak = of(|requests| requests * 100);
    assert!((leak.slope() - 100.0).abs() < 1e-6 && !leak.are_flat(), "{leak}");
}
