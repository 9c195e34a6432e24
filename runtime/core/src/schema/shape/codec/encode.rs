//! Writes values in the form that a dialect requires.

use serde_json::{Map, Value, json};

use super::read::shape_of;
use super::{Codec, Form, KEY, MemberKind, REST_ITEMS_KEY, ROOT_KEY, VALUE};
use crate::base::frozen::List;
use crate::schema::dialect::Dialect;
use crate::schema::shape::{Access, Def, Field, Kind, ObjectRules, Shape, decode, resolved};

/// Maximum nesting of shapes and values; deeper ones are written unchanged.
const MAX_DEPTH: usize = 128;

/// Returns arguments as a model writes them in a dialect; [`decode`](crate::schema::shape::decode::decode) is the
/// inverse. The arguments should be valid, under the names that the model sees.
///
/// If `null` means in the dialect that an optional field is absent, a `null` for such a field is omitted.
#[must_use]
pub fn encode(arguments: &Value, shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Value {
    let codec = Codec::new(defs, dialect, Access::ReadOnly);
    let written = codec.written(arguments, shape, &[], 0);
    if codec.is_whole(shape) { json!({ ROOT_KEY: written }) } else { written }
}

impl Codec<'_> {
    /// Returns a value as it is written at a location.
    pub(in crate::schema::shape) fn written(
        &self,
        value: &Value,
        shape: &Shape,
        around: &[String],
        depth: usize,
    ) -> Value {
        if depth > MAX_DEPTH {
            return value.clone();
        }
        let depth = depth + 1;
        match self.form(shape, around) {
            Form::Text if value.is_null() && shape.nullable && !matches!(shape.kind, Kind::Any) => {
                Value::Null
            }
            Form::Text => Value::String(value.to_string()),
            // The other shape allows `null` where this shape does, and decides its form.
            Form::As(shape, _) => self.written(value, &shape, around, depth),
            _ if value.is_null() && shape.nullable => Value::Null,
            Form::Pairs(of) => match value {
                Value::Object(fields) => self.pairs_of(fields.iter(), &of, around, depth),
                other => other.clone(),
            },
            Form::Places(places) => match value {
                Value::Array(items) => self.placed(items, &places, around, depth),
                other => other.clone(),
            },
            Form::Plain => self.plainly(value, shape, around, depth),
        }
    }

    fn plainly(&self, value: &Value, shape: &Shape, around: &[String], depth: usize) -> Value {
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => self.written(value, self.target(name), &self.within(name, around), depth),
            (Kind::Union(rules), _) => {
                let fits = |variant: &&Shape| decode::fits(value, variant, self.defs);
                let named = decode::named_variant(value, rules, self.defs);
                let all = || rules.variants.iter().filter(fits);
                let first = || all().find(|variant| self.holds(value, variant)).or_else(|| all().next());
                match named.or_else(first) {
                    Some(variant) => self.written(value, variant, around, depth),
                    None => value.clone(),
                }
            }
            (Kind::All(parts), _) => {
                parts.iter().fold(value.clone(), |value, part| self.written(&value, part, around, depth))
            }
            (Kind::Array(rules), Value::Array(items)) => {
                items.iter().map(|item| self.written(item, &rules.items, around, depth)).collect()
            }
            (Kind::Tuple(rules), Value::Array(items)) => {
                let item = |(index, item): (usize, &Value)| match shape_of(rules, index) {
                    Some(shape) => self.written(item, shape, around, depth),
                    None => item.clone(),
                };
                items.iter().enumerate().map(item).collect()
            }
            (Kind::Object(rules), Value::Object(given)) => self.object_of(given, rules, around, depth),
            _ => value.clone(),
        }
    }

    /// Whether the form of an object has a place for every key of a value.
    fn holds(&self, value: &Value, shape: &Shape) -> bool {
        let (Value::Object(given), Some(shape)) = (value, resolved(shape, self.defs)) else { return true };
        match (self.form(shape, &[]), &shape.kind) {
            (Form::Plain, Kind::Object(rules)) if !self.dialect.open_objects => {
                let members = self.members(rules);
                let is_named = |key: &String| {
                    members.iter().any(|member| match member.of {
                        MemberKind::Field(field) => *field.name == **key,
                        MemberKind::Others(_) => true,
                    })
                };
                given.keys().all(is_named)
            }
            _ => true,
        }
    }

    fn pairs_of<'v>(
        &self,
        fields: impl Iterator<Item = (&'v String, &'v Value)>,
        of: &Shape,
        around: &[String],
        depth: usize,
    ) -> Value {
        fields
            .map(|(key, value)| json!({ KEY: key, VALUE: self.written(value, of, around, depth) }))
            .collect()
    }

    fn placed(&self, items: &[Value], places: &[Field], around: &[String], depth: usize) -> Value {
        let mut out = Map::new();
        for (index, place) in places.iter().enumerate() {
            let value = match (&place.shape.kind, items.get(index)) {
                (Kind::Array(rules), Some(_)) if place.name == REST_ITEMS_KEY => {
                    let rest = items[index..].iter();
                    Some(rest.map(|item| self.written(item, &rules.items, around, depth)).collect())
                }
                (_, Some(item)) => Some(self.written(item, &place.shape, around, depth)),
                // A position that no value matches has no field.
                (_, None) if self.dialect.optional_fields || !self.shows(place) => None,
                (_, None) => Some(Value::Null),
            };
            if let Some(value) = value {
                out.insert(place.name.to_string(), value);
            }
        }
        Value::Object(out)
    }

    fn object_of(
        &self,
        given: &Map<String, Value>,
        rules: &ObjectRules,
        around: &[String],
        depth: usize,
    ) -> Value {
        let mut out = Map::new();
        let members = self.members(rules);
        let is_other = |key: &str| {
            !members.iter().any(|member| matches!(member.of, MemberKind::Field(field) if field.name == *key))
        };
        let mut others = given.iter().filter(|(key, _)| is_other(key)).peekable();
        for member in &members {
            let value = match &member.of {
                MemberKind::Field(field) => {
                    let null_is_absent = !self.dialect.optional_fields && !member.required;
                    given.get(field.name.as_str()).map(|value| match self.form(&field.shape, around) {
                        // JSON text can distinguish `null` from an absent value.
                        Form::Text if value.is_null() && null_is_absent => Value::String(value.to_string()),
                        _ => self.written(value, &field.shape, around, depth),
                    })
                }
                MemberKind::Others(of) => {
                    others.peek().is_some().then(|| self.pairs_of(&mut others, of, around, depth))
                }
            };
            match value {
                Some(value) => out.insert(member.key.to_string(), value),
                None if self.dialect.optional_fields => None,
                None => out.insert(member.key.to_string(), Value::Null),
            };
        }
        for (key, value) in others {
            let read = rules.extra_shape(key).map(|shape| self.written(value, shape, around, depth));
            out.insert(key.clone(), read.unwrap_or_else(|| value.clone()));
        }
        Value::Object(out)
    }
}
