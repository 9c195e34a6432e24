//! Validates rules that refer to another schema, which the tree keeps as text ([`Kind::Raw`]): `not`, `if`,
//! `contains`, `propertyNames`, dependencies.
//!
//! Such a rule can invert a result: a value that is accepted leniently elsewhere would be rejected under a `not`. The
//! schema is therefore checked [exactly](Checker::is_exact). If the result is uncertain (a pattern is not matched, a
//! keyword is not supported), the rule rejects nothing.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::check::{Checker, Form};
use super::{ArgumentProblem, ArgumentProblemKind};
use crate::base::frozen::Text;
use crate::schema::shape::condition_messages::{self, Condition, Conditions, Part, Trigger};
use crate::schema::shape::{Access, Kind, Shape, pointer, resolved};

impl Checker<'_> {
    /// Adds the problems of a value with shapes that all apply.
    pub(super) fn check_all(&mut self, value: &Value, parts: &[Shape]) {
        let is_raw = |part: &&Shape| matches!(part.kind, Kind::Raw(_));
        parts.iter().filter(|part| !is_raw(part)).for_each(|part| self.check(value, part));
        if !parts.iter().any(|part| is_raw(&part)) {
            return;
        }
        let previous = std::mem::take(&mut self.problems);
        match self.convert_to_named_form(value, parts) {
            Some(named) => self.with_separate_cache(|checker| {
                let null_is_absent = std::mem::replace(&mut checker.null_is_absent, false);
                parts.iter().filter(is_raw).for_each(|part| checker.check(&named, part));
                checker.null_is_absent = null_is_absent;
            }),
            None => parts.iter().filter(is_raw).for_each(|part| self.check(value, part)),
        }
        let mut added = std::mem::replace(&mut self.problems, previous);
        added.retain(|problem| !self.is_hidden(problem, parts));
        self.add_all(added);
    }

    /// Whether a problem is about a field that the caller does not set, according to the shapes next to a rule.
    fn is_hidden(&self, problem: &ArgumentProblem, parts: &[Shape]) -> bool {
        problem.kind == ArgumentProblemKind::Missing
            && self.objects(parts).flat_map(|rules| &rules.fields).any(|field| {
                let mut location = self.path.clone();
                pointer::push_truncated(&mut location, &field.name);
                field.access == self.hidden && field.access != Access::Both && location == problem.pointer
            })
    }

    fn objects<'s>(
        &'s self,
        parts: &'s [Shape],
    ) -> impl Iterator<Item = &'s crate::schema::shape::ObjectRules> + 's {
        parts.iter().filter_map(|part| match &resolved(part, self.defs)?.kind {
            Kind::Object(rules) => Some(rules),
            _ => None,
        })
    }

    /// Returns a value under the names that rules use, without each `null` that represents an absent field; `None` if
    /// it already has that form.
    fn convert_to_named_form(&mut self, value: &Value, parts: &[Shape]) -> Option<Value> {
        let has_renamed_fields = |checker: &Self| {
            checker
                .objects(parts)
                .flat_map(|rules| &rules.fields)
                .any(|field| !field.wire.is_empty() || !field.aliases.is_empty())
        };
        if !value.is_object() || !(has_renamed_fields(self) || self.null_is_absent && contains_null(value)) {
            return None;
        }
        let mut converter = Checker::new(self.defs, &crate::schema::dialect::JSON_SCHEMA);
        converter.null_is_absent = self.null_is_absent;
        (converter.hidden, converter.is_result) = (self.hidden, self.is_result);
        converter.form = Form::Named { defaults: false };
        let parts: Vec<&Shape> = parts.iter().collect();
        let named = converter.transform(value, &parts);
        self.steps = self.steps.saturating_add(converter.steps);
        Some(named)
    }

    /// Checks a temporary value without keeping cached results, which are keyed by address.
    fn with_separate_cache<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let (cache, active) = (std::mem::take(&mut self.cache), std::mem::take(&mut self.active));
        let result = check(self);
        (self.cache, self.active) = (cache, active);
        result
    }

    /// Adds the problems of a value with the rules of a raw schema.
    pub(super) fn check_conditions(&mut self, value: &Value, text: &Text) {
        let conditions = self.parsed_conditions(text);
        self.is_uncertain |= conditions.has_unchecked;
        for condition in &conditions.rules {
            self.check_condition(value, condition);
        }
        if self.is_out_of_steps() {
            self.report_out_of_steps();
        }
    }

    /// Parses the rules of a raw schema, once for all values of a call.
    fn parsed_conditions(&mut self, text: &Text) -> Rc<Conditions> {
        let key = (text.as_ptr().addr(), text.len());
        if let Some(cached) = self.condition_cache.get(&key) {
            return Rc::clone(cached);
        }
        self.steps = self.steps.saturating_add(text.len() / 16);
        let conditions = Rc::new(Conditions::of(text));
        self.condition_cache.insert(key, Rc::clone(&conditions));
        conditions
    }

    fn check_condition(&mut self, value: &Value, condition: &Condition) {
        match (condition, value) {
            (Condition::Not(part), _) if self.matches(value, &part.shape) == Some(true) => {
                let message = self.with_advice(condition_messages::forbidden(&part.schema, value));
                self.add_value_problem(message);
            }
            (Condition::If { when, then, otherwise }, _) => {
                let is_match = self.matches(value, &when.shape);
                let shape = match is_match {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => return,
                };
                let trigger = Trigger::If { schema: &when.schema, is_match: is_match == Some(true) };
                if let Some(shape) = shape {
                    self.check_consequence(value, shape, &trigger);
                }
            }
            (Condition::Contains { item, min, max }, Value::Array(items)) => {
                self.check_contains(items, item, *min, *max);
            }
            (Condition::Keys(shape), Value::Object(fields)) => self.check_keys(fields, shape),
            (Condition::Requires { key, others }, Value::Object(fields)) if fields.contains_key(key) => {
                for other in
                    others.iter().filter(|other| !fields.contains_key(other.as_str())).collect::<Vec<_>>()
                {
                    let message = self.with_advice(condition_messages::required(key));
                    self.at(other, |checker| checker.add(ArgumentProblemKind::Missing, message));
                }
            }
            (Condition::With { key, shape }, Value::Object(fields)) if fields.contains_key(key) => {
                self.check_consequence(value, shape, &Trigger::Key(key));
            }
            (Condition::Unique, Value::Array(items)) => self.check_unique(items),
            _ => {}
        }
    }

    /// Adds the problems of a value with a shape that applies conditionally, with the reason.
    fn check_consequence(&mut self, value: &Value, shape: &Shape, trigger: &Trigger<'_>) {
        let mut problems = self.problems_of(value, shape);
        if !self.is_exact && !self.is_out_of_steps() {
            let reason = trigger.reason_suffix(value);
            problems.iter_mut().for_each(|problem| problem.message.push_str(&reason));
        }
        self.add_all(problems);
    }

    fn check_contains(&mut self, items: &[Value], part: &Part, min: u64, max: Option<u64>) {
        let (mut certain, mut possible) = (0, 0);
        for (index, item) in items.iter().enumerate() {
            let is_match = self.at(&index.to_string(), |checker| checker.matches(item, &part.shape));
            certain += u64::from(is_match == Some(true));
            possible += u64::from(is_match != Some(false));
        }
        if possible < min {
            self.add_value_problem(condition_messages::too_few(&part.schema, min, possible));
        }
        if let Some(max) = max.filter(|max| certain > *max) {
            self.add_value_problem(condition_messages::too_many(&part.schema, max, certain));
        }
    }

    fn check_keys(&mut self, fields: &Map<String, Value>, shape: &Shape) {
        for key in fields.keys() {
            let key_value = Value::from(key.as_str());
            let problems = self.with_separate_cache(|checker| checker.problems_of(&key_value, shape));
            for problem in problems {
                let message = self.with_advice(condition_messages::wrong_key(&problem.message));
                self.at(key, |checker| checker.add_value_problem(message));
            }
        }
    }

    /// Whether a value matches a shape; `None` if that is uncertain.
    fn matches(&mut self, value: &Value, shape: &Shape) -> Option<bool> {
        let is_exact = std::mem::replace(&mut self.is_exact, true);
        let is_uncertain = std::mem::replace(&mut self.is_uncertain, false);
        let is_valid = self.problems_of(value, shape).is_empty();
        let is_known = !self.is_uncertain && !self.is_out_of_steps();
        self.is_exact = is_exact;
        self.is_uncertain = is_uncertain || !is_known;
        is_known.then_some(is_valid)
    }
}

fn contains_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(contains_null),
        Value::Object(fields) => fields.values().any(contains_null),
        _ => false,
    }
}
