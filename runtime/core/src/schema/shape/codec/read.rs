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
    /// The locations of values that were written elsewhere: the location in the result, and the one that the model
    /// wrote.
    places: Vec<(String, String)>,
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
        written: String::new(),
        places: Vec::new(),
        problems: Vec::new(),
        loose: 0,
        steps: Cell::new(0),
        depth: 0,
    };
    let value = reader.single_value(arguments, shape).unwrap_or_else(|| reader.value(arguments, shape, &[]));
    Some(DecodedArguments { value, problems: reader.problems, places: reader.places })
}

impl DecodedArguments {
    /// Moves a problem to the location that the model wrote.
    pub(in crate::schema::shape) fn placed(&self, problem: ArgumentProblem) -> ArgumentProblem {
        let below = |location: &str| {
            problem.pointer.strip_prefix(location).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let nearest = self.places.iter().filter_map(|(location, written)| Some((below(location)?, written)));
        match nearest.min_by_key(|(rest, _)| rest.len()) {
            Some((rest, written)) => ArgumentProblem { pointer: format!("{written}{rest}"), ..problem },
            None => problem,
        }
    }
}

struct Reader<'a> {
    codec: Codec<'a>,
    /// The location in the result.
    path: String,
    /// The location in the value that the model wrote.
    written: String,
    places: Vec<(String, String)>,
    problems: Vec<ArgumentProblem>,
    /// How many times the value deviates from the dialect's form.
    loose: usize,
    /// The number of values that were read or compared with a variant of a union.
    steps: Cell<usize>,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Reads arguments without names, which the model sends as one argument.
    fn single_value(&mut self, arguments: &Value, shape: &Shape) -> Option<Value> {
        let given = arguments.as_object().filter(|given| given.len() == 1)?.get(ROOT_KEY)?;
        if !self.codec.is_whole(shape) {
            return None;
        }
        self.places.push((String::new(), format!("/{ROOT_KEY}")));
        pointer::push(&mut self.written, ROOT_KEY);
        let read = self.value(given, shape, &[]);
        if read.is_object() {
            return Some(read);
        }
        self.written.clear();
        self.places.clear();
        self.problems.clear();
        None
    }

    /// Reads a value at a location that may differ from the written location.
    fn at(
        &mut self,
        token: &str,
        written: &[&str],
        value: &Value,
        shape: &Shape,
        around: &[String],
    ) -> Value {
        let lengths = (self.path.len(), self.written.len());
        pointer::push_given(&mut self.path, token);
        written.iter().for_each(|token| pointer::push_given(&mut self.written, token));
        if written != [token] {
            self.places.push((self.path.clone(), self.written.clone()));
        }
        let read = self.value(value, shape, around);
        self.path.truncate(lengths.0);
        self.written.truncate(lengths.1);
        read
    }

    /// Adds a problem at a location that the result does not have.
    fn problem(&mut self, written: &[&str], message: String) {
        let mut pointer = self.written.clone();
        written.iter().for_each(|token| pointer::push_given(&mut pointer, token));
        self.problems.push(ArgumentProblem { pointer, kind: ArgumentProblemKind::Value, message });
    }

    fn value(&mut self, value: &Value, shape: &Shape, around: &[String]) -> Value {
        self.steps.update(|steps| steps + 1);
        if self.depth >= MAX_DEPTH || self.is_spent() || (value.is_null() && shape.nullable) {
            return value.clone();
        }
        self.depth += 1;
        let read = match self.codec.form(shape, around) {
            Form::Plain => self.plain(value, shape, around),
            Form::Text => self.text(value, shape, around),
            Form::Pairs(of) => self.pairs(value, &of, around),
            Form::Places(fields) => self.list(value, &fields, shape, around),
            Form::As(shape, _) => self.value(value, &shape, around),
        };
        self.depth -= 1;
        read
    }

    fn text(&mut self, value: &Value, shape: &Shape, around: &[String]) -> Value {
        let Value::String(text) = value else {
            self.loose += 1;
            return self.plain(value, shape, around);
        };
        let fits = |value: &Value| self.problems_of(value, shape).is_empty();
        match serde_json::from_str::<Value>(text) {
            Ok(read) if matches!(shape.kind, Kind::Any | Kind::Raw(_)) || fits(&read) => read,
            Ok(read @ (Value::Object(_) | Value::Array(_))) if !fits(value) => read,
            _ => {
                self.loose += 1;
                value.clone()
            }
        }
    }

    fn problems_of(&self, value: &Value, shape: &Shape) -> Vec<ArgumentProblem> {
        let (problems, steps) = problems_in(value, shape, self.codec.defs, self.codec.dialect);
        self.steps.update(|known| known.saturating_add(steps));
        problems
    }

    /// Whether all steps are used up: the remaining values stay as written.
    fn is_spent(&self) -> bool {
        let merged = self.codec.pairs.get().saturating_mul(STEPS_PER_PAIR);
        self.steps.get().saturating_add(merged) > MAX_STEPS
    }

    /// Reads JSON text for an object or an array, although the dialect has a form for it.
    fn unquoted(&mut self, text: &str, shape: &Shape, around: &[String]) -> Option<Value> {
        if self.codec.dialect.is_plain() {
            return None;
        }
        let read: Value = serde_json::from_str(text).ok()?;
        let same = matches!(
            (&shape.kind, &read),
            (Kind::Object(_), Value::Object(_)) | (Kind::Array(_) | Kind::Tuple(_), Value::Array(_))
        );
        self.loose += 1;
        same.then(|| self.value(&read, shape, around))
    }

    fn plain(&mut self, value: &Value, shape: &Shape, around: &[String]) -> Value {
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => {
                let within: EnclosingDefs = self.codec.within(name, around);
                self.value(value, self.codec.target(name), &within)
            }
            (Kind::Union(rules), _) => self.union(value, rules, around),
            (Kind::All(parts), _) => {
                parts.iter().fold(value.clone(), |value, part| self.value(&value, part, around))
            }
            (Kind::Object(_) | Kind::Array(_) | Kind::Tuple(_), Value::String(text)) => {
                self.unquoted(text, shape, around).unwrap_or_else(|| value.clone())
            }
            (Kind::Array(rules), Value::Array(items)) => self.items(items, |_| Some(&*rules.items), around),
            (Kind::Tuple(rules), Value::Array(items)) => {
                self.items(items, |index| shape_of(rules, index), around)
            }
            (Kind::Object(rules), Value::Object(given)) => self.object(given, rules, around),
            _ => value.clone(),
        }
    }

    fn items<'s>(
        &mut self,
        items: &[Value],
        shape_of: impl Fn(usize) -> Option<&'s Shape>,
        around: &[String],
    ) -> Value {
        let item = |(index, item): (usize, &Value)| match shape_of(index) {
            Some(shape) => {
                let token = index.to_string();
                self.at(&token, &[&token], item, shape, around)
            }
            None => item.clone(),
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Reads a map from its pairs.
    fn pairs(&mut self, value: &Value, of: &Shape, around: &[String]) -> Value {
        let mut out = Map::new();
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let token = index.to_string();
                    let pair = item
                        .as_object()
                        .and_then(|pair| Some((pair.get(super::KEY)?.as_str()?, pair.get(super::VALUE)?)));
                    let Some((key, inner)) = pair else {
                        let given = describe::describe_value(item);
                        self.problem(
                            &[&token],
                            format!("expected an object with `key` and `value`, got {given}"),
                        );
                        continue;
                    };
                    if out.contains_key(key) {
                        let key = Value::from(key);
                        self.problem(
                            &[&token, super::KEY],
                            format!("the key {key} is given twice; give each key once"),
                        );
                        continue;
                    }
                    let inner = self.at(key, &[&token, super::VALUE], inner, of, around);
                    out.insert(key.to_owned(), inner);
                }
            }
            Value::Object(given) => {
                self.loose += 1;
                for (key, inner) in given {
                    out.insert(key.clone(), self.at(key, &[key], inner, of, around));
                }
            }
            Value::String(text) => {
                self.loose += 1;
                return match serde_json::from_str::<Value>(text) {
                    Ok(read @ (Value::Object(_) | Value::Array(_))) => self.pairs(&read, of, around),
                    _ => value.clone(),
                };
            }
            _ => return value.clone(),
        }
        Value::Object(out)
    }

    /// Reads an array from the fields of its positions.
    fn list(&mut self, value: &Value, fields: &[Field], shape: &Shape, around: &[String]) -> Value {
        let Value::Object(given) = value else {
            self.loose += 1;
            return self.plain(value, shape, around);
        };
        self.loose +=
            given.keys().filter(|key| fields.iter().all(|field| field.name != *key.as_str())).count();
        // If a position may be absent, `null` is a value; otherwise it means that the position is absent.
        let null_is_absent = !self.codec.dialect.optional_fields;
        let is_given = |field: &&Field| {
            let value = given.get(field.name.as_str());
            value.is_some_and(|value| field.required || !null_is_absent || !value.is_null())
        };
        let last = fields.iter().rposition(|field| is_given(&field)).map_or(0, |index| index + 1);
        let mut items = Vec::new();
        for field in &fields[..last] {
            let name = field.name.as_str();
            match (given.get(name), &field.shape.kind) {
                (Some(Value::Array(rest)), Kind::Array(rules)) if name == REST_ITEMS_KEY => {
                    for (index, item) in rest.iter().enumerate() {
                        let (token, index) = (items.len().to_string(), index.to_string());
                        items.push(self.at(&token, &[REST_ITEMS_KEY, &index], item, &rules.items, around));
                    }
                }
                (Some(value), _) => {
                    let token = items.len().to_string();
                    items.push(self.at(&token, &[name], value, &field.shape, around));
                }
                (None, _) => items.push(Value::Null),
            }
        }
        Value::Array(items)
    }

    fn object(&mut self, given: &Map<String, Value>, rules: &ObjectRules, around: &[String]) -> Value {
        let members = self.codec.members(rules);
        let null_is_absent = !self.codec.dialect.optional_fields;
        let mut out = Map::new();
        for (key, value) in given {
            let member = members.iter().find(|member| member.key == *key);
            if value.is_null() && null_is_absent && member.is_some_and(|member| !member.required) {
                continue;
            }
            match member {
                Some(Member { of: MemberKind::Field(field), .. }) => {
                    let read = self.at(&field.name, &[key], value, &field.shape, around);
                    out.insert(field.name.to_string(), read);
                }
                Some(Member { of: MemberKind::Others(of), .. }) => {
                    self.others(key, value, rules, of, around, &mut out);
                }
                None => {
                    self.loose += 1;
                    let read = match self.field_shape(key, rules) {
                        Some(shape) => self.at(key, &[key], value, shape, around),
                        None => value.clone(),
                    };
                    out.insert(key.clone(), read);
                }
            }
        }
        let missing = |member: &&Member<'_>| {
            (member.required || null_is_absent) && !given.contains_key(member.key.as_ref())
        };
        self.loose += members.iter().filter(missing).count();
        Value::Object(out)
    }

    /// Reads the pairs of an object that also has fields.
    fn others(
        &mut self,
        key: &str,
        value: &Value,
        rules: &ObjectRules,
        of: &Shape,
        around: &[String],
        out: &mut Map<String, Value>,
    ) {
        let (length, places) = (self.written.len(), self.places.len());
        pointer::push_given(&mut self.written, key);
        match self.pairs(value, of, around) {
            Value::Object(read) => {
                for (name, value) in read {
                    // A field that is not an argument is treated like any other key.
                    let is_field = |field: &Field| field.access != self.codec.hidden && field.name == *name;
                    if rules.fields.iter().any(is_field) {
                        let name = Value::from(name);
                        self.problem(&[], format!("{name} is a separate field; set it there"));
                    } else {
                        out.insert(name, value);
                    }
                }
            }
            other => {
                self.places.truncate(places);
                out.insert(key.to_owned(), other);
            }
        }
        self.written.truncate(length);
    }

    /// Returns the shape of a key that is not a member: of a field under its own name, or of an additional key.
    fn field_shape<'s>(&self, key: &str, rules: &'s ObjectRules) -> Option<&'s Shape> {
        let field = rules.field(key, self.codec.hidden);
        field.map(|field| &field.shape).or_else(|| rules.extra_shape(key))
    }
}

/// Returns the shape of an item of a tuple.
pub(super) fn shape_of(rules: &TupleRules, index: usize) -> Option<&Shape> {
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
    places: Vec<(String, String)>,
    problems: Vec<ArgumentProblem>,
    /// How many times the value deviates from the dialect's form.
    loose: usize,
    /// The distance between the value and the form of the variant: its type and its keys.
    far: usize,
    /// The number of problems of the value; 0 if it is valid.
    wrong: usize,
}

impl Reader<'_> {
    fn union(&mut self, value: &Value, union: &UnionRules, around: &[String]) -> Value {
        if let Some(variant) = named_variant(value, union, self.codec.defs) {
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
                attempt.far = distance(&attempt.value, variant, self.codec.defs);
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
