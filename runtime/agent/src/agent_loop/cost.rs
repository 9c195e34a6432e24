//! The cost of requests to a model.

use std::fmt;

/// An amount of US dollars, in billionths: the price of a token is a whole number of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u64);

/// Billionths in a dollar.
const NANOS: f64 = 1e9;

impl Cost {
    /// Returns an amount of US dollars, rounded to billionths. Negative amounts and `NaN` are zero.
    #[must_use]
    pub fn usd(dollars: f64) -> Cost {
        // A cast saturates, and `NaN` becomes zero.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Cost((dollars * NANOS).round() as u64)
    }

    /// Returns an amount in billionths of a US dollar.
    #[must_use]
    pub const fn nanos(nanos: u64) -> Cost {
        Cost(nanos)
    }

    /// Returns the amount in US dollars.
    #[must_use]
    pub fn as_usd(self) -> f64 {
        #[allow(
            clippy::cast_precision_loss,
            reason = "beyond 9 million dollars, a billionth does not matter"
        )]
        let nanos = self.0 as f64;
        nanos / NANOS
    }

    /// Returns the sum of two amounts.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost(self.0.saturating_add(other.0))
    }
}

/// Dollars with at least two decimals, and four if the amount is below one dollar: `$12.30`, `$0.0042`.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_usd();
        if self.0 > 0 && self.0 < 50_000 {
            return f.write_str("<$0.0001");
        }
        if dollars < 1.0 { write!(f, "${dollars:.4}") } else { write!(f, "${dollars:.2}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_and_readable() {
        let tenth = (0..10).fold(Cost::default(), |sum, _| sum.plus(Cost::usd(0.1)));
        assert_eq!(tenth, Cost::usd(1.0));
        let displayed =
            [0.0, 0.000_01, 0.000_42, 0.5, 1.0, 12.3].map(|dollars| Cost::usd(dollars).to_string());
        assert_eq!(displayed, ["$0.0000", "<$0.0001", "$0.0004", "$0.5000", "$1.00", "$12.30"]);
        assert_eq!([-1.0, f64::NAN].map(Cost::usd), [Cost::default(); 2]);
    }
}
