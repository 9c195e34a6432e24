//! Lists and tuples.

use serde_json::Value;

use super::{Builder, Object};
use crate::base::frozen::Frozen;
use crate::schema::shape::{ArrayRules, Extra, Kind, Shape, TupleRules};

/// Returns the keyword of the schemas of the first values, and that of the following ones: drafts before 2020-12 wrote
/// a list under `items`.
pub(super) fn tuple(schema: &Object) -> Option<(&'static str, &'static str)> {
    [("prefixItems", "items"), ("items", "additionalItems")]
        .into_iter()
        .find(|(first, _)| matches!(schema.get(*first), Some(Value::Array(_))))
}

impl Builder<'_> {
    pub(super) fn array(&mut self, schema: &Object) -> Kind {
        if let Some((first, rest)) = tuple(schema) {
            let items = self.schemas(schema, first).into();
            return Kind::Tuple(TupleRules::read(schema, items, self.extra(schema, rest)));
        }
        let items = match schema.get("items") {
            None => Frozen::Static(&Shape::ANY),
            Some(schema) => self.at("items", |builder| builder.shape(schema, "")).into(),
        };
        Kind::Array(ArrayRules::read(schema, items))
    }

    /// Returns what may follow the known members.
    pub(super) fn extra(&mut self, schema: &Object, keyword: &str) -> Extra {
        match schema.get(keyword) {
            Some(Value::Bool(false)) => Extra::Closed,
            Some(schema @ Value::Object(_)) => {
                Extra::Of(self.at(keyword, |builder| builder.shape(schema, "")).into())
            }
            _ => Extra::Open,
        }
    }
}
