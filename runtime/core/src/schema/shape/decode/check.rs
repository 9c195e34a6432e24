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
const MAX_QUOTED: usize = 200;
/// The maximum combined nesting of values and shapes.
const MAX_DEPTH: usize = 300;
/// Maximum number of steps per value: nested unions multiply the work.
const MAX_STEPS: usize = 500_000;
/// How many small steps take the time of one step.
const SMALL_STEPS_PER_STEP: u64 = 256;
/// Maximum number of compared pairs of characters, for suggestions.
const MAX_COMPARISONS: usize = 1 << 20;

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
        pointer::push_truncated(&mut pointer, segment);
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
    /// Whether the value is the result of a tool. The reader of a problem cannot send another value.
    pub(super) is_result: bool,
    /// Whether the model sends `null` for absent fields.
    pub(super) null_is_absent: bool,
    /// Whether a value without the discriminating property may match several variants of `oneOf`, because the model
    /// did not see the rule.
    pub(super) lenient_one_of: bool,
    pub(super) path: String,
    pub(super) problems: Vec<ArgumentProblem>,
    depth: usize,
    pub(super) steps: usize,
    /// Small steps that do not add up to a step yet.
    small_steps: u64,
    /// The compared pairs of characters, for suggestions. They are not counted as steps: a suggestion rejects
    /// nothing.
    pub(super) compared_pairs: usize,
    /// The form of valid arguments.
    pub(super) form: Form,
    /// Whether only the validity of a value matters. Then exactly one variant of `oneOf` must match, and
    /// anything uncertain makes the result [uncertain](Checker::is_uncertain).
    pub(super) is_exact: bool,
    /// Whether a rule was not checked.
    pub(super) is_uncertain: bool,
    /// The problems of values against named shapes, and whether the result is uncertain. The keys are the addresses of
    /// both, which are stable during validation, and whether the check was exact.
    pub(super) cache: BTreeMap<(usize, usize, bool), (Vec<ArgumentProblem>, bool)>,
    /// The named shapes that are being checked. A shape that refers to itself for the same value adds no rule.
    pub(super) active: Vec<(usize, usize)>,
    /// The addresses of the cached patterns, and their total size.
    cached_patterns: BTreeSet<(usize, usize)>,
    pattern_cache: pattern::CacheUsage,
    /// Strings that are accepted because matching them takes too many steps.
    pub(super) unchecked: Vec<ArgumentProblem>,
    /// The parsed rules of raw schemas, by the addresses of their texts.
    pub(super) condition_cache: BTreeMap<(usize, usize), Rc<Conditions>>,
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
fn fits_64_bits(number: f64) -> bool {
    number > -(2_f64.powi(63)) && number < 2_f64.powi(64)
}

impl<'a> Checker<'a> {
    pub(super) fn new(defs: &'a List<Def>, dialect: &Dialect) -> Checker<'a> {
        Checker {
            defs,
            hidden: Access::ReadOnly,
            is_result: false,
            null_is_absent: !dialect.optional_fields,
            lenient_one_of: !dialect.accepts("oneOf"),
            path: String::new(),
            problems: Vec::new(),
            depth: 0,
            steps: 0,
            small_steps: 0,
            compared_pairs: 0,
            form: Form::Wire,
            is_exact: false,
            is_uncertain: false,
            cache: BTreeMap::new(),
            active: Vec::new(),
            cached_patterns: BTreeSet::new(),
            pattern_cache: pattern::CacheUsage::NONE,
            unchecked: Vec::new(),
            condition_cache: BTreeMap::new(),
        }
    }

    /// Returns the problems of a value at the current location.
    pub(super) fn problems_of(&mut self, value: &Value, shape: &Shape) -> Vec<ArgumentProblem> {
        let previous = std::mem::take(&mut self.problems);
        self.check(value, shape);
        if self.is_out_of_steps() && self.problems.is_empty() {
            self.report_out_of_steps();
        }
        std::mem::replace(&mut self.problems, previous)
    }

    /// Whether all steps are used up, so that the result is unknown.
    pub(super) fn is_out_of_steps(&self) -> bool {
        self.steps > MAX_STEPS
    }

    pub(super) fn report_out_of_steps(&mut self) {
        let advice = self.advice(|_| "; send fewer and shorter values".to_owned());
        self.add_value_problem(format!("takes too many steps to be checked{advice}"));
    }

    /// Returns the advice for the model; empty for a result, which the model did not write and cannot change.
    pub(super) fn advice(&mut self, advice: impl FnOnce(&mut Self) -> String) -> String {
        if self.is_result { String::new() } else { advice(self) }
    }

    /// Returns a message with its advice.
    pub(super) fn with_advice(&mut self, (message, advice): (String, String)) -> String {
        message + &self.advice(|_| advice)
    }

    /// Counts small steps, for matching patterns, comparing values and finding fields. Returns whether steps remain.
    pub(super) fn spend(&mut self, small_steps: u64) -> bool {
        self.small_steps = self.small_steps.saturating_add(small_steps);
        let steps = usize::try_from(self.small_steps / SMALL_STEPS_PER_STEP).unwrap_or(usize::MAX);
        self.steps = self.steps.saturating_add(steps);
        self.small_steps %= SMALL_STEPS_PER_STEP;
        !self.is_out_of_steps()
    }

    /// Counts the steps for parsing a pattern, unless it is cached. Returns whether steps remain.
    pub(super) fn charge_pattern(&mut self, pattern: &str) -> bool {
        let address = (pattern.as_ptr().addr(), pattern.len());
        if pattern.is_empty() || self.cached_patterns.contains(&address) {
            return !self.is_out_of_steps();
        }
        if !self.pattern_cache.add_pattern(pattern) {
            self.cached_patterns.clear();
        }
        self.cached_patterns.insert(address);
        self.spend(pattern::parse_cost(pattern))
    }

    /// Whether a key matches a pattern; `None` if that is unknown, and false if all steps are used up.
    pub(super) fn key_matches(&mut self, pattern: &str, key: &str) -> Option<bool> {
        if !self.charge_pattern(pattern) {
            return Some(false);
        }
        let outcome = pattern::match_pattern(pattern, key);
        if !self.spend(outcome.steps) {
            return Some(false);
        }
        if outcome.is_match.is_none() {
            let key = Value::from(truncate::cut(key, MAX_QUOTED));
            self.note_unchecked(&format!("the key {key} "), pattern);
        }
        outcome.is_match
    }

    /// Notes that a string is accepted although it was not checked.
    fn note_unchecked(&mut self, what: &str, pattern: &str) {
        let pattern = truncate::cut(pattern, MAX_QUOTED);
        let message =
            format!("{what}passed without a check against the pattern {pattern}: it takes too many steps");
        let kind = ArgumentProblemKind::Value;
        let note = ArgumentProblem { pointer: self.path.clone(), kind, message };
        if self.unchecked.len() < MAX_PROBLEMS && !self.unchecked.contains(&note) {
            self.unchecked.push(note);
        }
    }

    /// Whether no more problems are recorded, so that further problems need no description.
    pub(super) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Returns the candidate that was probably intended, if one is similar and the limit of comparisons is not reached.
    pub(super) fn suggest<'c>(
        &mut self,
        text: &str,
        candidates: impl Iterator<Item = &'c str> + Clone,
    ) -> Option<&'c str> {
        let compared_pairs: usize =
            candidates.clone().map(|candidate| candidate.len().min(describe::MAX_COMPARED_BYTES)).sum();
        self.compared_pairs =
            self.compared_pairs.saturating_add(compared_pairs * text.len().min(describe::MAX_COMPARED_BYTES));
        if self.compared_pairs > MAX_COMPARISONS { None } else { describe::closest_match(text, candidates) }
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

    pub(super) fn add_value_problem(&mut self, message: impl Into<String>) {
        self.add(ArgumentProblemKind::Value, message);
    }

    pub(super) fn add_value_problems(&mut self, messages: impl IntoIterator<Item = String>) {
        messages.into_iter().for_each(|message| self.add_value_problem(message));
    }

    pub(super) fn at<T>(&mut self, token: &str, check: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push_truncated(&mut self.path, token);
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
        if self.is_out_of_steps() {
            return self.report_out_of_steps();
        }
        if self.depth >= MAX_DEPTH {
            self.is_uncertain = true;
            let advice = self.advice(|_| "; send a simpler value".to_owned());
            return self.add_value_problem(format!("nested too deeply to be checked{advice}"));
        }
        self.depth += 1;
        self.check_kind(value, shape);
        self.depth -= 1;
    }

    fn check_kind(&mut self, value: &Value, shape: &Shape) {
        match (&shape.kind, value) {
            (Kind::Any, _) | (Kind::Null, Value::Null) | (Kind::Boolean, Value::Bool(_)) => {}
            (Kind::Never, _) => {
                self.add_value_problem(format!(
                    "no value is allowed here, got {}",
                    describe::describe_value(value)
                ));
            }
            (Kind::Integer(rules), Value::Number(number)) => match Number::of(number) {
                Some(Number::Float(float)) if float.fract() != 0.0 => self.add_mismatch(value, shape),
                // A float may have been written as such, or rounded by the parser. The difference is lost.
                Some(Number::Float(float))
                    if self.hidden == Access::ReadOnly && float.abs() > MAX_EXACT_FLOAT =>
                {
                    self.add_value_problem(
                        if fits_64_bits(float) { MAYBE_ROUNDED } else { INTEGER_TOO_LARGE }.to_owned(),
                    );
                }
                Some(number) => self.add_value_problems(rules.problem(number)),
                None => {}
            },
            (Kind::Number(rules), Value::Number(number)) => {
                if let Some(number) = Number::of(number) {
                    self.add_value_problems(rules.problem(number));
                }
            }
            (Kind::String(rules), Value::String(text)) => {
                if !(self.charge_pattern(&rules.pattern) && self.charge_pattern(&rules.deny)) {
                    return self.report_out_of_steps();
                }
                let checked = rules.check(text);
                if !self.spend(checked.steps) {
                    return self.report_out_of_steps();
                }
                self.is_uncertain |= self.is_exact && !checked.is_conclusive;
                if !checked.is_conclusive && is_pattern(&rules.pattern) {
                    self.note_unchecked("", &rules.pattern);
                }
                self.add_value_problems(checked.problems);
            }
            (Kind::Enum(values), value) => self.check_enum(value, values, shape.nullable),
            (Kind::Array(rules), Value::Array(items)) => self.check_array(items, rules),
            (Kind::Tuple(rules), Value::Array(items)) => self.check_tuple(items, rules),
            (Kind::Object(rules), Value::Object(fields)) => self.check_object(fields, rules),
            (Kind::Union(rules), value) => self.check_union(value, rules, shape),
            (Kind::All(parts), value) => self.check_all(value, parts),
            (Kind::Raw(text), value) => self.check_conditions(value, text),
            (Kind::Ref(name), value) => self.check_named(value, name),
            _ => self.add_mismatch(value, shape),
        }
    }

    pub(super) fn add_mismatch(&mut self, value: &Value, shape: &Shape) {
        if self.is_full() {
            return;
        }
        let mut message = format!(
            "expected {}, got {}",
            describe::expected(shape, self.defs),
            describe::describe_value(value)
        );
        message.push_str(&self.advice(|checker| {
            let is_quoted = value.as_str().is_some_and(|text| checker.is_quoted(text, shape));
            if is_quoted { describe::QUOTED_JSON_HINT.to_owned() } else { String::new() }
        }));
        self.add(ArgumentProblemKind::Type, message);
    }

    fn check_named(&mut self, value: &Value, name: &str) {
        // A name without a definition adds no rule.
        let Some(shape) = find_def(self.defs, name) else { return self.is_uncertain = true };
        let addresses = (std::ptr::from_ref(shape).addr(), std::ptr::from_ref(value).addr());
        if self.active.contains(&addresses) {
            return self.is_uncertain = true;
        }
        let key = (addresses.0, addresses.1, self.is_exact);
        if let Some((problems, is_uncertain)) = self.cache.get(&key).cloned() {
            self.is_uncertain |= is_uncertain;
            return self.add_all(problems);
        }
        let previous = std::mem::replace(&mut self.is_uncertain, false);
        self.active.push(addresses);
        let problems = self.problems_of(value, shape);
        self.active.pop();
        self.cache.insert(key, (problems.clone(), self.is_uncertain));
        self.is_uncertain |= previous;
        self.add_all(problems);
    }

    pub(super) fn check_enum(&mut self, value: &Value, values: &[Literal], nullable: bool) {
        if !self.spend(comparisons(value, values)) {
            return self.report_out_of_steps();
        }
        if is_one_of(value, values) || self.is_full() {
            return;
        }
        let mut message = format!("expected {}", describe::list_values(values));
        if nullable {
            message.push_str(" or null");
        }
        message.push_str(&format!(", got {}", describe::describe_value(value)));
        let strings = values.iter().filter_map(|literal| match literal {
            Literal::String(text) => Some(text.as_str()),
            _ => None,
        });
        message.push_str(&self.advice(|checker| {
            let suggestion = value.as_str().and_then(|text| checker.suggest(text, strings));
            suggestion
                .map_or_else(String::new, |suggestion| format!("; did you mean {}?", Value::from(suggestion)))
        }));
        self.add_value_problem(message);
    }

    fn check_array(&mut self, items: &[Value], rules: &ArrayRules) {
        self.add_value_problems(rules.count_problems(items.len()));
        for (index, item) in items.iter().enumerate() {
            self.at(&index.to_string(), |checker| checker.check(item, &rules.items));
        }
        if rules.unique {
            self.check_unique(items);
        }
    }

    pub(super) fn check_unique(&mut self, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            if !seen.insert(comparable(item)) {
                let description = describe::describe_value(item);
                self.at(&index.to_string(), |checker| {
                    checker.add_value_problem(format!("items must be unique, got {description} again"));
                });
            }
        }
    }

    fn check_tuple(&mut self, items: &[Value], rules: &TupleRules) {
        self.add_value_problems(rules.count_problems(items.len()));
        for (index, item) in items.iter().enumerate() {
            match (rules.items.get(index), &rules.rest) {
                (Some(shape), _) => self.at(&index.to_string(), |checker| checker.check(item, shape)),
                (None, Extra::Of(shape)) => self.at(&index.to_string(), |checker| checker.check(item, shape)),
                (None, Extra::Open) => {}
                (None, Extra::Closed) => {
                    self.add_value_problem(format!(
                        "must have at most {} items, got {}",
                        rules.items.len(),
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
    Checker::new(defs, &JSON_SCHEMA).variant_by_tag(value, union)
}
