use core::fmt;

/// A number with two decimals, kept as an integer so that no decision depends on a float: percentages
/// (`5000` is 50 %), back-off multipliers (`200` is twice), jitter (`10` is a tenth).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hundredths(pub u32);

impl Hundredths {
    /// The number nearest to `value`, or `None` if `value` is negative, not finite, above 10 million, or has
    /// more than two decimals.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !(0.0..=10_000_000.0).contains(&value) {
            return None;
        }
        let scaled = value * 100.0;
        let nearest = (scaled + 0.5) as u32;
        let off = scaled - f64::from(nearest);
        (-1e-6..=1e-6).contains(&off).then_some(Self(nearest))
    }

    /// The number as a float, for display and foreign types.
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// Whether `part` of `whole` is at or above this percentage.
    pub(crate) fn reached(self, part: u32, whole: u32) -> bool {
        u64::from(part).saturating_mul(10_000) >= u64::from(self.0).saturating_mul(u64::from(whole))
    }

    /// `value` times this number, rounded down; saturates.
    pub(crate) fn times(self, value: u64) -> u64 {
        let product = u128::from(value).saturating_mul(u128::from(self.0)) / 100;
        u64::try_from(product).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::Hundredths;

    #[test]
    fn two_decimals_are_exact_and_a_third_is_refused() {
        assert_eq!(Hundredths::from_f64(33.33), Some(Hundredths(3333)));
        assert_eq!(Hundredths::from_f64(0.29), Some(Hundredths(29)));
        assert_eq!(Hundredths::from_f64(100.0), Some(Hundredths(10_000)));
        assert_eq!(Hundredths::from_f64(33.333), None);
        assert_eq!(Hundredths::from_f64(-1.0), None);
        assert_eq!(Hundredths::from_f64(f64::NAN), None);
        assert_eq!(Hundredths::from_f64(f64::INFINITY), None);
    }

    #[test]
    fn a_threshold_is_inclusive() {
        assert!(Hundredths(5000).reached(5, 10));
        assert!(!Hundredths(5001).reached(5, 10));
        assert!(Hundredths(3333).reached(1, 3));
        assert!(!Hundredths(3334).reached(1, 3));
        assert!(Hundredths(10_000).reached(u32::MAX, u32::MAX));
    }
}
