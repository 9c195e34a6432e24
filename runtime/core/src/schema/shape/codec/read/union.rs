//! Reads a value of a union: as the variant that it was written as.

use serde_json::Value;

use super::Reader;
use crate::schema::shape::UnionRules;
use crate::schema::shape::decode::{self, ArgumentProblem};

/// A value read as one of the variants.
struct Attempt {
    value: Value,
    places: Vec<(String, String)>,
    problems: Vec<ArgumentProblem>,
    /// How often something was not written as the dialect requires.
    loose: usize,
    /// How far the value is from the form of the variant: its type and its keys.
    far: usize,
    /// How many problems the value has; 0 if it fits.
    wrong: usize,
}

impl Reader<'_> {
    pub(super) fn union(&mut self, value: &Value, union: &UnionRules, around: &[String]) -> Value {
        if let Some(variant) = decode::named_variant(value, union, self.codec.defs) {
            return self.value(value, variant, around);
        }
        let mut best: Option<Attempt> = None;
        for variant in &union.variants {
            let (places, problems, loose) = (self.places.len(), self.problems.len(), self.loose);
            if self.is_spent() {
                break;
            }
            let read = self.value(value, variant, around);
            let mut attempt = Attempt {
                places: self.places.split_off(places),
                problems: self.problems.split_off(problems),
                loose: self.loose - loose,
                far: 0,
                wrong: 0,
                value: read,
            };
            self.loose = loose;
            let found = self.problems_of(&attempt.value, variant);
            attempt.wrong = found.len() + attempt.problems.len();
            if attempt.wrong > 0 {
                attempt.far = decode::distance(&attempt.value, variant, self.codec.defs);
            }
            let rank = |attempt: &Attempt| (attempt.wrong > 0, attempt.far, attempt.loose, attempt.wrong);
            if best.as_ref().is_none_or(|best| rank(&attempt) < rank(best)) {
                best = Some(attempt);
            }
        }
        let Some(best) = best else { return value.clone() };
        self.places.extend(best.places);
        self.problems.extend(best.problems);
        self.loose += best.loose;
        best.value
    }
}
