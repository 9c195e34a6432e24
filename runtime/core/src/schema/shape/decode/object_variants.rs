//! The object variants of a union, with references and nested unions resolved.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::literals::equals;
use crate::base::frozen::List;
use crate::schema::shape::schema::target;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, UnionRules, enum_values,
};

/// A variant that is an object.
pub(super) struct ObjectForm<'s> {
    /// The index of the variant that contains it.
    pub(super) variant: usize,
    /// The rules of the object, all of which apply. Without rules, every key is allowed.
    parts: Vec<&'s ObjectRules>,
    hidden: Access,
    defs: &'s List<Def>,
}

impl<'s> ObjectForm<'s> {
    /// Returns the objects in some of the variants.
    pub(super) fn of_objects(
        union: &'s UnionRules,
        variants: &[usize],
        defs: &'s List<Def>,
        hidden: Access,
    ) -> Vec<ObjectForm<'s>> {
        let mut forms = Vec::new();
        for variant in variants {
            forms.extend(ObjectForm::of(&union.variants[*variant], *variant, defs, hidden));
        }
        forms
    }

    /// Returns the objects in one variant.
    fn of(shape: &'s Shape, variant: usize, defs: &'s List<Def>, hidden: Access) -> Vec<ObjectForm<'s>> {
        let mut leaves = Vec::new();
        collect_leaves(shape, defs, &mut Vec::new(), &mut leaves);
        let form = |leaf: &'s Shape| {
            let mut parts = Vec::new();
            collect_parts(leaf, defs, &mut Vec::new(), &mut parts);
            ObjectForm { variant, parts, hidden, defs }
        };
        leaves.into_iter().filter(|leaf| allows_objects(leaf)).map(form).collect()
    }

    fn fields(&self) -> impl Iterator<Item = &'s Field> {
        let hidden = self.hidden;
        self.parts.iter().flat_map(|rules| &rules.fields).filter(move |field| field.access != hidden)
    }

    /// Returns the field of a key.
    pub(super) fn field(&self, key: &str) -> Option<&'s Field> {
        self.parts.iter().find_map(|rules| rules.field(key, self.hidden))
    }

    /// Returns the names of the fields with enumerated values.
    pub(super) fn choices(&self) -> impl Iterator<Item = &'s str> {
        self.fields()
            .filter(|field| enum_values::distinct_values(&field.shape, self.defs).is_some())
            .map(|field| field.name.as_str())
    }

    /// Returns the enumerated values of a field.
    pub(super) fn values(&self, name: &str) -> Option<Cow<'s, [Literal]>> {
        enum_values::distinct_values(&self.field(name)?.shape, self.defs)
    }

    /// Returns the value of a field.
    pub(super) fn lookup<'v>(&self, object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
        object.get(name).or_else(|| {
            let field = self.field(name)?;
            let other_keys =
                std::iter::once(field.wire_name()).chain(field.aliases.iter().map(|alias| &**alias));
            let is_same_field =
                |key: &&str| self.field(key).is_some_and(|other_field| std::ptr::eq(other_field, field));
            other_keys.filter(is_same_field).find_map(|key| object.get(key))
        })
    }

    /// Whether the value of a field is one of the enumerated values.
    pub(super) fn lists(&self, name: &str, value: &Value) -> bool {
        self.values(name).is_some_and(|values| values.iter().any(|literal| equals(value, literal)))
    }

    /// Returns the name of the only required field; `None` unless there is exactly one.
    pub(super) fn key(&self) -> Option<&'s str> {
        let mut required = self.fields().filter(|field| field.required);
        required.next().filter(|_| required.next().is_none()).map(|field| field.name.as_str())
    }

    /// Whether additional keys are forbidden.
    pub(super) fn is_closed(&self) -> bool {
        self.parts.iter().any(|rules| matches!(rules.extra, Extra::Closed) && rules.patterns.is_empty())
    }

    /// Counts the known keys.
    pub(super) fn count_known_keys(&self, object: &Map<String, Value>) -> usize {
        object.keys().filter(|key| self.field(key).is_some()).count()
    }

    /// Counts the unknown keys and the required fields that are missing.
    pub(in crate::schema::shape) fn distance(&self, object: &Map<String, Value>) -> usize {
        let is_map =
            self.parts.iter().any(|rules| matches!(rules.extra, Extra::Of(_)) || !rules.patterns.is_empty());
        let is_unknown = |key: &&String| !is_map && self.field(key).is_none();
        let is_missing = |field: &&Field| field.required && self.lookup(object, &field.name).is_none();
        object.keys().filter(is_unknown).count() + self.fields().filter(is_missing).count()
    }
}

fn collect_leaves<'s>(
    shape: &'s Shape,
    defs: &'s List<Def>,
    seen: &mut Vec<&'s Shape>,
    leaves: &mut Vec<&'s Shape>,
) {
    let shape = target(shape, defs);
    match &shape.kind {
        Kind::Union(rules) if !seen.iter().any(|seen_shape| std::ptr::eq(*seen_shape, shape)) => {
            seen.push(shape);
            rules.variants.iter().for_each(|variant| collect_leaves(variant, defs, seen, leaves));
        }
        Kind::Union(_) => {}
        _ => leaves.push(shape),
    }
}

fn allows_objects(leaf: &Shape) -> bool {
    matches!(leaf.kind, Kind::Any | Kind::Object(_) | Kind::All(_) | Kind::Raw(_))
}

fn collect_parts<'s>(
    shape: &'s Shape,
    defs: &'s List<Def>,
    seen: &mut Vec<&'s Shape>,
    parts: &mut Vec<&'s ObjectRules>,
) {
    let shape = target(shape, defs);
    if seen.iter().any(|seen_shape| std::ptr::eq(*seen_shape, shape)) {
        return;
    }
    seen.push(shape);
    match &shape.kind {
        Kind::Object(rules) => parts.push(rules),
        Kind::All(all) => all.iter().for_each(|part| collect_parts(part, defs, seen, parts)),
        _ => {}
    }
}

/// Returns how far a value is from a shape: by its unknown and missing keys, or `usize::MAX` if the type differs.
pub(in crate::schema::shape) fn distance(value: &Value, shape: &Shape, defs: &List<Def>) -> usize {
    let Value::Object(object) = value else {
        return if allows_type(value, shape, defs) { 0 } else { usize::MAX };
    };
    let forms = ObjectForm::of(shape, 0, defs, Access::ReadOnly);
    forms.iter().map(|form| form.distance(object)).min().unwrap_or(usize::MAX)
}

/// Whether a shape accepts values of this value's JSON type.
pub(super) fn allows_type(value: &Value, shape: &Shape, defs: &List<Def>) -> bool {
    allows_type_within(value, shape, defs, &mut Vec::new())
}

fn allows_type_within<'s>(
    value: &Value,
    shape: &'s Shape,
    defs: &'s List<Def>,
    seen: &mut Vec<(&'s Shape, bool)>,
) -> bool {
    let shape = target(shape, defs);
    if value.is_null() && shape.nullable {
        return true;
    }
    match &shape.kind {
        Kind::Any | Kind::Never | Kind::Raw(_) | Kind::Ref(_) => true,
        Kind::Null => value.is_null(),
        Kind::Boolean => value.is_boolean(),
        Kind::Integer(_) => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Kind::Number(_) => value.is_number(),
        Kind::String(_) => value.is_string(),
        Kind::Array(_) | Kind::Tuple(_) => value.is_array(),
        Kind::Object(_) => value.is_object(),
        Kind::Enum(values) => values
            .iter()
            .any(|literal| std::mem::discriminant(value) == std::mem::discriminant(&literal.to_json())),
        Kind::Union(_) | Kind::All(_) => {
            // A reference to the shape itself does not change the result: false in a union, true in a conjunction.
            if let Some((_, seen_shape)) =
                seen.iter().find(|(seen_shape, _)| std::ptr::eq(*seen_shape, shape))
            {
                return *seen_shape;
            }
            let index = seen.len();
            seen.push((shape, matches!(shape.kind, Kind::All(_))));
            let is_allowed = match &shape.kind {
                Kind::Union(rules) => {
                    rules.variants.iter().any(|variant| allows_type_within(value, variant, defs, seen))
                }
                Kind::All(parts) => parts.iter().all(|part| allows_type_within(value, part, defs, seen)),
                _ => false,
            };
            seen[index].1 = is_allowed;
            is_allowed
        }
    }
}
