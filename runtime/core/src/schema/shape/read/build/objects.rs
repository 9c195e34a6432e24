//! Objects and their fields.

use std::collections::HashSet;

use serde_json::Value;

use super::{Builder, Object, flag, text};
use crate::base::frozen::List;
use crate::schema::shape::{Access, Extra, Field, ObjectRules, PatternField, Shape};

impl Builder<'_> {
    pub(super) fn object_rules(&mut self, schema: &Object) -> ObjectRules {
        let extra = self.extra(schema, "additionalProperties");
        ObjectRules::read(schema, self.fields(schema, &extra), self.patterns(schema), extra)
    }

    /// Reads the listed fields, then those that are only required.
    fn fields(&mut self, schema: &Object, extra: &Extra) -> List<Field> {
        let listed = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let demanded: HashSet<&str> = required.iter().copied().collect();
        let mut fields: Vec<Field> = self.at("properties", |builder| {
            let field = |(name, schema): (&String, _)| {
                builder.at(name, |builder| builder.field(name, schema, demanded.contains(name.as_str())))
            };
            listed.into_iter().flatten().map(field).collect()
        });
        for name in required {
            if listed.is_none_or(|listed| !listed.contains_key(name)) {
                let shape = if let Extra::Of(shape) = extra { (**shape).clone() } else { Shape::ANY };
                fields.push(Field { name: name.to_owned().into(), shape, ..Field::REQUIRED });
            }
        }
        fields.into()
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool) -> Field {
        let shape = self.shape(schema, name);
        let mut field = Field { name: name.to_owned().into(), required, shape, ..Field::OPTIONAL };
        let Value::Object(schema) = schema else { return field };
        field.access = match (flag(schema, "readOnly"), flag(schema, "writeOnly")) {
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            // Both at once contradict each other, so neither counts.
            _ => Access::Both,
        };
        field.wire = text(schema, "x-wire");
        let aliases = schema.get("x-aliases").and_then(Value::as_array).into_iter().flatten();
        field.aliases = aliases.filter_map(Value::as_str).map(|name| name.to_owned().into()).collect();
        field
    }

    fn patterns(&mut self, schema: &Object) -> List<PatternField> {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        self.at("patternProperties", |builder| {
            let field = |(pattern, schema): (&String, _)| PatternField {
                pattern: pattern.clone().into(),
                shape: builder.at(pattern, |builder| builder.shape(schema, "")),
            };
            patterns.into_iter().flatten().map(field).collect()
        })
    }
}
