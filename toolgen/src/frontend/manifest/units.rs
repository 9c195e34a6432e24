//! Durations and sizes: numbers with a unit.

use super::codes;
use super::context::Context;
use super::node::Node;

/// The units of durations, in milliseconds.
const DURATION: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("min", 60_000), ("h", 3_600_000)];
/// The units of sizes, in bytes.
const SIZE: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

impl<'a> Context<'a> {
    /// Returns a duration such as `30s`, in milliseconds.
    pub(super) fn duration(&mut self, node: &Node<'a>) -> Option<u64> {
        self.amount(node, &DURATION, "a duration", "write `500ms`, `30s`, `5m` or `1h`")
    }

    /// Returns a size such as `64KiB`, in bytes.
    pub(super) fn size(&mut self, node: &Node<'a>) -> Option<u64> {
        self.amount(node, &SIZE, "a size", "write `500B`, `64KiB`, `16MiB` or `1GiB`")
    }

    fn amount(&mut self, node: &Node<'a>, units: &[(&str, u64)], noun: &str, help: &str) -> Option<u64> {
        let Some(text) = node.value.as_str() else {
            self.report_wrong_type(node, &format!("{noun}, a number with a unit"), help);
            return None;
        };
        let amount = parse_amount(text, units);
        if amount.is_none() {
            let message = format!("`{text}` is not {noun}: a positive integer with a unit");
            self.report(codes::MEASURE, &node.pointer, message, help);
        }
        amount
    }
}

/// Parses a positive number with one of these units, and returns it in the smallest unit.
fn parse_amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digit_count = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digit_count);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*factor).filter(|amount| *amount > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_with_unit_is_parsed() {
        assert_eq!(parse_amount("30s", &DURATION), Some(30_000));
        assert_eq!(parse_amount("2 min", &DURATION), Some(120_000));
        assert_eq!(parse_amount("64KiB", &SIZE), Some(65_536));
        for wrong in
            ["", "s", "30", "0s", "1.5s", "-1s", "30 sec", "99999999999999999999h", "9999999999999999h"]
        {
            assert_eq!(parse_amount(wrong, &DURATION), None, "{wrong}");
        }
    }
}
