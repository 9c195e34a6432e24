//! Lists and tuples.

use serde_json::Value;

use super::{Object, Reader};
use crate::base::frozen::{Frozen, List};
use crate::schema::shape::{ArrayRules, Extra, Kind, Shape, TupleRules};

/// The schemas of the first values: `prefixItems`, or a list under `items` as drafts before 2020-12 wrote it.
pub(super) fn is_tuple(schema: &Object) -> bool {
    matches!(schema.get("prefixItems"), Some(Value::Array(_)))
        || matches!(schema.get("items"), Some(Value::Array(_)))
}

impl Reader<'_> {
    pub(super) fn array(&mut self, schema: &Object) -> Kind {
        let min_items = self.count(schema, "minItems");
        let max_items = self.count(schema, "maxItems");
        if is_tuple(schema) {
            let (items, rest) = self.tuple(schema);
            return Kind::Tuple(TupleRules { items, rest, min_items, max_items });
        }
        if schema.get("prefixItems").is_some() {
            self.problem_at("prefixItems", "not a list of schemas, so ignored");
        }
        let unique = self.flag(schema, "uniqueItems");
        let items = match schema.get("items") {
            None => Frozen::Static(&Shape::ANY),
            Some(schema) => self.at("items", |reader| reader.shape(schema, "")).into(),
        };
        Kind::Array(ArrayRules { items, min_items, max_items, unique })
    }

    fn tuple(&mut self, schema: &Object) -> (List<Shape>, Extra) {
        let (first, after) = if matches!(schema.get("prefixItems"), Some(Value::Array(_))) {
            ("prefixItems", "items")
        } else {
            ("items", "additionalItems")
        };
        let items = self.schemas(schema, first).into();
        (items, self.extra(schema, after))
    }

    /// What may stand beside known members.
    pub(super) fn extra(&mut self, schema: &Object, keyword: &str) -> Extra {
        match schema.get(keyword) {
            None | Some(Value::Bool(true)) => Extra::Open,
            Some(Value::Bool(false)) => Extra::Closed,
            Some(Value::Object(_)) => {
                let shape = schema.get(keyword).map(|schema| self.at(keyword, |r| r.shape(schema, "")));
                shape.map_or(Extra::Open, |shape| Extra::Of(shape.into()))
            }
            Some(_) => {
                self.problem_at(keyword, "neither a schema nor true or false, so ignored");
                Extra::Open
            }
        }
    }
}
