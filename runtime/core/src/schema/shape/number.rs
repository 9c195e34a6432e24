//! Numbers in schemas.

use std::cmp::Ordering;

use serde_json::Value;

/// A number in a schema, exact for all integers up to 128 bits.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// Any other finite number.
    Float(f64),
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            // Compared by bits, so that every value equals itself.
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Number {
    /// Reads a JSON number as written: integers stay integers, all others are floats.
    pub(crate) fn of(number: &serde_json::Number) -> Option<Number> {
        if let Some(int) = number.as_i64() {
            return Some(Number::Int(int.into()));
        }
        if let Some(int) = number.as_u64() {
            return Some(Number::Int(int.into()));
        }
        number.as_f64().filter(|float| float.is_finite()).map(Number::Float)
    }

    /// Returns the number, with `3.0` and `1e3` as integers. Exact up to 2^126.
    pub(crate) fn integral(self) -> Number {
        match self {
            // Within these limits the conversion of an integral float is exact.
            Number::Float(float) if float.fract() == 0.0 && float.abs() <= 2f64.powi(126) =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and in range")]
                Number::Int(float as i128)
            }
            other => other,
        }
    }

    /// Returns the nearest float.
    pub(crate) const fn float(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "only reached where the other number is a float")]
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }

    /// Converts the number to JSON. A number that JSON cannot represent becomes `null`.
    pub(crate) fn to_json(self) -> Value {
        match self {
            Number::Int(int) => match (i64::try_from(int), u64::try_from(int)) {
                (Ok(int), _) => int.into(),
                (_, Ok(int)) => int.into(),
                #[expect(clippy::cast_precision_loss, reason = "JSON readers do not keep more either")]
                _ => (int as f64).into(),
            },
            Number::Float(float) => float.into(),
        }
    }
}

/// Compares two numbers, exactly for integers.
pub(crate) fn compare(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Float(b)) => compare_mixed(a, b),
        (Number::Float(a), Number::Int(b)) => compare_mixed(b, a).reverse(),
    }
}

/// Compares an integer with a float, without rounding the integer.
fn compare_mixed(int: i128, float: f64) -> Ordering {
    if float.is_nan() {
        return Ordering::Equal;
    }
    if float >= 2f64.powi(127) {
        return Ordering::Less;
    }
    if float < -(2f64.powi(127)) {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "in range; the fraction is compared separately")]
    let integer_part = float.trunc() as i128;
    int.cmp(&integer_part).then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

/// A number with a total order, in which `1` and `1.0` are equal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByValue(pub(crate) Number);

impl Ord for ByValue {
    fn cmp(&self, other: &ByValue) -> Ordering {
        compare(self.0, other.0)
    }
}

impl PartialOrd for ByValue {
    fn partial_cmp(&self, other: &ByValue) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByValue {
    fn eq(&self, other: &ByValue) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ByValue {}

/// Whether two numbers are the same value.
pub(crate) fn same_number(a: Number, b: Number) -> bool {
    compare(a, b) == Ordering::Equal
}

/// Whether a number is an integer multiple of a step. Exact for integers. For decimals such as `0.1`, which floats
/// only approximate, the error of the division is tolerated.
pub(crate) fn is_multiple(value: Number, step: Number) -> bool {
    match (value.integral(), step.integral()) {
        (Number::Int(value), Number::Int(step)) => step == 0 || value % step == 0,
        (value, step) => {
            let (value, step) = (value.float(), step.float());
            if step == 0.0 || !step.is_finite() || !value.is_finite() {
                return true;
            }
            let quotient = value / step;
            if !quotient.is_finite() {
                return value % step == 0.0;
            }
            // If the step is larger than the value, only zero is a multiple.
            if quotient.abs() < 0.5 {
                return value == 0.0;
            }
            (quotient - quotient.round()).abs() <= quotient.abs().max(1.0) * f64::EPSILON * 4.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_exactly() {
        let big = i128::from(u64::MAX);
        assert_eq!(compare(Number::Int(big), Number::Float(18_446_744_073_709_551_616.0)), Ordering::Less);
        assert_eq!(compare(Number::Float(0.5), Number::Int(0)), Ordering::Greater);
        assert_eq!(compare(Number::Float(-0.5), Number::Int(0)), Ordering::Less);
        assert_eq!(compare(Number::Int(-1), Number::Float(-1.5)), Ordering::Greater);
        assert_eq!(compare(Number::Int(i128::MAX), Number::Float(f64::MAX)), Ordering::Less);
        assert!(same_number(Number::Int(5), Number::Float(5.0)));
        assert!(is_multiple(Number::Float(0.3), Number::Float(0.1)));
        assert!(is_multiple(Number::Float(1e300), Number::Int(5)));
        assert!(
            !is_multiple(Number::Float(1e20), Number::Int(3))
                && is_multiple(Number::Float(1e20), Number::Int(4))
        );
        assert!(
            !is_multiple(Number::Int(3), Number::Float(1e300))
                && is_multiple(Number::Int(0), Number::Float(1e300))
        );
        assert!(!is_multiple(Number::Float(0.35), Number::Float(0.1)));
        assert!(!is_multiple(Number::Int(i128::from(u64::MAX)), Number::Int(2)));
    }
}
