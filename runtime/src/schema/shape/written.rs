//! Values that are written as JSON text, for dialects in which every object has properties.
//!
//! Such a dialect has no form for maps, for objects without fields and for any value. A model writes them as JSON text,
//! and decoding reads the text. A model that gives the value itself is understood, too.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::decode::fits;
use super::{Access, Def, Extra, Kind, ObjectRules, Shape, find_def};
use crate::base::frozen::List;
use crate::schema::dialect::Dialect;

/// References nested deeper than this are not followed: they may be cyclic.
const MAX_DEPTH: usize = 64;

/// The only argument of a tool whose arguments have no names of their own.
pub(super) const WHOLE: &str = "arguments";

/// Whether a dialect takes no schema of this shape, so that its values are written as JSON text. `hidden`: fields with
/// this access do not count.
pub(super) fn is_written(shape: &Shape, dialect: &Dialect, hidden: Access) -> bool {
    !dialect.empty_objects
        && match &shape.kind {
            Kind::Any | Kind::Raw(_) => true,
            Kind::Object(rules) => has_no_field(rules, dialect, hidden),
            _ => false,
        }
}

/// Whether an object has no field that is rendered: one that must be absent has no schema here.
fn has_no_field(rules: &ObjectRules, dialect: &Dialect, hidden: Access) -> bool {
    let absent = |shape: &Shape| shape.kind == Kind::Never && !shape.nullable && !dialect.takes("not");
    rules.fields.iter().all(|field| field.access == hidden || (!field.required && absent(&field.shape)))
}

/// Returns arguments with their JSON texts read.
pub(super) fn read<'v>(
    arguments: &'v Value,
    shape: &Shape,
    defs: &List<Def>,
    dialect: &Dialect,
) -> Cow<'v, Value> {
    if dialect.empty_objects {
        return Cow::Borrowed(arguments);
    }
    let reader = Reader { defs, dialect };
    let read = reader.whole(arguments, shape).or_else(|| reader.value(arguments, shape, 0));
    read.map_or(Cow::Borrowed(arguments), Cow::Owned)
}

struct Reader<'a> {
    defs: &'a List<Def>,
    dialect: &'a Dialect,
}

impl Reader<'_> {
    /// Reads arguments without names, which come as the text of one.
    fn whole(&self, arguments: &Value, shape: &Shape) -> Option<Value> {
        let resolved = super::resolved(shape, self.defs)?;
        let Value::Object(given) = arguments else { return None };
        match given.get(WHOLE) {
            Some(Value::String(text))
                if given.len() == 1 && is_written(resolved, self.dialect, Access::ReadOnly) =>
            {
                serde_json::from_str(text).ok().filter(Value::is_object)
            }
            _ => None,
        }
    }

    /// Returns a value with its texts read, or `None` if it has none.
    fn value(&self, value: &Value, shape: &Shape, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match (&shape.kind, value) {
            (Kind::Ref(name), _) => self.value(value, find_def(self.defs, name)?, depth + 1),
            (Kind::Any | Kind::Raw(_), Value::String(text)) => serde_json::from_str(text).ok(),
            // Also objects with properties, which are written where they would contain themselves.
            (Kind::Object(_), Value::String(text)) => {
                let read = serde_json::from_str(text).ok().filter(Value::is_object)?;
                Some(self.value(&read, shape, depth + 1).unwrap_or(read))
            }
            (Kind::Enum(values), Value::String(text)) => {
                let read = serde_json::from_str(text).ok().filter(Value::is_object)?;
                values.iter().any(|value| value.to_json() == read).then_some(read)
            }
            (Kind::All(parts), _) => {
                let mut read = None;
                let says = |part: &&Shape| parts.len() == 1 || !matches!(part.kind, Kind::Any | Kind::Raw(_));
                for part in parts.iter().filter(says) {
                    read = self.value(read.as_ref().unwrap_or(value), part, depth + 1).or(read);
                }
                read
            }
            (Kind::Union(rules), _) => {
                let read = |variant: &Shape| self.value(value, variant, depth + 1);
                let as_it_is = |variant: &&Shape| read(variant).is_none() && fits(value, variant, self.defs);
                if rules.variants.iter().any(|variant| as_it_is(&variant)) {
                    return None;
                }
                let fitting = |variant: &Shape| read(variant).filter(|read| fits(read, variant, self.defs));
                rules.variants.iter().find_map(fitting)
            }
            (Kind::Array(rules), Value::Array(items)) => self.items(items, |_| Some(&*rules.items), depth),
            (Kind::Tuple(rules), Value::Array(items)) => {
                let rest = match &rules.rest {
                    Extra::Of(shape) => Some(&**shape),
                    Extra::Open => Some(&Shape::ANY),
                    Extra::Closed => None,
                };
                self.items(items, |index| rules.items.get(index).or(rest), depth)
            }
            (Kind::Object(rules), Value::Object(given)) => self.fields(given, rules, depth),
            _ => None,
        }
    }

    fn items<'s>(
        &self,
        items: &[Value],
        shape_of: impl Fn(usize) -> Option<&'s Shape>,
        depth: usize,
    ) -> Option<Value> {
        let mut read: Option<Vec<Value>> = None;
        for (index, item) in items.iter().enumerate() {
            if let Some(item) = shape_of(index).and_then(|shape| self.value(item, shape, depth + 1)) {
                read.get_or_insert_with(|| items.to_vec())[index] = item;
            }
        }
        read.map(Value::Array)
    }

    fn fields(&self, given: &Map<String, Value>, rules: &ObjectRules, depth: usize) -> Option<Value> {
        let mut read: Option<Map<String, Value>> = None;
        for field in rules.fields.iter().filter(|field| field.access != Access::ReadOnly) {
            let name = field.name.as_str();
            let value = given.get(name).and_then(|value| self.value(value, &field.shape, depth + 1));
            if let Some(value) = value {
                read.get_or_insert_with(|| given.clone()).insert(name.to_owned(), value);
            }
        }
        read.map(Value::Object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::dialect::{GEMINI, JSON_SCHEMA};
    use crate::schema::shape::decode::{decode, decode_owned};
    use crate::schema::shape::read::read_document;
    use crate::schema::shape::render::render_input;

    fn sent(schema: &Value, arguments: &Value) -> Value {
        let (shape, defs) = read_document(schema, &mut Vec::new());
        let decoded = decode(arguments, &shape, &defs, &GEMINI).unwrap();
        assert_eq!(decode_owned(arguments.clone(), &shape, &defs, &GEMINI).as_ref(), Ok(&decoded));
        assert!(decode(&decoded, &shape, &defs, &JSON_SCHEMA).is_ok());
        decoded
    }

    #[test]
    fn texts_are_read_where_an_object_would_have_no_properties() {
        let schema = json!({"type": "object", "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "any": {},
            "none": {"type": "object", "additionalProperties": false},
            "list": {"type": "array", "items": {"$ref": "#/$defs/Open"}},
            "either": {"anyOf": [{"type": "string", "maxLength": 3}, {"$ref": "#/$defs/Open"}]},
            "inner": {"type": "object", "properties": {"map": {"type": "object"}, "text": {"type": "string"}}},
        }, "$defs": {"Open": {"type": "object"}}});
        let cases = [
            (json!({"map": "{\"a\": 1}"}), json!({"map": {"a": 1}})),
            (json!({"map": {"a": 1}}), json!({"map": {"a": 1}})),
            (json!({"any": "[1, {\"b\": null}]"}), json!({"any": [1, {"b": null}]})),
            (json!({"any": "\"5\""}), json!({"any": "5"})),
            (json!({"any": "not JSON"}), json!({"any": "not JSON"})),
            (json!({"any": 5}), json!({"any": 5})),
            (json!({"none": "{}"}), json!({"none": {}})),
            (json!({"list": ["{\"a\": []}", {}]}), json!({"list": [{"a": []}, {}]})),
            (json!({"either": "{}"}), json!({"either": "{}"})),
            (json!({"either": "{\"a\": 1}"}), json!({"either": {"a": 1}})),
            (json!({"inner": {"map": "{}", "text": "{}"}}), json!({"inner": {"map": {}, "text": "{}"}})),
        ];
        for (given, expected) in cases {
            assert_eq!(sent(&schema, &given), expected, "{given}");
        }
        let (shape, defs) = read_document(&schema, &mut Vec::new());
        for wrong in [json!({"map": "{\"a\": \"x\"}"}), json!({"map": "[1]"}), json!({"none": "{\"a\": 1}"})]
        {
            assert!(decode(&wrong, &shape, &defs, &GEMINI).is_err(), "{wrong}");
            assert!(decode(&wrong, &shape, &defs, &JSON_SCHEMA).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arguments_without_names_are_the_text_of_one() {
        let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
        let (shape, defs) = read_document(&schema, &mut Vec::new());
        let rendered = render_input(&shape, &defs, &GEMINI).unwrap();
        assert_eq!(rendered.schema["properties"][WHOLE]["type"], "string");
        assert_eq!(sent(&schema, &json!({"arguments": "{\"a\": 1}"})), json!({"a": 1}));
        assert_eq!(sent(&schema, &json!({"arguments": 1})), json!({"arguments": 1}));
    }

    #[test]
    fn an_empty_text_among_listed_values_is_said_in_prose() {
        let schema =
            json!({"type": "object", "properties": {"sort": {"enum": ["", "up"], "description": "How."}}});
        let (shape, defs) = read_document(&schema, &mut Vec::new());
        let rendered = render_input(&shape, &defs, &GEMINI).unwrap();
        let told = json!({"type": "string", "description": "How. (one of \"\", \"up\")"});
        assert_eq!(rendered.schema["properties"]["sort"], told);
        assert_eq!((rendered.losses[0].keyword, rendered.losses[0].in_prose), ("enum", true));
        assert_eq!(sent(&schema, &json!({"sort": ""})), json!({"sort": ""}));
    }
}
