//! The short way for arguments that are right as they are, which most are.

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::frozen::List;
use crate::shape::read::number_of;
use crate::shape::{Access, Def, Extra, Kind, Literal, ObjectRules, Shape, find_def, rules};

/// Values nested deeper than this take the long way.
const MAX_DEPTH: usize = 32;

/// Whether a value fits a shape and decoding would change nothing about it. `false` says nothing: what is wrong, and
/// what is right in a less simple way, is found on the long way.
pub(crate) fn is_exact(value: &Value, shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> bool {
    // There a `null` may only mean that something was left out.
    !dialect.strict && fits(value, shape, defs, 0)
}

fn fits(value: &Value, shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match (&shape.kind, value) {
        (Kind::Ref(name), _) if !shape.nullable || !value.is_null() => {
            find_def(defs, name).is_some_and(|target| fits(value, target, defs, depth + 1))
        }
        (_, Value::Null) => shape.nullable,
        (Kind::Any, Value::Bool(_) | Value::String(_)) | (Kind::Boolean, Value::Bool(_)) => true,
        (Kind::String(known), Value::String(text)) => rules::text_fits(text, known),
        (Kind::Integer(known), Value::Number(number)) => {
            !number.is_f64() && number_of(number).is_some_and(|number| rules::number_fits(number, known))
        }
        (Kind::Number(known), Value::Number(number)) => {
            number_of(number).is_some_and(|number| rules::number_fits(number, known))
        }
        (Kind::Enum(values), Value::String(text)) => {
            values.iter().any(|literal| matches!(literal, Literal::String(known) if *known == text.as_str()))
        }
        (Kind::Array(known), Value::Array(items)) => {
            let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
            !known.unique
                && known.min_items.is_none_or(|least| count >= least)
                && known.max_items.is_none_or(|most| count <= most)
                && items.iter().all(|item| fits(item, &known.items, defs, depth + 1))
        }
        (Kind::Object(known), Value::Object(given)) => object(given, known, defs, depth),
        _ => false,
    }
}

fn object(given: &Map<String, Value>, known: &ObjectRules, defs: &List<Def>, depth: usize) -> bool {
    let simple = known.patterns.is_empty()
        && known.relations.is_empty()
        && known.min_properties.is_none()
        && known.max_properties.is_none();
    if !simple {
        return false;
    }
    let mut required = known.fields.iter().filter(|field| field.required).count();
    for (key, value) in given {
        let fine = match known.fields.iter().find(|field| field.name == key.as_str()) {
            Some(field) => {
                required -= usize::from(field.required);
                field.access != Access::ReadOnly
                    && field.wire.is_empty()
                    && fits(value, &field.shape, defs, depth + 1)
            }
            // It may be the wire name or an alias of a field, which the long way knows.
            None => match &known.extra {
                Extra::Of(shape) => known.fields.is_empty() && fits(value, shape, defs, depth + 1),
                Extra::Open => known.fields.is_empty(),
                Extra::Closed => false,
            },
        };
        if !fine {
            return false;
        }
    }
    required == 0
}
