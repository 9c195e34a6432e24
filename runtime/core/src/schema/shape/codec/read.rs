//! Reads values that a model wrote in the form of a dialect back into values of the shape.
//!
//! A value in plain form is also accepted if it is unambiguous. Nothing is validated here: a value that cannot be
//! read stays unchanged, and validation reports the problem.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::{Codec, EnclosingDefs, Form, Member, MemberKind, REST_ITEMS_KEY, ROOT_KEY};
use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, KeyRule};
use crate::schema::shape::decode::check::{ArgumentProblem, ArgumentProblemKind, named_variant, problems_in};
use crate::schema::shape::decode::describe;
use crate::schema::shape::decode::object_variants::distance;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, ObjectRules, Shape, TupleRules, UnionRules, pointer,
};

/// Maximum nesting of shapes and values that are read.
const MAX_DEPTH: usize = 128;
/// Maximum number of values that are read and compared: nested unions multiply them.
const MAX_STEPS: usize = 200_000;

/// How many steps a merge of two shapes counts as.
const STEPS_PER_PAIR: usize = 8;

/// Arguments after reading.
pub(in crate::schema::shape) struct DecodedArguments {
    pub(in crate::schema::shape) value: Value,
    /// The problems of the form.
    pub(in crate::schema::shape) problems: Vec<ArgumentProblem>,
    /// The values whose location changed: the location in the result, and the location that the model wrote.
    moved: Vec<(String, String)>,
}

/// Reads arguments, if the dialect has values that are not written plainly.
pub(in crate::schema::shape) fn read(
    arguments: &Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Option<DecodedArguments> {
    if dialect.is_plain() && dialect.keys == KeyRule::Any {
        return None;
    }
    let mut reader = Reader {
        codec: Codec::new(defs, dialect, Access::ReadOnly),
        path: String::new(),
        source: String::new(),
        moved: Vec::new(),
        problems: Vec::new(),
        deviations: 0,
        steps: Cell::new(0),
        depth: 0,
    };
    let value =
        reader.single_value(arguments, shape).unwrap_or_else(|| reader.read_value(arguments, shape, &[]));
    Some(DecodedArguments { value, problems: reader.problems, moved: reader.moved })
}

impl DecodedArguments {
    /// Moves a problem to the location that the model wrote.
    pub(in crate::schema::shape) fn relocated(&self, problem: ArgumentProblem) -> ArgumentProblem {
        let path_below = |location: &str| {
            problem
                .pointer
                .strip_prefix(location)
                .filter(|remaining| remaining.is_empty() || remaining.starts_with('/'))
        };
        let enclosing_moves =
            self.moved.iter().filter_map(|(location, source)| Some((path_below(location)?, source)));
        match enclosing_moves.min_by_key(|(remaining, _)| remaining.len()) {
            Some((remaining, source)) => {
                ArgumentProblem { pointer: format!("{source}{remaining}"), ..problem }
            }
            None => problem,
        }
    }
}

struct Reader<'a> {
    codec: Codec<'a>,
    /// The location in the result.
    path: String,
    /// The location in the value that the model wrote.
    source: String,
    moved: Vec<(String, String)>,
    problems: Vec<ArgumentProblem>,
    /// How many times the value deviates from the dialect's form.
    deviations: usize,
    /// The number of values that were read or compared with a variant of a union.
    steps: Cell<usize>,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Reads arguments without names, which the model sends as one argument.
    fn single_value(&mut self, arguments: &Value, shape: &Shape) -> Option<Value> {
        let argument = arguments.as_object().filter(|argument| argument.len() == 1)?.get(ROOT_KEY)?;
        if !self.codec.is_single_argument(shape) {
            return None;
        }
        self.moved.push((String::new(), format!("/{ROOT_KEY}")));
        pointer::push(&mut self.source, ROOT_KEY);
        let decoded = self.read_value(argument, shape, &[]);
        if decoded.is_object() {
            return Some(decoded);
        }
        self.source.clear();
        self.moved.clear();
        self.problems.clear();
        None
    }

    /// Reads a value at a location that may differ from the written location.
    fn read_at(
        &mut self,
        token: &str,
        source: &[&str],
        value: &Value,
        shape: &Shape,
        enclosing: &[String],
    ) -> Value {
        let previous_lengths = (self.path.len(), self.source.len());
        pointer::push_truncated(&mut self.path, token);
        source.iter().for_each(|token| pointer::push_truncated(&mut self.source, token));
        if source != [token] {
            self.moved.push((self.path.clone(), self.source.clone()));
        }
        let decoded = self.read_value(value, shape, enclosing);
        self.path.truncate(previous_lengths.0);
        self.source.truncate(previous_lengths.1);
        decoded
    }

    /// Adds a problem at a location that the result does not have.
    fn add_problem(&mut self, source: &[&str], message: String) {
        let mut pointer = self.source.clone();
        source.iter().for_each(|token| pointer::push_truncated(&mut pointer, token));
        self.problems.push(ArgumentProblem { pointer, kind: ArgumentProblemKind::Value, message });
    }

    fn read_value(&mut self, value: &Value, shape: &Shape, enclosing: &[String]) -> Value {
        self.steps.update(|steps| steps + 1);
        if self.depth >= MAX_DEPTH || self.is_out_of_steps() || (value.is_null() && shape.nullable) {
            return value.clone();
        }
        self.depth += 1;
        let decoded = match self.codec.form(shape, enclosing) {
            Form::Plain => self.read_plain(value, shape, enclosing),
            Form::Text => self.read_text(value, shape, enclosing),
            Form::Pairs(value_shape) => self.read_pairs(value, &value_shape, enclosing),
            Form::Positions(fields) => self.read_positions(value, &fields, shape, enclosing),
            Form::Substitute(shape, _) => self.read_value(value, &shape, enclosing),
        };
        self.depth -= 1;
        decoded
    }

    fn read_text(&mut self, value: &Value, shape: &Shape, enclosing: &[String]) -> Value {
        let Value::String(text) = value else {
            self.deviations += 1;
            return self.read_plain(value, shape, enclosing);
        };
        let fits = |value: &Value| self.problems_of(value, shape).is_empty();
        match serde_json::from_str::<Value>(text) {
            Ok(parsed) if matches!(shape.kind, Kind::Any | Kind::Raw(_)) || fits(&parsed) => parsed,
            Ok(parsed @ (Value::Object(_) | Value::Array(_))) if !fits(value) => parsed,
            _ => {
                self.deviations += 1;
                value.clone()
            }
        }
    }

    fn problems_of(&self, value: &Value, shape: &Shape) -> Vec<ArgumentProblem> {
        let (problems, steps) = problems_in(value, shape, self.codec.defs, self.codec.dialect);
        self.steps.update(|total| total.saturating_add(steps));
        problems
    }

    /// Whether all steps are used up. If so, the remaining values stay as written.
    fn is_out_of_steps(&self) -> bool {
        let merged = self.codec.pairs.get().saturating_mul(STEPS_PER_PAIR);
        self.steps.get().saturating_add(merged) > MAX_STEPS
    }

    /// Reads JSON text for an object or an array, although the dialect has a form for it.
    fn read_json_text(&mut self, text: &str, shape: &Shape, enclosing: &[String]) -> Option<Value> {
        if self.codec.dialect.is_plain() {
            return None;
        }
        let parsed: Value = serde_json::from_str(text).ok()?;
        let has_same_type = matches!(
            (&shape.kind, &parsed),
            (Kind::Object(_), Value::Object(_)) | (Kind::Array(_) | Kind::Tuple(_), Value::Array(_))
        );
        self.deviations += 1;
        has_same_type.then(|| self.read_value(&parsed, shape, enclosing))
    }

    fn read_plain(&mut self, value: &Value, shape: &Shape, enclosing: &[String]) -> Value {
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => {
                let enclosing: EnclosingDefs = self.codec.enter_def(name, enclosing);
                self.read_value(value, self.codec.target(name), &enclosing)
            }
            (Kind::Union(rules), _) => self.read_union(value, rules, enclosing),
            (Kind::All(parts), _) => {
                parts.iter().fold(value.clone(), |value, part| self.read_value(&value, part, enclosing))
            }
            (Kind::Object(_) | Kind::Array(_) | Kind::Tuple(_), Value::String(text)) => {
                self.read_json_text(text, shape, enclosing).unwrap_or_else(|| value.clone())
            }
            (Kind::Array(rules), Value::Array(items)) => {
                self.read_items(items, |_| Some(&*rules.items), enclosing)
            }
            (Kind::Tuple(rules), Value::Array(items)) => {
                self.read_items(items, |index| item_shape(rules, index), enclosing)
            }
            (Kind::Object(rules), Value::Object(members)) => self.read_object(members, rules, enclosing),
            _ => value.clone(),
        }
    }

    fn read_items<'s>(
        &mut self,
        items: &[Value],
        item_shape: impl Fn(usize) -> Option<&'s Shape>,
        enclosing: &[String],
    ) -> Value {
        let item = |(index, item): (usize, &Value)| match item_shape(index) {
            Some(shape) => {
                let token = index.to_string();
                self.read_at(&token, &[&token], item, shape, enclosing)
            }
            None => item.clone(),
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Reads a map from its pairs.
    fn read_pairs(&mut self, value: &Value, value_shape: &Shape, enclosing: &[String]) -> Value {
        let mut out = Map::new();
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let token = index.to_string();
                    let pair = item
                        .as_object()
                        .and_then(|pair| Some((pair.get(super::KEY)?.as_str()?, pair.get(super::VALUE)?)));
                    let Some((key, inner)) = pair else {
                        let actual = describe::describe_value(item);
                        self.add_problem(
                            &[&token],
                            format!("expected an object with `key` and `value`, got {actual}"),
                        );
                        continue;
                    };
                    if out.contains_key(key) {
                        let key = Value::from(key);
                        self.add_problem(
                            &[&token, super::KEY],
                            format!("the key {key} is given twice; give each key once"),
                        );
                        continue;
                    }
                    let inner = self.read_at(key, &[&token, super::VALUE], inner, value_shape, enclosing);
                    out.insert(key.to_owned(), inner);
                }
            }
            Value::Object(members) => {
                self.deviations += 1;
                for (key, inner) in members {
                    out.insert(key.clone(), self.read_at(key, &[key], inner, value_shape, enclosing));
                }
            }
            Value::String(text) => {
                self.deviations += 1;
                return match serde_json::from_str::<Value>(text) {
                    Ok(parsed @ (Value::Object(_) | Value::Array(_))) => {
                        self.read_pairs(&parsed, value_shape, enclosing)
                    }
                    _ => value.clone(),
                };
            }
            _ => return value.clone(),
        }
        Value::Object(out)
    }

    /// Reads an array from the fields of its positions.
    fn read_positions(
        &mut self,
        value: &Value,
        fields: &[Field],
        shape: &Shape,
        enclosing: &[String],
    ) -> Value {
        let Value::Object(members) = value else {
            self.deviations += 1;
            return self.read_plain(value, shape, enclosing);
        };
        self.deviations +=
            members.keys().filter(|key| fields.iter().all(|field| field.name != *key.as_str())).count();
        // If a position may be absent, `null` is a value; otherwise it means that the position is absent.
        let null_is_absent = !self.codec.dialect.optional_fields;
        let is_present = |field: &&Field| {
            let value = members.get(field.name.as_str());
            value.is_some_and(|value| field.required || !null_is_absent || !value.is_null())
        };
        let last = fields.iter().rposition(|field| is_present(&field)).map_or(0, |index| index + 1);
        let mut items = Vec::new();
        for field in &fields[..last] {
            let name = field.name.as_str();
            match (members.get(name), &field.shape.kind) {
                (Some(Value::Array(remaining)), Kind::Array(rules)) if name == REST_ITEMS_KEY => {
                    for (index, item) in remaining.iter().enumerate() {
                        let (token, index) = (items.len().to_string(), index.to_string());
                        items.push(self.read_at(
                            &token,
                            &[REST_ITEMS_KEY, &index],
                            item,
                            &rules.items,
                            enclosing,
                        ));
                    }
                }
                (Some(value), _) => {
                    let token = items.len().to_string();
                    items.push(self.read_at(&token, &[name], value, &field.shape, enclosing));
                }
                (None, _) => items.push(Value::Null),
            }
        }
        Value::Array(items)
    }

    fn read_object(
        &mut self,
        object: &Map<String, Value>,
        rules: &ObjectRules,
        enclosing: &[String],
    ) -> Value {
        let members = self.codec.members(rules);
        let null_is_absent = !self.codec.dialect.optional_fields;
        let mut out = Map::new();
        for (key, value) in object {
            let member = members.iter().find(|member| member.key == *key);
            if value.is_null() && null_is_absent && member.is_some_and(|member| !member.required) {
                continue;
            }
            match member {
                Some(Member { kind: MemberKind::Field(field), .. }) => {
                    let decoded = self.read_at(&field.name, &[key], value, &field.shape, enclosing);
                    out.insert(field.name.to_string(), decoded);
                }
                Some(Member { kind: MemberKind::Others(value_shape), .. }) => {
                    self.read_extra_pairs(key, value, rules, value_shape, enclosing, &mut out);
                }
                None => {
                    self.deviations += 1;
                    let decoded = match self.field_shape(key, rules) {
                        Some(shape) => self.read_at(key, &[key], value, shape, enclosing),
                        None => value.clone(),
                    };
                    out.insert(key.clone(), decoded);
                }
            }
        }
        let is_missing = |member: &&Member<'_>| {
            (member.required || null_is_absent) && !object.contains_key(member.key.as_ref())
        };
        self.deviations += members.iter().filter(is_missing).count();
        Value::Object(out)
    }

    /// Reads the pairs of an object that also has fields.
    fn read_extra_pairs(
        &mut self,
        key: &str,
        value: &Value,
        rules: &ObjectRules,
        value_shape: &Shape,
        enclosing: &[String],
        out: &mut Map<String, Value>,
    ) {
        let (length, moved) = (self.source.len(), self.moved.len());
        pointer::push_truncated(&mut self.source, key);
        match self.read_pairs(value, value_shape, enclosing) {
            Value::Object(read) => {
                for (name, value) in read {
                    // A field that is not an argument is treated like any other key.
                    let is_field = |field: &Field| field.access != self.codec.hidden && field.name == *name;
                    if rules.fields.iter().any(is_field) {
                        let name = Value::from(name);
                        self.add_problem(&[], format!("{name} is a separate field; set it there"));
                    } else {
                        out.insert(name, value);
                    }
                }
            }
            other => {
                self.moved.truncate(moved);
                out.insert(key.to_owned(), other);
            }
        }
        self.source.truncate(length);
    }

    /// Returns the shape of a key that is not a member: of a field under its own name, or of an additional key.
    fn field_shape<'s>(&self, key: &str, rules: &'s ObjectRules) -> Option<&'s Shape> {
        let field = rules.field(key, self.codec.hidden);
        field.map(|field| &field.shape).or_else(|| rules.extra_shape(key))
    }
}

/// Returns the shape of an item of a tuple.
pub(super) fn item_shape(rules: &TupleRules, index: usize) -> Option<&Shape> {
    match (rules.items.get(index), &rules.rest) {
        (Some(shape), _) => Some(shape),
        (None, Extra::Of(shape)) => Some(shape),
        (None, Extra::Open) => Some(&Shape::ANY),
        (None, Extra::Closed) => None,
    }
}

/// A value, read as one of the variants.
struct Attempt {
    value: Value,
    moved: Vec<(String, String)>,
    problems: Vec<ArgumentProblem>,
    /// How many times the value deviates from the dialect's form.
    deviations: usize,
    /// The distance between the value and the form of the variant: its type and its keys.
    distance: usize,
    /// The number of problems of the value; 0 if it is valid.
    problem_count: usize,
}

impl Reader<'_> {
    fn read_union(&mut self, value: &Value, union: &UnionRules, enclosing: &[String]) -> Value {
        if let Some(variant) = named_variant(value, union, self.codec.defs) {
            return self.read_value(value, variant, enclosing);
        }
        let mut best: Option<Attempt> = None;
        for variant in &union.variants {
            let (moved, problems, deviations) = (self.moved.len(), self.problems.len(), self.deviations);
            if self.is_out_of_steps() {
                break;
            }
            let decoded = self.read_value(value, variant, enclosing);
            let mut attempt = Attempt {
                moved: self.moved.split_off(moved),
                problems: self.problems.split_off(problems),
                deviations: self.deviations - deviations,
                distance: 0,
                problem_count: 0,
                value: decoded,
            };
            self.deviations = deviations;
            let value_problems = self.problems_of(&attempt.value, variant);
            attempt.problem_count = value_problems.len() + attempt.problems.len();
            if attempt.problem_count > 0 {
                attempt.distance = distance(&attempt.value, variant, self.codec.defs);
            }
            let rank = |attempt: &Attempt| {
                (attempt.problem_count > 0, attempt.distance, attempt.deviations, attempt.problem_count)
            };
            if best.as_ref().is_none_or(|best| rank(&attempt) < rank(best)) {
                best = Some(attempt);
            }
        }
        let Some(best) = best else { return value.clone() };
        self.moved.extend(best.moved);
        self.problems.extend(best.problems);
        self.deviations += best.deviations;
        best.value
    }
}
