use crate::chains::Variant;

/// What a request took in each slice of one start, in order: in each round a slice of the bare chain, then of each variant
/// one and one more of the bare chain.
#[derive(Default)]
pub(crate) struct Slices {
    pub(crate) bare: Vec<f64>,
    pub(crate) of_variants: Vec<f64>,
}

/// What was measured in all starts.
#[derive(Default)]
pub(crate) struct Results {
    /// For each variant, its slices as multiples of their neighbours.
    ratios: [Vec<f64>; Variant::ALL.len()],
    bare: Vec<f64>,
}

impl Results {
    pub(crate) fn add(&mut self, slices: &Slices) {
        let rounds =
            slices.bare.chunks(Variant::ALL.len() + 1).zip(slices.of_variants.chunks(Variant::ALL.len()));
        for (bare, variants) in rounds {
            let neighbours = bare.iter().zip(bare.iter().skip(1));
            for ((ratios, spent), (before, after)) in self.ratios.iter_mut().zip(variants).zip(neighbours) {
                ratios.push(spent * 2.0 / (before + after));
            }
        }
        self.bare.extend(&slices.bare);
    }

    /// A table, of `what`, and how much the bare chain takes, in a `thousand` of it.
    pub(crate) fn print(mut self, [what, thousand]: [&str; 2]) {
        println!("| chain | {what} a request, times the bare chain's | from | to |\n|---|---|---|---|");
        for (variant, ratios) in Variant::ALL.iter().zip(&mut self.ratios) {
            let [low, median, high] = [10, 50, 90].map(|share| quantile(ratios, share));
            println!("| {} | {median:.2} | {low:.2} | {high:.2} |", variant.name);
        }
        let thousands = quantile(&mut self.bare, 50) / 1000.0;
        println!(
            "\nThe bare chain: {thousands:.1} {thousand} a request. All are medians; from and to: the 10th and 90th percentile."
        );
    }
}

/// The number that so many of a hundred are below.
fn quantile(numbers: &mut [f64], share: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) * share / 100).copied().unwrap_or_default()
}
