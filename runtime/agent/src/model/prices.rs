//! The prices of models.

use toolgen_wire::Usage;

use crate::agent_loop::Cost;

/// The date of the built-in prices, as year and month.
pub const PRICES_DATE: &str = "2026-11";

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// The price of tokens that the model reads.
    pub input: f64,
    /// The price of tokens that are read from a cache.
    pub cached: f64,
    /// The price of tokens that the model writes, including reasoning.
    pub output: f64,
}

impl Price {
    /// Creates a price without a discount for cached tokens.
    #[must_use]
    pub const fn new(input: f64, output: f64) -> Price {
        Price { input, cached: input, output }
    }

    /// Sets the price of tokens that are read from a cache.
    #[must_use]
    pub const fn with_cached(mut self, cached: f64) -> Price {
        self.cached = cached;
        self
    }

    /// Returns the cost of a request. Tokens that are written to a cache cost as much as others, since vendors report
    /// them differently.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Cost {
        #[allow(clippy::cast_precision_loss, reason = "no request has 2^53 tokens")]
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let cached = usage.cached.min(usage.input);
        Cost::usd(
            part(usage.input - cached, self.input)
                + part(cached, self.cached)
                + part(usage.output, self.output),
        )
    }
}

/// The prices of models, by name.
///
/// The built-in [prices](Prices::builtin) are the vendors' list prices of [`PRICES_DATE`] for short requests. Vendors
/// change their prices, and charge more for long requests, some regions and faster service: for other prices, add your
/// own, or replace the table.
///
/// ```
/// use toolgen_runtime::agent::model::{Price, Prices};
/// use toolgen_runtime::wire::Usage;
///
/// let prices = Prices::builtin().with("my-model", Price::new(0.50, 2.0));
/// let usage = Usage::new(1_000_000, 1000, 0, 0);
/// assert_eq!(prices.of("my-model").map(|price| price.cost(&usage).to_string()), Some("$0.5020".to_owned()));
/// assert!(prices.of("another-model").is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices(Vec<(String, Price)>);

impl Prices {
    /// Creates an empty table.
    #[must_use]
    pub fn new() -> Prices {
        Prices::default()
    }

    /// Returns the list prices of [`PRICES_DATE`].
    #[must_use]
    pub fn builtin() -> Prices {
        let price = |&(name, input, cached, output): &(&str, f64, f64, f64)| {
            (name.to_owned(), Price { input, cached, output })
        };
        Prices(BUILTIN.iter().map(price).collect())
    }

    /// Adds the price of a model, or replaces it.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Prices {
        let model = model.into();
        self.0.retain(|(name, _)| *name != model);
        self.0.push((model, price));
        self
    }

    /// Returns the price of a model. A dated name, such as `gpt-4o-2024-08-06`, has the price of the name without the
    /// date, if it has no price of its own.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<Price> {
        let find = |model: &str| self.0.iter().find(|(name, _)| name == model).map(|(_, price)| *price);
        find(model).or_else(|| find(without_date(model)?))
    }
}

/// Returns a name without its date or `-latest`, or `None` if it has neither.
fn without_date(model: &str) -> Option<&str> {
    if let Some(name) = model.strip_suffix("-latest") {
        return Some(name);
    }
    let is_date = |text: &str| {
        text.len() >= 8
            && text.bytes().filter(u8::is_ascii_digit).count() == 8
            && !text.contains(char::is_alphabetic)
    };
    // `-20250929` or `-2024-08-06`.
    [8, 10].into_iter().find_map(|length| {
        let start = model.len().checked_sub(length)?;
        let (name, date) = (model.get(..start)?, model.get(start..)?);
        if is_date(date) { name.strip_suffix('-') } else { None }
    })
}

/// Name, and dollars per million tokens: input, cached input, output. From the price lists of the vendors.
const BUILTIN: &[(&str, f64, f64, f64)] = &[
    ("claude-fable-5", 10.0, 1.0, 50.0),
    ("claude-fable-5-1", 10.0, 0.25, 50.0),
    ("claude-haiku-4-5", 1.0, 0.1, 5.0),
    ("claude-haiku-5-5", 0.1, 0.01, 0.5),
    ("claude-opus-4-0", 15.0, 1.5, 75.0),
    ("claude-opus-4-1", 15.0, 1.5, 75.0),
    ("claude-opus-4-5", 5.0, 0.5, 25.0),
    ("claude-opus-4-6", 5.0, 0.5, 25.0),
    ("claude-opus-4-7", 5.0, 0.5, 25.0),
    ("claude-opus-4-8", 5.0, 0.5, 25.0),
    ("claude-opus-5", 5.0, 0.5, 25.0),
    ("claude-opus-5-5", 4.0, 0.2, 20.0),
    ("claude-sonnet-4-0", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-5", 3.0, 0.3, 15.0),
    ("claude-sonnet-4-6", 3.0, 0.3, 15.0),
    ("claude-sonnet-5", 2.0, 0.2, 10.0),
    ("claude-sonnet-5-5", 2.0, 0.1, 10.0),
    ("gpt-4.1", 2.0, 0.5, 8.0),
    ("gpt-4.1-mini", 0.4, 0.1, 1.6),
    ("gpt-4.1-nano", 0.1, 0.025, 0.4),
    ("gpt-4o", 2.5, 1.25, 10.0),
    ("gpt-4o-mini", 0.15, 0.075, 0.6),
    ("gpt-5", 1.25, 0.125, 10.0),
    ("gpt-5-mini", 0.25, 0.025, 2.0),
    ("gpt-5-nano", 0.05, 0.005, 0.4),
    ("gpt-5-pro", 15.0, 15.0, 120.0),
    ("gpt-5.1", 1.25, 0.125, 10.0),
    ("gpt-5.2", 1.75, 0.175, 14.0),
    ("gpt-5.2-pro", 21.0, 21.0, 168.0),
    ("gpt-5.4", 2.5, 0.25, 15.0),
    ("gpt-5.4-mini", 0.75, 0.075, 4.5),
    ("gpt-5.4-nano", 0.2, 0.02, 1.25),
    ("gpt-5.4-pro", 30.0, 30.0, 180.0),
    ("gpt-5.5", 5.0, 0.5, 30.0),
    ("gpt-5.5-pro", 30.0, 30.0, 180.0),
    ("gpt-5.6", 4.0, 0.4, 20.0),
    ("gpt-5.6-luna", 0.2, 0.02, 1.2),
    ("gpt-5.6-sol", 4.0, 0.4, 20.0),
    ("gpt-5.6-terra", 2.0, 0.2, 12.0),
    ("gpt-6-astra", 10.0, 1.0, 50.0),
    ("gpt-6-luna", 0.1, 0.01, 0.5),
    ("gpt-6-sol", 2.0, 0.2, 10.0),
    ("gpt-6.1-sol", 2.0, 0.1, 10.0),
    ("gpt-6.1-terra", 1.0, 0.05, 5.0),
    ("o1", 15.0, 7.5, 60.0),
    ("o1-pro", 150.0, 150.0, 600.0),
    ("o3", 2.0, 0.5, 8.0),
    ("o3-mini", 1.1, 0.55, 4.4),
    ("o3-pro", 20.0, 20.0, 80.0),
    ("o4-mini", 1.1, 0.275, 4.4),
    ("gemini-2.0-flash", 0.1, 0.025, 0.4),
    ("gemini-2.0-flash-lite", 0.075, 0.075, 0.3),
    ("gemini-2.5-flash", 0.3, 0.03, 2.5),
    ("gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    ("gemini-2.5-pro", 1.25, 0.125, 10.0),
    ("gemini-2.5-pro-exp-03-25", 1.25, 0.125, 10.0),
    ("gemini-3-flash-preview", 0.5, 0.05, 3.0),
    ("gemini-3.1-flash-lite", 0.25, 0.025, 1.5),
    ("gemini-3.1-flash-lite-preview", 0.25, 0.025, 1.5),
    ("gemini-3.1-pro-preview", 2.0, 0.2, 12.0),
    ("gemini-3.1-pro-preview-customtools", 2.0, 0.2, 12.0),
    ("gemini-3.5-flash", 1.5, 0.15, 9.0),
    ("gemini-3.5-flash-lite", 0.3, 0.03, 2.5),
    ("gemini-3.6-flash", 0.75, 0.075, 3.75),
    ("gemini-3.7-flash", 0.75, 0.075, 3.75),
    ("gemini-3.8-flash", 0.75, 0.075, 3.75),
    ("gemini-4-argon", 2.0, 0.1, 10.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dated_names_have_the_price_of_the_name() {
        let prices = Prices::builtin();
        for (dated, name) in [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("claude-haiku-5-5-latest", "claude-haiku-5-5"),
        ] {
            assert!(prices.of(name).is_some());
            assert_eq!(prices.of(dated), prices.of(name), "{dated}");
        }
        // Another model, however similar its name.
        for unknown in ["claude-opus-4-9", "gpt-5-max", "gpt-5.9", "gpt-4o-audio", "", "ü-20250929"] {
            assert_eq!(prices.of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn cached_tokens_have_their_own_price() {
        let price = Price::new(3.0, 15.0).with_cached(0.3);
        let cost = |input, output, cached| price.cost(&Usage::new(input, output, cached, 0));
        assert_eq!(cost(1_000_000, 0, 0), Cost::usd(3.0));
        assert_eq!(cost(1_000_000, 0, 1_000_000), Cost::usd(0.3));
        assert_eq!(cost(1000, 100, 500), Cost::nanos(1_500_000 + 150_000 + 1_500_000));
        // More cached tokens than tokens, as a faulty host reports.
        assert_eq!(cost(10, 0, 20), Cost::usd(0.3 * 10.0 / 1e6));
    }
}
