//! The tolerant form of a shape, for results of services that deviate from their documents.
//!
//! Only types remain: objects are open, no member is required, every value may be `null`, and enumerated values are
//! examples. [`schema`] renders this form, and [`conform`] leaves out what deviates even from it. Both read shapes
//! through [`view`], so they cannot disagree: the form accepts every value from which members were removed, or whose
//! items became `null`.

mod conform;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ptr;

use serde_json::Value;

use super::{Access, Def, Extra, Kind, Literal, ObjectRules, Shape, find_def};
use crate::base::frozen::List;

pub(crate) use conform::{Omission, conform, wrong_root};
pub(crate) use schema::schema;

/// Maximum number of references in a chain: more form a cycle.
const MAX_CHAIN: usize = 64;

/// What remains of a shape. Every form also allows `null`.
enum View<'a> {
    Any,
    /// A boolean, a number or a string, and examples of it.
    Scalar(Scalar, &'a [Literal]),
    Array(&'a Shape),
    /// The first items, and the items that follow; `None` allows any.
    Tuple(&'a [Shape], Option<&'a Shape>),
    Object(Members<'a>),
    /// At least two alternatives, none of which is itself a union.
    Union(Vec<&'a Shape>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Boolean,
    Integer,
    Number,
    String,
}

/// The members of an object.
#[derive(Default)]
struct Members<'a> {
    /// The named members; `None` allows any value.
    fields: Vec<(&'a str, Option<&'a Shape>)>,
    /// The values of all other members; `None` allows any.
    extra: Option<&'a Shape>,
}

impl Scalar {
    fn name(self) -> &'static str {
        match self {
            Scalar::Boolean => "boolean",
            Scalar::Integer => "integer",
            Scalar::Number => "number",
            Scalar::String => "string",
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Scalar::Boolean, Value::Bool(_))
            | (Scalar::Number, Value::Number(_))
            | (Scalar::String, Value::String(_)) => true,
            (Scalar::Integer, Value::Number(number)) => {
                !number.is_f64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            _ => false,
        }
    }
}

impl<'a> Members<'a> {
    fn of(rules: &'a ObjectRules) -> Members<'a> {
        let visible = rules.fields.iter().filter(|field| field.access != Access::WriteOnly);
        let fields = visible.map(|field| (field.wire_name(), Some(&field.shape))).collect();
        // Members whose names match a pattern have shapes of their own, which the form does not express.
        let extra = if rules.patterns.is_empty() { extra_shape(&rules.extra) } else { None };
        Members { fields, extra }
    }

    /// Returns the shape of a member; `None` if it may be any value.
    fn shape(&self, name: &str) -> Option<&'a Shape> {
        self.fields.iter().find(|(field, _)| *field == name).map_or(self.extra, |(_, shape)| *shape)
    }

    /// Whether the form says something about members.
    fn is_described(&self) -> bool {
        !self.fields.is_empty() || self.extra.is_some()
    }

    /// Adds the members of a further part of the same object. A member that alternatives describe differently may be
    /// any value.
    fn add(&mut self, rules: &'a ObjectRules, is_alternative: bool) {
        for (name, shape) in Members::of(rules).fields {
            match self.fields.iter_mut().find(|(field, _)| *field == name) {
                None => self.fields.push((name, shape)),
                Some((_, known)) if is_alternative && *known != shape => *known = None,
                Some(_) => {}
            }
        }
    }
}

fn extra_shape(extra: &Extra) -> Option<&Shape> {
    match extra {
        Extra::Of(shape) => Some(shape),
        Extra::Open | Extra::Closed => None,
    }
}

/// Returns the name of the shape that a shape refers to, directly or as its only part.
fn reference(shape: &Shape) -> Option<&str> {
    let mut shape = shape;
    for _ in 0..MAX_CHAIN {
        match &shape.kind {
            Kind::Ref(name) => return Some(name),
            Kind::All(parts) => shape = only_part(parts)?,
            _ => return None,
        }
    }
    None
}

/// Returns the part that says something, if only one does.
fn only_part(parts: &[Shape]) -> Option<&Shape> {
    let mut described = parts.iter().filter(|part| part.kind != Kind::Any);
    described.next().filter(|_| described.next().is_none())
}

/// Resolves references and shapes with a single part; `None` if they are dangling or cyclic.
fn target<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a Shape> {
    let mut shape = shape;
    for _ in 0..MAX_CHAIN {
        shape = match &shape.kind {
            Kind::Ref(name) => find_def(defs, name)?,
            Kind::All(parts) => match only_part(parts) {
                Some(part) => part,
                None => return Some(shape),
            },
            _ => return Some(shape),
        };
    }
    None
}

/// Returns the tolerant form of a shape, without that of its children.
fn view<'a>(shape: &'a Shape, defs: &'a List<Def>) -> View<'a> {
    let Some(target) = target(shape, defs) else { return View::Any };
    match &target.kind {
        // A document that allows only `null` has seen no other value yet.
        Kind::Any | Kind::Never | Kind::Null | Kind::Raw(_) | Kind::Ref(_) => View::Any,
        Kind::Boolean => View::Scalar(Scalar::Boolean, &[]),
        Kind::Integer(_) => View::Scalar(Scalar::Integer, &[]),
        Kind::Number(_) => View::Scalar(Scalar::Number, &[]),
        Kind::String(_) => View::Scalar(Scalar::String, &[]),
        Kind::Enum(values) => common_type(values).map_or(View::Any, |scalar| View::Scalar(scalar, values)),
        Kind::Array(rules) => View::Array(&rules.items),
        Kind::Tuple(rules) => View::Tuple(&rules.items, extra_shape(&rules.rest)),
        Kind::Object(rules) => View::Object(Members::of(rules)),
        Kind::Union(_) => union_view(target, defs),
        Kind::All(_) => all_view(target, defs),
    }
}

/// Returns the type of enumerated values, if all except `null` have the same.
fn common_type(values: &[Literal]) -> Option<Scalar> {
    let mut common = None;
    for value in values.iter().filter(|value| **value != Literal::Null) {
        let scalar = match value.type_name() {
            "boolean" => Scalar::Boolean,
            "integer" => Scalar::Integer,
            "number" => Scalar::Number,
            "string" => Scalar::String,
            _ => return None,
        };
        common = match common {
            None => Some(scalar),
            Some(known) if known == scalar => Some(scalar),
            Some(Scalar::Integer | Scalar::Number) if matches!(scalar, Scalar::Integer | Scalar::Number) => {
                Some(Scalar::Number)
            }
            Some(_) => return None,
        };
    }
    common
}

fn union_view<'a>(union: &'a Shape, defs: &'a List<Def>) -> View<'a> {
    let mut variants = Vec::new();
    add_variants(union, defs, &mut HashSet::new(), &mut variants);
    // A value of any type makes the other alternatives redundant.
    if variants.is_empty() || variants.iter().any(|variant| matches!(view(variant, defs), View::Any)) {
        return View::Any;
    }
    match variants.as_slice() {
        [only] => view(only, defs),
        _ => View::Union(variants),
    }
}

/// Adds the alternatives of a union and of the unions in it.
fn add_variants<'a>(
    shape: &'a Shape,
    defs: &'a List<Def>,
    seen: &mut HashSet<*const Shape>,
    variants: &mut Vec<&'a Shape>,
) {
    let target = target(shape, defs);
    match target.map(|target| &target.kind) {
        Some(Kind::Null) => {}
        Some(Kind::Union(rules)) => {
            if target.is_some_and(|target| seen.insert(ptr::from_ref(target))) {
                rules.variants.iter().for_each(|variant| add_variants(variant, defs, seen, variants));
            }
        }
        _ => variants.push(shape),
    }
}

/// The form of a value that has several parts: an object with the members of all of them, or the first part that is
/// neither an object nor a union.
fn all_view<'a>(all: &'a Shape, defs: &'a List<Def>) -> View<'a> {
    let mut found = Parts::default();
    found.add(all, defs, &mut HashSet::new(), false);
    match (found.is_object, found.other) {
        (true, _) => View::Object(found.members),
        (false, Some(part)) => view(part, defs),
        (false, None) => View::Any,
    }
}

/// The parts of a value.
#[derive(Default)]
struct Parts<'a> {
    is_object: bool,
    members: Members<'a>,
    other: Option<&'a Shape>,
}

impl<'a> Parts<'a> {
    fn add(
        &mut self,
        shape: &'a Shape,
        defs: &'a List<Def>,
        seen: &mut HashSet<*const Shape>,
        is_alternative: bool,
    ) {
        let Some(target) = target(shape, defs) else { return };
        if !seen.insert(ptr::from_ref(target)) {
            return;
        }
        match &target.kind {
            Kind::Object(rules) => {
                self.is_object = true;
                self.members.add(rules, is_alternative);
            }
            Kind::All(parts) => parts.iter().for_each(|part| self.add(part, defs, seen, is_alternative)),
            Kind::Union(rules) => {
                rules.variants.iter().for_each(|variant| self.add(variant, defs, seen, true));
            }
            Kind::Any | Kind::Never | Kind::Null | Kind::Raw(_) | Kind::Ref(_) => {}
            _ if is_alternative => {}
            _ => self.other = self.other.or(Some(target)),
        }
    }
}
