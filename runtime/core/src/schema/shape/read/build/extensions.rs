//! Reads the keywords that canonical text uses for shapes that a reader would simplify if written in plain JSON
//! Schema: unions of one, lists of values with `null`, and the like.

use serde_json::Value;

use super::{Builder, Object};
use crate::schema::shape::{Kind, Literal, UnionMode, UnionRules};

impl Builder<'_> {
    pub(super) fn extension(&mut self, schema: &Object) -> Option<Kind> {
        if let Some(Value::String(text)) = schema.get("x-raw") {
            return Some(Kind::Raw(text.clone().into()));
        }
        if schema.contains_key("x-all") {
            return Some(Kind::All(self.schemas(schema, "x-all").into()));
        }
        if let Some(Value::Array(values)) = schema.get("x-enum") {
            return Some(Kind::Enum(values.iter().map(Literal::of).collect()));
        }
        for (keyword, mode) in [("x-anyOf", UnionMode::Any), ("x-oneOf", UnionMode::One)] {
            if schema.contains_key(keyword) {
                let variants = self.schemas(schema, keyword).into();
                let discriminator = Self::discriminator(schema);
                return Some(Kind::Union(UnionRules { mode, variants, discriminator }));
            }
        }
        None
    }
}
