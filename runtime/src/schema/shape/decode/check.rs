//! Checks whether a value fits a shape, and what is wrong if not.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{ArgumentProblem, ArgumentProblemKind, say};
use crate::base::frozen::List;
use crate::schema::dialect::Dialect;
use crate::schema::shape::read::number_of;
use crate::schema::shape::render::canonical;
use crate::schema::shape::render::prose;
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Kind, Literal, Number, NumberRules, Shape, StringRules, TupleRules,
    find_def, pointer, rules,
};

/// The maximum number of problems reported.
const MAX_PROBLEMS: usize = 100;
/// The maximum combined nesting of values and shapes.
const MAX_DEPTH: usize = 300;
/// The maximum number of steps per value: unions of unions may multiply the work.
const MAX_STEPS: usize = 500_000;

/// The form of valid arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Under their wire names, as the tool takes them.
    Wire,
    /// Under the names a model knows, optionally with the schema's defaults.
    Named {
        /// Whether defaults are filled in.
        defaults: bool,
    },
}

pub(super) struct Checker<'a> {
    pub(super) defs: &'a List<Def>,
    /// Fields with this access are unknown.
    pub(super) hidden: Access,
    /// Whether a model sends `null` for what it leaves out.
    pub(super) null_is_absent: bool,
    /// Whether a value may fit several variants of `oneOf`, because the model did not see the rule.
    pub(super) loose_one_of: bool,
    pub(super) path: String,
    pub(super) problems: Vec<ArgumentProblem>,
    depth: usize,
    pub(super) steps: usize,
    /// The form of valid arguments.
    pub(super) form: Form,
    /// The problems of values with named shapes, by the addresses of both, which do not change during checking.
    known: BTreeMap<(usize, usize), Vec<ArgumentProblem>>,
    /// The named shapes being checked: a shape that leads back to itself with the same value adds no rule.
    open: Vec<(usize, usize)>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(defs: &'a List<Def>, dialect: &Dialect) -> Checker<'a> {
        Checker {
            defs,
            hidden: Access::ReadOnly,
            null_is_absent: dialect.strict,
            loose_one_of: !dialect.takes("oneOf"),
            path: String::new(),
            problems: Vec::new(),
            depth: 0,
            steps: 0,
            form: Form::Wire,
            known: BTreeMap::new(),
            open: Vec::new(),
        }
    }

    /// Returns the problems of a value at the current place.
    pub(super) fn problems_of(&mut self, value: &Value, shape: &Shape) -> Vec<ArgumentProblem> {
        let outer = std::mem::take(&mut self.problems);
        self.check(value, shape);
        std::mem::replace(&mut self.problems, outer)
    }

    pub(super) fn add(&mut self, kind: ArgumentProblemKind, message: impl Into<String>) {
        let problem = ArgumentProblem { pointer: self.path.clone(), kind, message: message.into() };
        self.add_all([problem]);
    }

    pub(super) fn add_all(&mut self, problems: impl IntoIterator<Item = ArgumentProblem>) {
        for problem in problems {
            // Several rules of one value often have the same message.
            if self.problems.len() < MAX_PROBLEMS && !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    pub(super) fn value(&mut self, message: impl Into<String>) {
        self.add(ArgumentProblemKind::Value, message);
    }

    pub(super) fn at<T>(&mut self, token: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = check(self);
        self.path.truncate(length);
        result
    }

    /// Adds the problems of a value.
    pub(super) fn check(&mut self, value: &Value, shape: &Shape) {
        if value.is_null() && shape.nullable {
            return;
        }
        self.steps += 1;
        if self.depth >= MAX_DEPTH || self.steps > MAX_STEPS {
            self.value("nested too deeply to be checked; send a simpler value");
            return;
        }
        self.depth += 1;
        self.kind(value, shape);
        self.depth -= 1;
    }

    fn kind(&mut self, value: &Value, shape: &Shape) {
        match (&shape.kind, value) {
            (Kind::Any | Kind::Raw(_), _) | (Kind::Null, Value::Null) | (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::Never, _) => self.value(format!("no value is allowed here, got {}", say::given(value))),
            (Kind::Integer(rules), Value::Number(number)) => match number_of(number) {
                Some(Number::Float(float)) if float.fract() != 0.0 => self.mismatch(value, shape),
                Some(number) => self.number(number, rules),
                None => {}
            },
            (Kind::Number(rules), Value::Number(number)) => {
                if let Some(number) = number_of(number) {
                    self.number(number, rules);
                }
            }
            (Kind::String(rules), Value::String(text)) => self.text(text, rules),
            (Kind::Enum(values), value) => self.listed(value, values, shape.nullable),
            (Kind::Array(rules), Value::Array(items)) => self.array(items, rules),
            (Kind::Tuple(rules), Value::Array(items)) => self.tuple(items, rules),
            (Kind::Object(rules), Value::Object(fields)) => self.object(fields, rules),
            (Kind::Union(rules), value) => self.union(value, rules, shape),
            (Kind::All(parts), value) => parts.iter().for_each(|part| self.check(value, part)),
            (Kind::Ref(name), value) => self.named(value, name),
            _ => self.mismatch(value, shape),
        }
    }

    pub(super) fn mismatch(&mut self, value: &Value, shape: &Shape) {
        let mut message = format!("expected {}, got {}", say::expected(shape), say::given(value));
        if let Value::String(text) = value
            && let Ok(inner @ (Value::Number(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_))) =
                serde_json::from_str::<Value>(text)
        {
            let inner_fits = matches!(
                (&shape.kind, &inner),
                (Kind::Integer(_) | Kind::Number(_), Value::Number(_))
                    | (Kind::Boolean, Value::Bool(_))
                    | (Kind::Array(_) | Kind::Tuple(_), Value::Array(_))
                    | (Kind::Object(_), Value::Object(_))
            );
            if inner_fits {
                message.push_str("; send it as JSON, without the quotes");
            }
        }
        self.add(ArgumentProblemKind::Type, message);
    }

    fn named(&mut self, value: &Value, name: &str) {
        // A name without a definition adds no rule.
        let Some(shape) = find_def(self.defs, name) else { return };
        let key = (std::ptr::from_ref(shape).addr(), std::ptr::from_ref(value).addr());
        if self.open.contains(&key) {
            return;
        }
        if let Some(problems) = self.known.get(&key) {
            let problems = problems.clone();
            self.add_all(problems);
            return;
        }
        self.open.push(key);
        let problems = self.problems_of(value, shape);
        self.open.pop();
        self.known.insert(key, problems.clone());
        self.add_all(problems);
    }

    fn number(&mut self, value: Number, limits: &NumberRules) {
        let told = |number: Number| canonical::number(number);
        let order = |limit: Option<Number>| limit.map(|limit| (limit, rules::compare(value, limit)));
        let mut wrong: Vec<String> = Vec::new();
        if let Some((limit, Ordering::Less)) = order(limits.minimum) {
            wrong.push(format!("at least {}", told(limit)));
        }
        if let Some((limit, Ordering::Less | Ordering::Equal)) = order(limits.exclusive_minimum) {
            wrong.push(format!("more than {}", told(limit)));
        }
        if let Some((limit, Ordering::Greater)) = order(limits.maximum) {
            wrong.push(format!("at most {}", told(limit)));
        }
        if let Some((limit, Ordering::Greater | Ordering::Equal)) = order(limits.exclusive_maximum) {
            wrong.push(format!("less than {}", told(limit)));
        }
        if let Some(step) = limits.multiple_of.filter(|step| !rules::is_multiple(value, *step)) {
            wrong.push(format!("a multiple of {}", told(step)));
        }
        if !wrong.is_empty() {
            self.value(format!("must be {}, got {}", wrong.join(" and "), told(value)));
        }
    }

    fn text(&mut self, text: &str, limits: &StringRules) {
        let length = rules::length(text);
        let got = format!("got {length}");
        if let Some(limit) = limits.min_length.filter(|limit| length < *limit) {
            self.value(format!("must have at least {limit} characters, {got}"));
        }
        if let Some(limit) = limits.max_length.filter(|limit| length > *limit) {
            self.value(format!("must have at most {limit} characters, {got}"));
        }
        if !rules::matches(&limits.pattern, text) {
            let given = say::given(&Value::from(prose::cut(text, 60)));
            self.value(format!("must match the pattern {}, got {given}", limits.pattern));
        }
        if let Some(why) = rules::refusal(limits, text) {
            self.value(why);
        }
    }

    fn listed(&mut self, value: &Value, values: &[Literal], nullable: bool) {
        if values.iter().any(|literal| equals(value, literal)) {
            return;
        }
        let mut message = format!("expected {}", say::listed(values));
        if nullable {
            message.push_str(" or null");
        }
        message.push_str(&format!(", got {}", say::given(value)));
        let texts = values.iter().filter_map(|literal| match literal {
            Literal::String(text) => Some(text.as_str()),
            _ => None,
        });
        if let Value::String(given) = value
            && let Some(meant) = say::meant(given, texts)
        {
            message.push_str(&format!("; did you mean {}?", Value::from(meant)));
        }
        self.value(message);
    }

    fn array(&mut self, items: &[Value], limits: &ArrayRules) {
        self.item_count(items.len(), limits.min_items, limits.max_items);
        for (index, item) in items.iter().enumerate() {
            self.at(&index.to_string(), |checker| checker.check(item, &limits.items));
        }
        if limits.unique {
            let mut seen = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                if !seen.insert(comparable(item)) {
                    let given = say::given(item);
                    self.at(&index.to_string(), |checker| {
                        checker.value(format!("no item may occur twice, got {given} again"));
                    });
                }
            }
        }
    }

    fn tuple(&mut self, items: &[Value], limits: &TupleRules) {
        self.item_count(items.len(), limits.min_items, limits.max_items);
        for (index, item) in items.iter().enumerate() {
            match (limits.items.get(index), &limits.rest) {
                (Some(shape), _) => self.at(&index.to_string(), |checker| checker.check(item, shape)),
                (None, Extra::Of(shape)) => self.at(&index.to_string(), |checker| checker.check(item, shape)),
                (None, Extra::Open) => {}
                (None, Extra::Closed) => {
                    self.value(format!(
                        "must have at most {} items, got {}",
                        limits.items.len(),
                        items.len()
                    ));
                    break;
                }
            }
        }
    }

    fn item_count(&mut self, length: usize, min: Option<u64>, max: Option<u64>) {
        let count = u64::try_from(length).unwrap_or(u64::MAX);
        if let Some(limit) = min.filter(|limit| count < *limit) {
            self.value(format!("must have at least {limit} items, got {count}"));
        }
        if let Some(limit) = max.filter(|limit| count > *limit) {
            self.value(format!("must have at most {limit} items, got {count}"));
        }
    }
}

/// Whether a value is this literal; `1` and `1.0` are the same number.
pub(super) fn equals(value: &Value, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Null, Literal::Null) => true,
        (Value::Bool(a), Literal::Bool(b)) => a == b,
        (Value::Number(a), Literal::Number(b)) => number_of(a).is_some_and(|a| rules::same_number(a, *b)),
        (Value::String(a), Literal::String(b)) => *a == **b,
        (Value::Array(_) | Value::Object(_), Literal::Json(_)) => {
            comparable(value) == comparable(&literal.to_json())
        }
        _ => false,
    }
}

/// Returns a text that is the same for equal values: numbers by value, keys in order.
fn comparable(value: &Value) -> String {
    match value {
        Value::Number(number) => match number_of(number) {
            Some(Number::Float(float)) if float.fract() == 0.0 => format!("{float:.0}").replace("-0", "0"),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(comparable).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, String> =
                fields.iter().map(|(key, field)| (key, comparable(field))).collect();
            let fields: Vec<String> =
                sorted.iter().map(|(key, field)| format!("{}:{field}", Value::from(key.as_str()))).collect();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}
