//! Writes values in the form that a dialect requires.

use serde_json::{Map, Value, json};

use super::read::item_shape;
use super::{Codec, Form, KEY, MemberKind, REST_ITEMS_KEY, ROOT_KEY, VALUE};
use crate::base::frozen::List;
use crate::schema::dialect::Dialect;
use crate::schema::shape::{Access, Def, Field, Kind, ObjectRules, Shape, decode, resolved};

/// Maximum nesting of shapes and values; deeper ones are written unchanged.
const MAX_DEPTH: usize = 128;

/// Returns arguments as a model writes them in a dialect; [`decode`](crate::schema::shape::decode::decode) is the
/// inverse. The arguments should be valid, under the names that the model sees.
///
/// If the dialect uses `null` for an absent optional field, a `null` for such a field is omitted.
#[must_use]
pub fn encode(arguments: &Value, shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Value {
    let codec = Codec::new(defs, dialect, Access::ReadOnly);
    let encoded = codec.encode_value(arguments, shape, &[], 0);
    if codec.is_single_argument(shape) { json!({ ROOT_KEY: encoded }) } else { encoded }
}

impl Codec<'_> {
    /// Returns a value as it is written at a location.
    pub(in crate::schema::shape) fn encode_value(
        &self,
        value: &Value,
        shape: &Shape,
        enclosing: &[String],
        depth: usize,
    ) -> Value {
        if depth > MAX_DEPTH {
            return value.clone();
        }
        let depth = depth + 1;
        match self.form(shape, enclosing) {
            Form::Text if value.is_null() && shape.nullable && !matches!(shape.kind, Kind::Any) => {
                Value::Null
            }
            Form::Text => Value::String(value.to_string()),
            // The other shape allows `null` where this shape does, and decides its form.
            Form::Substitute(shape, _) => self.encode_value(value, &shape, enclosing, depth),
            _ if value.is_null() && shape.nullable => Value::Null,
            Form::Pairs(value_shape) => match value {
                Value::Object(fields) => self.encode_pairs(fields.iter(), &value_shape, enclosing, depth),
                other => other.clone(),
            },
            Form::Positions(positions) => match value {
                Value::Array(items) => self.encode_positions(items, &positions, enclosing, depth),
                other => other.clone(),
            },
            Form::Plain => self.encode_plain(value, shape, enclosing, depth),
        }
    }

    fn encode_plain(&self, value: &Value, shape: &Shape, enclosing: &[String], depth: usize) -> Value {
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => {
                self.encode_value(value, self.target(name), &self.enter_def(name, enclosing), depth)
            }
            (Kind::Union(rules), _) => {
                let is_valid = |variant: &&Shape| decode::fits(value, variant, self.defs);
                let tagged = decode::named_variant(value, rules, self.defs);
                let matching = || rules.variants.iter().filter(is_valid);
                let first = || {
                    matching().find(|variant| self.has_all_keys(value, variant)).or_else(|| matching().next())
                };
                match tagged.or_else(first) {
                    Some(variant) => self.encode_value(value, variant, enclosing, depth),
                    None => value.clone(),
                }
            }
            (Kind::All(parts), _) => parts
                .iter()
                .fold(value.clone(), |value, part| self.encode_value(&value, part, enclosing, depth)),
            (Kind::Array(rules), Value::Array(items)) => {
                items.iter().map(|item| self.encode_value(item, &rules.items, enclosing, depth)).collect()
            }
            (Kind::Tuple(rules), Value::Array(items)) => {
                let item = |(index, item): (usize, &Value)| match item_shape(rules, index) {
                    Some(shape) => self.encode_value(item, shape, enclosing, depth),
                    None => item.clone(),
                };
                items.iter().enumerate().map(item).collect()
            }
            (Kind::Object(rules), Value::Object(members)) => {
                self.encode_object(members, rules, enclosing, depth)
            }
            _ => value.clone(),
        }
    }

    /// Whether the form of an object can represent every key of a value.
    fn has_all_keys(&self, value: &Value, shape: &Shape) -> bool {
        let (Value::Object(object), Some(shape)) = (value, resolved(shape, self.defs)) else { return true };
        match (self.form(shape, &[]), &shape.kind) {
            (Form::Plain, Kind::Object(rules)) if !self.dialect.open_objects => {
                let members = self.members(rules);
                let is_named = |key: &String| {
                    members.iter().any(|member| match member.kind {
                        MemberKind::Field(field) => *field.name == **key,
                        MemberKind::Others(_) => true,
                    })
                };
                object.keys().all(is_named)
            }
            _ => true,
        }
    }

    fn encode_pairs<'v>(
        &self,
        fields: impl Iterator<Item = (&'v String, &'v Value)>,
        value_shape: &Shape,
        enclosing: &[String],
        depth: usize,
    ) -> Value {
        fields
            .map(|(key, value)| json!({ KEY: key, VALUE: self.encode_value(value, value_shape, enclosing, depth) }))
            .collect()
    }

    fn encode_positions(
        &self,
        items: &[Value],
        positions: &[Field],
        enclosing: &[String],
        depth: usize,
    ) -> Value {
        let mut out = Map::new();
        for (index, position) in positions.iter().enumerate() {
            let value = match (&position.shape.kind, items.get(index)) {
                (Kind::Array(rules), Some(_)) if position.name == REST_ITEMS_KEY => {
                    let remaining = items[index..].iter();
                    Some(
                        remaining
                            .map(|item| self.encode_value(item, &rules.items, enclosing, depth))
                            .collect(),
                    )
                }
                (_, Some(item)) => Some(self.encode_value(item, &position.shape, enclosing, depth)),
                // A position that no value matches has no field.
                (_, None) if self.dialect.optional_fields || !self.is_rendered(position) => None,
                (_, None) => Some(Value::Null),
            };
            if let Some(value) = value {
                out.insert(position.name.to_string(), value);
            }
        }
        Value::Object(out)
    }

    fn encode_object(
        &self,
        object: &Map<String, Value>,
        rules: &ObjectRules,
        enclosing: &[String],
        depth: usize,
    ) -> Value {
        let mut out = Map::new();
        let members = self.members(rules);
        let is_other = |key: &str| {
            !members
                .iter()
                .any(|member| matches!(member.kind, MemberKind::Field(field) if field.name == *key))
        };
        let mut others = object.iter().filter(|(key, _)| is_other(key)).peekable();
        for member in &members {
            let value = match &member.kind {
                MemberKind::Field(field) => {
                    let null_is_absent = !self.dialect.optional_fields && !member.required;
                    object.get(field.name.as_str()).map(|value| match self.form(&field.shape, enclosing) {
                        // JSON text can distinguish `null` from an absent value.
                        Form::Text if value.is_null() && null_is_absent => Value::String(value.to_string()),
                        _ => self.encode_value(value, &field.shape, enclosing, depth),
                    })
                }
                MemberKind::Others(value_shape) => others
                    .peek()
                    .is_some()
                    .then(|| self.encode_pairs(&mut others, value_shape, enclosing, depth)),
            };
            match value {
                Some(value) => out.insert(member.key.to_string(), value),
                None if self.dialect.optional_fields => None,
                None => out.insert(member.key.to_string(), Value::Null),
            };
        }
        for (key, value) in others {
            let encoded =
                rules.extra_shape(key).map(|shape| self.encode_value(value, shape, enclosing, depth));
            out.insert(key.clone(), encoded.unwrap_or_else(|| value.clone()));
        }
        Value::Object(out)
    }
}
