//! Validates objects: known, unknown and missing fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::Checker;
use super::{ArgumentProblemKind, describe};
use crate::schema::shape::schema::takes_null;
use crate::schema::shape::{Extra, Field, ObjectRules, object_in};

/// How many keys are compared with a field in the time of a small step.
const PAIRS: usize = 4;

impl Checker<'_> {
    pub(super) fn object(&mut self, given: &Map<String, Value>, known: &ObjectRules) {
        // Each key is compared with all fields.
        let pairs = known.fields.len().saturating_mul(given.len() + 1) / PAIRS;
        if !self.spend(u64::try_from(pairs).unwrap_or(u64::MAX)) {
            return self.add_spent();
        }
        let mut taken: Vec<(&str, &str)> = Vec::new();
        let mut count = 0;
        for (key, value) in given {
            let field = known.field(key, self.hidden);
            if self.is_absent(value, field, known, key) {
                continue;
            }
            count += 1;
            if let Some(field) = field {
                if let Some((_, first)) = taken.iter().find(|(name, _)| *name == field.name.as_str()) {
                    let advice = self.advice(|_| format!("; send only {}", describe::names(&[&field.name])));
                    let message = format!("given twice, as {}{advice}", describe::names(&[first, key]));
                    self.at(key, |checker| checker.value(message));
                }
                taken.push((&field.name, key));
                let before = self.problems.len();
                self.at(key, |checker| checker.check(value, &field.shape));
                let is_optional = !field.required && !self.is_result;
                let text = match value {
                    Value::Null if is_optional => "; omit it instead".to_owned(),
                    // Its missing fields are only required if the object is present.
                    Value::Object(given) if given.is_empty() && is_optional => {
                        format!(", or omit {}", describe::names(&[key]))
                    }
                    _ => String::new(),
                };
                self.problems[before..].iter_mut().for_each(|problem| problem.message.push_str(&text));
            }
            self.patterns_and_extra(key, value, field, known);
        }
        for field in &known.fields {
            let missing = !self.is_full()
                && field.required
                && field.access != self.hidden
                && !taken.iter().any(|(name, _)| *name == field.name.as_str());
            if missing {
                let mut message =
                    format!("missing: expected {}", describe::expected(&field.shape, self.defs));
                if let Some(key) = self.misspelt(&field.name, given, known) {
                    let advice = self.advice(|_| ": send it under this name".to_owned());
                    message.push_str(&format!("; {} is given{advice}", describe::names(&[key])));
                }
                self.at(&field.name, |checker| checker.add(ArgumentProblemKind::Missing, message));
            }
        }
        let hidden = self.hidden;
        let named: BTreeSet<&str> = match known.relations.is_empty() {
            true => BTreeSet::new(),
            false => given
                .iter()
                .filter(|(_, value)| !value.is_null())
                .filter_map(|(key, _)| known.field(key, hidden))
                .map(|field| field.name.as_str())
                .collect(),
        };
        let is_given = |name: &str| named.contains(name);
        for problem in known.relations.iter().filter_map(|relation| relation.problem(is_given)) {
            self.value(problem);
        }
        self.values(known.count_problems(count));
    }

    /// Returns the key that was probably intended as a missing field. Only needed if additional keys are allowed;
    /// otherwise the key itself is reported.
    fn misspelt<'g>(
        &mut self,
        name: &str,
        given: &'g Map<String, Value>,
        known: &ObjectRules,
    ) -> Option<&'g str> {
        /// Maximum number of keys that are compared with each missing field.
        const MAX_KEYS: usize = 100;
        if !matches!(known.extra, Extra::Open) || given.len() > MAX_KEYS {
            return None;
        }
        let hidden = self.hidden;
        let unknown = given.keys().map(String::as_str).filter(|key| known.field(key, hidden).is_none());
        self.suggest(name, unknown)
    }

    /// Whether a `null` only means that the field is absent.
    pub(super) fn is_absent(
        &mut self,
        value: &Value,
        field: Option<&Field>,
        known: &ObjectRules,
        key: &str,
    ) -> bool {
        if !self.null_is_absent || !value.is_null() {
            return false;
        }
        match field {
            Some(field) => !field.required && !takes_null(&field.shape, self.defs),
            // The dialect rendered a union as one object: the field belongs to another variant.
            None => {
                !matches!(known.extra, Extra::Of(_))
                    && !known
                        .patterns
                        .iter()
                        .any(|pattern| self.key_matches(&pattern.pattern, key) == Some(true))
            }
        }
    }

    fn patterns_and_extra(&mut self, key: &str, value: &Value, field: Option<&Field>, known: &ObjectRules) {
        let mut matched = field.is_some();
        for pattern in &known.patterns {
            if !self.reads(&pattern.pattern) {
                return self.add_spent();
            }
            match self.key_matches(&pattern.pattern, key) {
                Some(true) => {
                    matched = true;
                    self.at(key, |checker| checker.check(value, &pattern.shape));
                }
                Some(false) => {}
                // If the key matches, the value may be valid.
                None => {
                    matched = true;
                    self.unsure |= self.exact;
                }
            }
        }
        if matched {
            return;
        }
        match &known.extra {
            Extra::Open => {}
            Extra::Of(shape) => self.at(key, |checker| checker.check(value, shape)),
            Extra::Closed => {
                let fields = known.fields.iter().filter(|field| field.access != self.hidden);
                let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
                let before = self.problems.len();
                self.unknown(key, &names);
                if let (Some(outer), Some(problem)) = (self.holder(key, known), self.problems.get_mut(before))
                {
                    let described =
                        format!("; it is a field of {0}: send it in {0}", describe::names(&[outer]));
                    problem.message.push_str(&described);
                }
            }
        }
    }

    /// Returns the field whose object contains a field with this name, if there is exactly one.
    fn holder<'k>(&self, key: &str, known: &'k ObjectRules) -> Option<&'k str> {
        let has = |field: &&Field| {
            let inner = object_in(&field.shape, self.defs);
            field.access != self.hidden && inner.is_some_and(|inner| inner.field(key, self.hidden).is_some())
        };
        let mut holders = known.fields.iter().filter(|_| !self.is_result).filter(has);
        holders.next().filter(|_| holders.next().is_none()).map(|field| field.name.as_str())
    }

    /// Reports an unknown key.
    pub(super) fn unknown(&mut self, key: &str, names: &[&str]) {
        if self.is_full() {
            return;
        }
        let is_argument = self.path.is_empty() && !self.is_result;
        let what = if is_argument { "argument" } else { "field" };
        let mut message = format!("unknown {what} {}", describe::names(&[key]));
        if let Some(suggestion) = self.suggest(key, names.iter().copied()) {
            message.push_str(&self.advice(|_| format!(" (did you mean `{suggestion}`?)")));
        }
        message.push_str(&match names {
            [] => format!("; there are no {what}s"),
            _ => format!("; known: {}", describe::names(names)),
        });
        self.at(key, |checker| checker.add(ArgumentProblemKind::Unknown, message));
    }
}
