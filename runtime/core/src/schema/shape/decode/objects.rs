//! Validates objects: known, unknown and missing fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::check::Checker;
use super::{ArgumentProblemKind, describe};
use crate::schema::shape::schema::allows_null;
use crate::schema::shape::{Extra, Field, ObjectRules, object_in};

/// How many keys are compared with a field in the time of a small step.
const COMPARISONS_PER_SMALL_STEP: usize = 4;

impl Checker<'_> {
    pub(super) fn check_object(&mut self, object: &Map<String, Value>, rules: &ObjectRules) {
        // Each key is compared with all fields.
        let pairs = rules.fields.len().saturating_mul(object.len() + 1) / COMPARISONS_PER_SMALL_STEP;
        if !self.spend(u64::try_from(pairs).unwrap_or(u64::MAX)) {
            return self.report_out_of_steps();
        }
        let mut matched: Vec<(&str, &str)> = Vec::new();
        let mut count = 0;
        for (key, value) in object {
            let field = rules.field(key, self.hidden);
            if self.is_absent(value, field, rules, key) {
                continue;
            }
            count += 1;
            if let Some(field) = field {
                if let Some((_, first)) = matched.iter().find(|(name, _)| *name == field.name.as_str()) {
                    let advice =
                        self.advice(|_| format!("; send only {}", describe::list_names(&[&field.name])));
                    let message = format!("given twice, as {}{advice}", describe::list_names(&[first, key]));
                    self.at(key, |checker| checker.add_value_problem(message));
                }
                matched.push((&field.name, key));
                let before = self.problems.len();
                self.at(key, |checker| checker.check(value, &field.shape));
                let is_optional = !field.required && !self.is_result;
                let text = match value {
                    Value::Null if is_optional => "; omit it instead".to_owned(),
                    // Its missing fields are only required if the object is present.
                    Value::Object(object) if object.is_empty() && is_optional => {
                        format!(", or omit {}", describe::list_names(&[key]))
                    }
                    _ => String::new(),
                };
                self.problems[before..].iter_mut().for_each(|problem| problem.message.push_str(&text));
            }
            self.check_patterns_and_extra(key, value, field, rules);
        }
        for field in &rules.fields {
            let is_missing = !self.is_full()
                && field.required
                && field.access != self.hidden
                && !matched.iter().any(|(name, _)| *name == field.name.as_str());
            if is_missing {
                let mut message =
                    format!("missing: expected {}", describe::expected(&field.shape, self.defs));
                if let Some(key) = self.misspelled_key(&field.name, object, rules) {
                    let advice = self.advice(|_| ": send it under this name".to_owned());
                    message.push_str(&format!("; {} is given{advice}", describe::list_names(&[key])));
                }
                self.at(&field.name, |checker| checker.add(ArgumentProblemKind::Missing, message));
            }
        }
        let hidden = self.hidden;
        let set_fields: BTreeSet<&str> = match rules.relations.is_empty() {
            true => BTreeSet::new(),
            false => object
                .iter()
                .filter(|(_, value)| !value.is_null())
                .filter_map(|(key, _)| rules.field(key, hidden))
                .map(|field| field.name.as_str())
                .collect(),
        };
        let is_set = |name: &str| set_fields.contains(name);
        for problem in rules.relations.iter().filter_map(|relation| relation.problem(is_set)) {
            self.add_value_problem(problem);
        }
        self.add_value_problems(rules.count_problems(count));
    }

    /// Returns the key that was probably intended as a missing field. Only needed if additional keys are allowed;
    /// otherwise the key itself is reported.
    fn misspelled_key<'g>(
        &mut self,
        name: &str,
        object: &'g Map<String, Value>,
        rules: &ObjectRules,
    ) -> Option<&'g str> {
        /// Maximum number of keys that are compared with each missing field.
        const MAX_KEYS: usize = 100;
        if !matches!(rules.extra, Extra::Open) || object.len() > MAX_KEYS {
            return None;
        }
        let hidden = self.hidden;
        let unknown = object.keys().map(String::as_str).filter(|key| rules.field(key, hidden).is_none());
        self.suggest(name, unknown)
    }

    /// Whether a `null` only means that the field is absent.
    pub(super) fn is_absent(
        &mut self,
        value: &Value,
        field: Option<&Field>,
        rules: &ObjectRules,
        key: &str,
    ) -> bool {
        if !self.null_is_absent || !value.is_null() {
            return false;
        }
        match field {
            Some(field) => !field.required && !allows_null(&field.shape, self.defs),
            // The dialect rendered a union as one object: the field belongs to another variant.
            None => {
                !matches!(rules.extra, Extra::Of(_))
                    && !rules
                        .patterns
                        .iter()
                        .any(|pattern| self.key_matches(&pattern.pattern, key) == Some(true))
            }
        }
    }

    fn check_patterns_and_extra(
        &mut self,
        key: &str,
        value: &Value,
        field: Option<&Field>,
        rules: &ObjectRules,
    ) {
        let mut is_known = field.is_some();
        for pattern in &rules.patterns {
            if !self.charge_pattern(&pattern.pattern) {
                return self.report_out_of_steps();
            }
            match self.key_matches(&pattern.pattern, key) {
                Some(true) => {
                    is_known = true;
                    self.at(key, |checker| checker.check(value, &pattern.shape));
                }
                Some(false) => {}
                // If the key matches, the value may be valid.
                None => {
                    is_known = true;
                    self.is_uncertain |= self.is_exact;
                }
            }
        }
        if is_known {
            return;
        }
        match &rules.extra {
            Extra::Open => {}
            Extra::Of(shape) => self.at(key, |checker| checker.check(value, shape)),
            Extra::Closed => {
                let fields = rules.fields.iter().filter(|field| field.access != self.hidden);
                let names: Vec<&str> = fields.map(|field| field.name.as_str()).collect();
                let before = self.problems.len();
                self.add_unknown(key, &names);
                if let (Some(outer), Some(problem)) =
                    (self.containing_field(key, rules), self.problems.get_mut(before))
                {
                    let hint =
                        format!("; it is a field of {0}: send it in {0}", describe::list_names(&[outer]));
                    problem.message.push_str(&hint);
                }
            }
        }
    }

    /// Returns the field whose object contains a field with this name, if there is exactly one.
    fn containing_field<'k>(&self, key: &str, rules: &'k ObjectRules) -> Option<&'k str> {
        let contains_key = |field: &&Field| {
            let inner = object_in(&field.shape, self.defs);
            field.access != self.hidden && inner.is_some_and(|inner| inner.field(key, self.hidden).is_some())
        };
        let mut containing = rules.fields.iter().filter(|_| !self.is_result).filter(contains_key);
        containing.next().filter(|_| containing.next().is_none()).map(|field| field.name.as_str())
    }

    /// Reports an unknown key.
    pub(super) fn add_unknown(&mut self, key: &str, names: &[&str]) {
        if self.is_full() {
            return;
        }
        let is_argument = self.path.is_empty() && !self.is_result;
        let what = if is_argument { "argument" } else { "field" };
        let mut message = format!("unknown {what} {}", describe::list_names(&[key]));
        if let Some(suggestion) = self.suggest(key, names.iter().copied()) {
            message.push_str(&self.advice(|_| format!(" (did you mean `{suggestion}`?)")));
        }
        message.push_str(&match names {
            [] => format!("; there are no {what}s"),
            _ => format!("; known: {}", describe::list_names(names)),
        });
        self.at(key, |checker| checker.add(ArgumentProblemKind::Unknown, message));
    }
}
