//! Validates a value against a shape and reports the problems.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::describe;
use super::literals::{comparable, comparisons, is_one_of};
use crate::base::frozen::List;
use crate::base::truncate;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::schema::shape::condition_messages::Conditions;
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Kind, Literal, Number, Shape, TupleRules, UnionRules, find_def,
    is_pattern, pattern, pointer,
};

/// The maximum number of problems reported.
const MAX_PROBLEMS: usize = 100;
/// Maximum length of a pattern or a key in a note, in characters.
const SHOWN: usize = 200;
/// The maximum combined nesting of values and shapes.
const MAX_DEPTH: usize = 300;
/// Maximum number of steps per value: nested unions multiply the work.
const MAX_STEPS: usize = 500_000;
/// How many small steps take the time of one step.
const SMALL_STEPS: u64 = 256;
/// Maximum number of compared pairs of characters, for suggestions.
const MAX_COMPARED: usize = 1 << 20;

/// A problem with the arguments of a call, for the model that must correct it, or with a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentProblem {
    /// The location in the arguments, as a JSON pointer; empty for the arguments as a whole. Keys of more than 100
    /// bytes are cut to 100 characters.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ArgumentProblemKind,
    /// What was expected and what was found, with a suggestion if a candidate is similar.
    pub message: String,
}

impl ArgumentProblem {
    /// Returns the same problem, located under a key or an index of the containing value.
    #[must_use]
    pub fn within(mut self, segment: &str) -> ArgumentProblem {
        let mut pointer = String::new();
        pointer::push_given(&mut pointer, segment);
        self.pointer.insert_str(0, &pointer);
        self
    }

    /// Returns the message for a problem with a tool's result: the location and the problem.
    #[must_use]
    pub fn of_result(&self) -> String {
        let location = if self.pointer.is_empty() { "the result" } else { &self.pointer };
        format!("{location}: {}", self.message)
    }
}

/// The kinds of [`ArgumentProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentProblemKind {
    /// A required value is missing.
    Missing,
    /// No argument has this name.
    Unknown,
    /// The value has the wrong type.
    Type,
    /// The value has the right type but is not allowed.
    Value,
}

/// The form of valid arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// With wire names, as the tool takes them.
    Wire,
    /// With the names that the model sees, optionally with the schema's defaults.
    Named {
        /// Whether defaults are filled in.
        defaults: bool,
    },
}

pub(super) struct Checker<'a> {
    pub(super) defs: &'a List<Def>,
    /// Fields with this access are unknown.
    pub(super) hidden: Access,
    /// Whether the value is the result of a tool. The reader of a problem cannot send another one.
    pub(super) is_result: bool,
    /// Whether the model sends `null` for absent fields.
    pub(super) null_is_absent: bool,
    /// Whether a value without the discriminating property may match several variants of `oneOf`, because the model
    /// did not see the rule.
    pub(super) loose_one_of: bool,
    pub(super) path: String,
    pub(super) problems: Vec<ArgumentProblem>,
    depth: usize,
    pub(super) steps: usize,
    /// Small steps that do not add up to a step yet.
    small: u64,
    /// The compared pairs of characters, for suggestions. They are not counted as steps: a suggestion rejects
    /// nothing.
    pub(super) compared: usize,
    /// The form of valid arguments.
    pub(super) form: Form,
    /// Whether only the question matters if a value is valid. Then exactly one variant of `oneOf` must match, and
    /// anything uncertain makes the result [unsure](Checker::unsure).
    pub(super) exact: bool,
    /// Whether a rule was not checked.
    pub(super) unsure: bool,
    /// The problems of values against named shapes, and whether the result is unsure. The keys are the addresses of
    /// both, which are stable during validation, and whether the check was exact.
    pub(super) cache: BTreeMap<(usize, usize, bool), (Vec<ArgumentProblem>, bool)>,
    /// The named shapes that are being checked. A shape that refers to itself for the same value adds no rule.
    pub(super) open: Vec<(usize, usize)>,
    /// The addresses of the cached patterns, and the space that they occupy.
    patterns: BTreeSet<(usize, usize)>,
    room: pattern::Room,
    /// Strings that are accepted because matching them takes too many steps.
    pub(super) untried: Vec<ArgumentProblem>,
    /// The parsed rules of raw schemas, by the addresses of their texts.
    pub(super) compiled: BTreeMap<(usize, usize), Rc<Conditions>>,
}

/// The message for an integer that a JSON parser may have changed.
pub(super) const INTEGER_TOO_LARGE: &str = "the integer is outside the 64-bit range; send a smaller one";

/// The message for a large integer in floating point notation.
const MAYBE_ROUNDED: &str =
    "the integer is written with a fraction or an exponent and may have lost precision; send all its digits";

/// 2^53: a larger whole number that was parsed as a float may have been rounded.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Whether a whole number is in the range of signed or unsigned 64-bit integers. -2^63 itself is never parsed as a
/// float.
fn fits_64_bits(whole: f64) -> bool {
    whole > -(2_f64.powi(63)) && whole < 2_f64.powi(64)
}

impl<'a> Checker<'a> {
    pub(super) fn new(defs: &'a List<Def>, dialect: &Dialect) -> Checker<'a> {
        Checker {
            defs,
            hidden: Access::ReadOnly,
            is_result: false,
            null_is_absent: !dialect.optional_fields,
            loose_one_of: !dialect.accepts("oneOf"),
            path: String::new(),
            problems: Vec::new(),
            depth: 0,
            steps: 0,
            small: 0,
            compared: 0,
            form: Form::Wire,
            exact: false,
            unsure: false,
            cache: BTreeMap::new(),
            open: Vec::new(),
            patterns: BTreeSet::new(),
            room: pattern::Room::NONE,
            untried: Vec::new(),
            compiled: BTreeMap::new(),
        }
    }

    /// Returns the problems of a value at the current location.
    pub(super) fn problems_of(&mut self, value: &Value, shape: &Shape) -> Vec<ArgumentProblem> {
        let outer = std::mem::take(&mut self.problems);
        self.check(value, shape);
        if self.is_spent() && self.problems.is_empty() {
            self.add_spent();
        }
        std::mem::replace(&mut self.problems, outer)
    }

    /// Whether all steps are used up, so that the result is unknown.
    pub(super) fn is_spent(&self) -> bool {
        self.steps > MAX_STEPS
    }

    pub(super) fn add_spent(&mut self) {
        let advice = self.advice(|_| "; send fewer and shorter values".to_owned());
        self.value(format!("takes too many steps to be checked{advice}"));
    }

    /// Returns the advice for the model. There is none for a result: the model did not write it and cannot change it.
    pub(super) fn advice(&mut self, advice: impl FnOnce(&mut Self) -> String) -> String {
        if self.is_result { String::new() } else { advice(self) }
    }

    /// Returns a message with its advice.
    pub(super) fn advised(&mut self, (message, advice): (String, String)) -> String {
        message + &self.advice(|_| advice)
    }

    /// Counts small steps, for matching patterns, comparing values and finding fields. Returns whether enough were
    /// left.
    pub(super) fn spend(&mut self, small: u64) -> bool {
        self.small = self.small.saturating_add(small);
        let steps = usize::try_from(self.small / SMALL_STEPS).unwrap_or(usize::MAX);
        self.steps = self.steps.saturating_add(steps);
        self.small %= SMALL_STEPS;
        !self.is_spent()
    }

    /// Counts the steps for parsing a pattern, unless it is cached. Returns whether enough were left.
    pub(super) fn reads(&mut self, pattern: &str) -> bool {
        let index = (pattern.as_ptr().addr(), pattern.len());
        if pattern.is_empty() || self.patterns.contains(&index) {
            return !self.is_spent();
        }
        if !self.room.take(pattern) {
            self.patterns.clear();
        }
        self.patterns.insert(index);
        self.spend(pattern::reading(pattern))
    }

    /// Whether a key matches a pattern; `None` if that is unknown, and false if all steps are used up.
    pub(super) fn key_matches(&mut self, pattern: &str, key: &str) -> Option<bool> {
        if !self.reads(pattern) {
            return Some(false);
        }
        let tried = pattern::trial(pattern, key);
        if !self.spend(tried.steps) {
            return Some(false);
        }
        if tried.found.is_none() {
            let key = Value::from(truncate::cut(key, SHOWN));
            self.pass(&format!("the key {key} "), pattern);
        }
        tried.found
    }

    /// Notes that a string is accepted although it was not checked.
    fn pass(&mut self, what: &str, pattern: &str) {
        let pattern = truncate::cut(pattern, SHOWN);
        let message =
            format!("{what}passed without a check against the pattern {pattern}: it takes too many steps");
        let kind = ArgumentProblemKind::Value;
        let passed = ArgumentProblem { pointer: self.path.clone(), kind, message };
        if self.untried.len() < MAX_PROBLEMS && !self.untried.contains(&passed) {
            self.untried.push(passed);
        }
    }

    /// Whether no more problems are recorded, so that none needs to be described.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Returns the candidate that was probably intended, if one is similar and suggestions did not take too long yet.
    pub(super) fn suggest<'c>(
        &mut self,
        given: &str,
        candidates: impl Iterator<Item = &'c str> + Clone,
    ) -> Option<&'c str> {
        let compared: usize =
            candidates.clone().map(|candidate| candidate.len().min(describe::MAX_COMPARED)).sum();
        self.compared = self.compared.saturating_add(compared * given.len().min(describe::MAX_COMPARED));
        if self.compared > MAX_COMPARED { None } else { describe::closest_match(given, candidates) }
    }

    pub(super) fn add(&mut self, kind: ArgumentProblemKind, message: impl Into<String>) {
        let problem = ArgumentProblem { pointer: self.path.clone(), kind, message: message.into() };
        self.add_all([problem]);
    }

    pub(super) fn add_all(&mut self, problems: impl IntoIterator<Item = ArgumentProblem>) {
        for problem in problems {
            // Several rules of one value often have the same message.
            if !self.is_full() && !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
    }

    pub(super) fn value(&mut self, message: impl Into<String>) {
        self.add(ArgumentProblemKind::Value, message);
    }

    pub(super) fn values(&mut self, messages: impl IntoIterator<Item = String>) {
        messages.into_iter().for_each(|message| self.value(message));
    }

    pub(super) fn at<T>(&mut self, token: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push_given(&mut self.path, token);
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
        if self.is_spent() {
            return self.add_spent();
        }
        if self.depth >= MAX_DEPTH {
            self.unsure = true;
            let advice = self.advice(|_| "; send a simpler value".to_owned());
            return self.value(format!("nested too deeply to be checked{advice}"));
        }
        self.depth += 1;
        self.kind(value, shape);
        self.depth -= 1;
    }

    fn kind(&mut self, value: &Value, shape: &Shape) {
        match (&shape.kind, value) {
            (Kind::Any, _) | (Kind::Null, Value::Null) | (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::Never, _) => {
                self.value(format!("no value is allowed here, got {}", describe::describe_value(value)));
            }
            (Kind::Integer(rules), Value::Number(number)) => match Number::of(number) {
                Some(Number::Float(float)) if float.fract() != 0.0 => self.mismatch(value, shape),
                // A float may have been written as such, or rounded by the parser. The difference is lost.
                Some(Number::Float(float))
                    if self.hidden == Access::ReadOnly && float.abs() > MAX_EXACT_FLOAT =>
                {
                    self.value(
                        if fits_64_bits(float) { MAYBE_ROUNDED } else { INTEGER_TOO_LARGE }.to_owned(),
                    );
                }
                Some(number) => self.values(rules.problem(number)),
                None => {}
            },
            (Kind::Number(rules), Value::Number(number)) => {
                if let Some(number) = Number::of(number) {
                    self.values(rules.problem(number));
                }
            }
            (Kind::String(rules), Value::String(text)) => {
                if !(self.reads(&rules.pattern) && self.reads(&rules.deny)) {
                    return self.add_spent();
                }
                let checked = rules.check(text);
                if !self.spend(checked.steps) {
                    return self.add_spent();
                }
                self.unsure |= self.exact && !checked.is_sure;
                if !checked.is_sure && is_pattern(&rules.pattern) {
                    self.pass("", &rules.pattern);
                }
                self.values(checked.problems);
            }
            (Kind::Enum(values), value) => self.listed(value, values, shape.nullable),
            (Kind::Array(rules), Value::Array(items)) => self.array(items, rules),
            (Kind::Tuple(rules), Value::Array(items)) => self.tuple(items, rules),
            (Kind::Object(rules), Value::Object(fields)) => self.object(fields, rules),
            (Kind::Union(rules), value) => self.union(value, rules, shape),
            (Kind::All(parts), value) => self.all(value, parts),
            (Kind::Raw(text), value) => self.conditions(value, text),
            (Kind::Ref(name), value) => self.check_named(value, name),
            _ => self.mismatch(value, shape),
        }
    }

    pub(super) fn mismatch(&mut self, value: &Value, shape: &Shape) {
        if self.is_full() {
            return;
        }
        let mut message = format!(
            "expected {}, got {}",
            describe::expected(shape, self.defs),
            describe::describe_value(value)
        );
        message.push_str(&self.advice(|checker| {
            let quoted = value.as_str().is_some_and(|text| checker.is_quoted(text, shape));
            if quoted { describe::QUOTED_JSON_HINT.to_owned() } else { String::new() }
        }));
        self.add(ArgumentProblemKind::Type, message);
    }

    fn check_named(&mut self, value: &Value, name: &str) {
        // A name without a definition adds no rule.
        let Some(shape) = find_def(self.defs, name) else { return self.unsure = true };
        let index = (std::ptr::from_ref(shape).addr(), std::ptr::from_ref(value).addr());
        if self.open.contains(&index) {
            return self.unsure = true;
        }
        let key = (index.0, index.1, self.exact);
        if let Some((problems, unsure)) = self.cache.get(&key).cloned() {
            self.unsure |= unsure;
            return self.add_all(problems);
        }
        let outer = std::mem::replace(&mut self.unsure, false);
        self.open.push(index);
        let problems = self.problems_of(value, shape);
        self.open.pop();
        self.cache.insert(key, (problems.clone(), self.unsure));
        self.unsure |= outer;
        self.add_all(problems);
    }

    pub(super) fn listed(&mut self, value: &Value, values: &[Literal], nullable: bool) {
        if !self.spend(comparisons(value, values)) {
            return self.add_spent();
        }
        if is_one_of(value, values) || self.is_full() {
            return;
        }
        let mut message = format!("expected {}", describe::listed(values));
        if nullable {
            message.push_str(" or null");
        }
        message.push_str(&format!(", got {}", describe::describe_value(value)));
        let texts = values.iter().filter_map(|literal| match literal {
            Literal::String(text) => Some(text.as_str()),
            _ => None,
        });
        message.push_str(&self.advice(|checker| {
            let suggestion = value.as_str().and_then(|given| checker.suggest(given, texts));
            suggestion
                .map_or_else(String::new, |suggestion| format!("; did you mean {}?", Value::from(suggestion)))
        }));
        self.value(message);
    }

    fn array(&mut self, items: &[Value], limits: &ArrayRules) {
        self.values(limits.count_problems(items.len()));
        for (index, item) in items.iter().enumerate() {
            self.at(&index.to_string(), |checker| checker.check(item, &limits.items));
        }
        if limits.unique {
            self.unique(items);
        }
    }

    pub(super) fn unique(&mut self, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            if !seen.insert(comparable(item)) {
                let given = describe::describe_value(item);
                self.at(&index.to_string(), |checker| {
                    checker.value(format!("items must be unique, got {given} again"));
                });
            }
        }
    }

    fn tuple(&mut self, items: &[Value], limits: &TupleRules) {
        self.values(limits.count_problems(items.len()));
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
}

/// Whether a value is valid under a shape, in the sense of JSON Schema.
#[must_use]
pub fn fits(value: &Value, shape: &Shape, defs: &List<Def>) -> bool {
    fits_as(value, shape, defs, Access::ReadOnly)
}

/// Whether a value is valid under a shape without the fields of an access.
pub(in crate::schema::shape) fn fits_as(
    value: &Value,
    shape: &Shape,
    defs: &List<Def>,
    hidden: Access,
) -> bool {
    problems_as(value, shape, defs, hidden).is_empty()
}

/// Returns all problems of a value under a shape without the fields of an access.
pub(in crate::schema::shape) fn problems_as(
    value: &Value,
    shape: &Shape,
    defs: &List<Def>,
    hidden: Access,
) -> Vec<ArgumentProblem> {
    let mut checker = Checker::new(defs, &JSON_SCHEMA);
    checker.hidden = hidden;
    checker.problems_of(value, shape)
}

/// Returns the problems of a value after reading, for a model that saw the schema in a dialect, and the number of
/// steps.
pub(in crate::schema::shape) fn problems_in(
    value: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> (Vec<ArgumentProblem>, usize) {
    let mut checker = Checker::new(defs, dialect);
    (checker.problems_of(value, shape), checker.steps)
}

/// Returns the variant of a union that a value's discriminator selects.
pub(in crate::schema::shape) fn named_variant<'s>(
    value: &Value,
    union: &'s UnionRules,
    defs: &List<Def>,
) -> Option<&'s Shape> {
    Checker::new(defs, &JSON_SCHEMA).chosen(value, union)
}
