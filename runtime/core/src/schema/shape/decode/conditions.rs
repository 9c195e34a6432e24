//! Validates rules that refer to another schema, which the tree keeps as text ([`Kind::Raw`]): `not`, `if`,
//! `contains`, `propertyNames`, dependencies.
//!
//! Such a rule can invert a result: a value that is accepted leniently elsewhere would be rejected under a `not`. The
//! schema is therefore checked [exactly](Checker::exact). If the result is uncertain (a pattern is not matched, a
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
    pub(super) fn all(&mut self, value: &Value, parts: &[Shape]) {
        let is_raw = |part: &&Shape| matches!(part.kind, Kind::Raw(_));
        parts.iter().filter(|part| !is_raw(part)).for_each(|part| self.check(value, part));
        if !parts.iter().any(|part| is_raw(&part)) {
            return;
        }
        let before = std::mem::take(&mut self.problems);
        match self.named_form(value, parts) {
            Some(given) => self.apart(|checker| {
                let null_is_absent = std::mem::replace(&mut checker.null_is_absent, false);
                parts.iter().filter(is_raw).for_each(|part| checker.check(&given, part));
                checker.null_is_absent = null_is_absent;
            }),
            None => parts.iter().filter(is_raw).for_each(|part| self.check(value, part)),
        }
        let mut found = std::mem::replace(&mut self.problems, before);
        found.retain(|problem| !self.is_hidden(problem, parts));
        self.add_all(found);
    }

    /// Whether a problem is about a field that the caller does not set, according to the shapes next to a rule.
    fn is_hidden(&self, problem: &ArgumentProblem, parts: &[Shape]) -> bool {
        problem.kind == ArgumentProblemKind::Missing
            && self.objects(parts).flat_map(|rules| &rules.fields).any(|field| {
                let mut location = self.path.clone();
                pointer::push_given(&mut location, &field.name);
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
    fn named_form(&mut self, value: &Value, parts: &[Shape]) -> Option<Value> {
        let renamed = |checker: &Self| {
            checker
                .objects(parts)
                .flat_map(|rules| &rules.fields)
                .any(|field| !field.wire.is_empty() || !field.aliases.is_empty())
        };
        if !value.is_object() || !(renamed(self) || self.null_is_absent && holds_null(value)) {
            return None;
        }
        let mut within = Checker::new(self.defs, &crate::schema::dialect::JSON_SCHEMA);
        within.null_is_absent = self.null_is_absent;
        (within.hidden, within.is_result) = (self.hidden, self.is_result);
        within.form = Form::Named { defaults: false };
        let parts: Vec<&Shape> = parts.iter().collect();
        let given = within.transform(value, &parts);
        self.steps = self.steps.saturating_add(within.steps);
        Some(given)
    }

    /// Checks a temporary value without keeping cached results, which are keyed by address.
    fn apart<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let (known, open) = (std::mem::take(&mut self.cache), std::mem::take(&mut self.open));
        let result = check(self);
        (self.cache, self.open) = (known, open);
        result
    }

    /// Adds the problems of a value with the rules of a raw schema.
    pub(super) fn conditions(&mut self, value: &Value, text: &Text) {
        let conditions = self.compiled(text);
        self.unsure |= conditions.open;
        for condition in &conditions.rules {
            self.condition(value, condition);
        }
        if self.is_spent() {
            self.add_spent();
        }
    }

    /// Parses the rules of a raw schema, once for all values of a call.
    fn compiled(&mut self, text: &Text) -> Rc<Conditions> {
        let key = (text.as_ptr().addr(), text.len());
        if let Some(known) = self.compiled.get(&key) {
            return Rc::clone(known);
        }
        self.steps = self.steps.saturating_add(text.len() / 16);
        let conditions = Rc::new(Conditions::of(text));
        self.compiled.insert(key, Rc::clone(&conditions));
        conditions
    }

    fn condition(&mut self, value: &Value, condition: &Condition) {
        match (condition, value) {
            (Condition::Not(part), _) if self.holds(value, &part.shape) == Some(true) => {
                let message = self.advised(condition_messages::forbidden(&part.schema, value));
                self.value(message);
            }
            (Condition::If { when, then, otherwise }, _) => {
                let holds = self.holds(value, &when.shape);
                let shape = match holds {
                    Some(true) => then,
                    Some(false) => otherwise,
                    None => return,
                };
                let asked = Trigger::If { schema: &when.schema, holds: holds == Some(true) };
                if let Some(shape) = shape {
                    self.consequence(value, shape, &asked);
                }
            }
            (Condition::Contains { item, min: least, max: limit }, Value::Array(items)) => {
                self.contains(items, item, *least, *limit);
            }
            (Condition::Keys(shape), Value::Object(fields)) => self.keys(fields, shape),
            (Condition::Requires { key, others }, Value::Object(fields)) if fields.contains_key(key) => {
                for other in
                    others.iter().filter(|other| !fields.contains_key(other.as_str())).collect::<Vec<_>>()
                {
                    let message = self.advised(condition_messages::required(key));
                    self.at(other, |checker| checker.add(ArgumentProblemKind::Missing, message));
                }
            }
            (Condition::With { key, shape }, Value::Object(fields)) if fields.contains_key(key) => {
                self.consequence(value, shape, &Trigger::Key(key));
            }
            (Condition::Unique, Value::Array(items)) => self.unique(items),
            _ => {}
        }
    }

    /// Adds the problems of a value with a shape that applies conditionally, with the reason.
    fn consequence(&mut self, value: &Value, shape: &Shape, asked: &Trigger<'_>) {
        let mut problems = self.problems_of(value, shape);
        if !self.exact && !self.is_spent() {
            let because = asked.reason_suffix(value);
            problems.iter_mut().for_each(|problem| problem.message.push_str(&because));
        }
        self.add_all(problems);
    }

    fn contains(&mut self, items: &[Value], part: &Part, least: u64, max: Option<u64>) {
        let (mut sure, mut possible) = (0, 0);
        for (index, item) in items.iter().enumerate() {
            let holds = self.at(&index.to_string(), |checker| checker.holds(item, &part.shape));
            sure += u64::from(holds == Some(true));
            possible += u64::from(holds != Some(false));
        }
        if possible < least {
            self.value(condition_messages::too_few(&part.schema, least, possible));
        }
        if let Some(max) = max.filter(|max| sure > *max) {
            self.value(condition_messages::too_many(&part.schema, max, sure));
        }
    }

    fn keys(&mut self, fields: &Map<String, Value>, shape: &Shape) {
        for key in fields.keys() {
            let given = Value::from(key.as_str());
            let problems = self.apart(|checker| checker.problems_of(&given, shape));
            for problem in problems {
                let message = self.advised(condition_messages::wrong_key(&problem.message));
                self.at(key, |checker| checker.value(message));
            }
        }
    }

    /// Whether a value matches a shape; `None` if that is uncertain.
    fn holds(&mut self, value: &Value, shape: &Shape) -> Option<bool> {
        let exact = std::mem::replace(&mut self.exact, true);
        let unsure = std::mem::replace(&mut self.unsure, false);
        let fits = self.problems_of(value, shape).is_empty();
        let known = !self.unsure && !self.is_spent();
        self.exact = exact;
        self.unsure = unsure || !known;
        known.then_some(fits)
    }
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}
