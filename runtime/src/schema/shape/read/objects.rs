//! Objects and their fields.

use serde_json::Value;

use super::{Object, Reader};
use crate::base::frozen::{List, Text};
use crate::schema::shape::{Access, Extra, Field, ObjectRules, PatternField, Shape, relations};

impl Reader<'_> {
    pub(super) fn object_rules(&mut self, schema: &Object) -> ObjectRules {
        let extra = self.object_extra(schema);
        let required = self.required(schema);
        let mut fields = self.fields(schema, &required);
        self.add_unlisted(&required, &extra, &mut fields);
        ObjectRules {
            fields: fields.into(),
            patterns: self.patterns(schema),
            extra,
            min_properties: self.count(schema, "minProperties"),
            max_properties: self.count(schema, "maxProperties"),
            relations: relations::read(schema),
        }
    }

    /// `unevaluatedProperties` says the same as `additionalProperties` where nothing else evaluates any.
    fn object_extra(&mut self, schema: &Object) -> Extra {
        if !schema.contains_key("additionalProperties") && unevaluated_is_additional(schema) {
            return self.extra(schema, "unevaluatedProperties");
        }
        self.extra(schema, "additionalProperties")
    }

    fn required<'s>(&mut self, schema: &'s Object) -> Vec<&'s str> {
        let mut names: Vec<&str> = Vec::new();
        match schema.get("required") {
            Some(Value::Array(listed)) => {
                for (index, name) in listed.iter().enumerate() {
                    match name {
                        Value::String(name) if !names.contains(&name.as_str()) => names.push(name),
                        Value::String(_) => {}
                        _ => self.at("required", |reader| {
                            reader.at_index(index, |reader| reader.problem("not a name, so ignored"));
                        }),
                    }
                }
            }
            // The flag of a parameter, or of a property in JSON Schema draft 3; `false` is harmless.
            None | Some(Value::Bool(false)) => {}
            Some(_) => self.problem_at("required", "not a list of names, so ignored"),
        }
        names
    }

    fn fields(&mut self, schema: &Object, required: &[&str]) -> Vec<Field> {
        match schema.get("properties") {
            None => Vec::new(),
            Some(Value::Object(properties)) => self.at("properties", |reader| {
                let field = |(name, schema): (&String, _)| {
                    reader.at(name, |reader| reader.field(name, schema, required.contains(&name.as_str())))
                };
                properties.iter().map(field).collect()
            }),
            Some(_) => {
                self.problem_at("properties", "not an object of schemas, so ignored");
                Vec::new()
            }
        }
    }

    fn field(&mut self, name: &str, schema: &Value, required: bool) -> Field {
        let shape = self.shape(schema, name);
        let mut field = Field { name: name.to_owned().into(), required, shape, ..Field::OPTIONAL };
        let Value::Object(schema) = schema else { return field };
        field.access = match (self.flag(schema, "readOnly"), self.flag(schema, "writeOnly")) {
            (true, false) => Access::ReadOnly,
            (false, true) => Access::WriteOnly,
            // Both at once contradict each other, so neither counts.
            _ => Access::Both,
        };
        field.wire = self.text(schema, "x-wire").unwrap_or_default();
        field.aliases = self.aliases(schema);
        field
    }

    fn aliases(&mut self, schema: &Object) -> List<Text> {
        match schema.get("x-aliases") {
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(|name| name.to_owned().into()).collect()
            }
            Some(_) => {
                self.problem_at("x-aliases", "not a list of names, so ignored");
                List::EMPTY
            }
            None => List::EMPTY,
        }
    }

    /// Required names that `properties` does not list.
    fn add_unlisted(&mut self, required: &[&str], extra: &Extra, fields: &mut Vec<Field>) {
        let listed = fields.len();
        for name in required {
            if fields.iter().take(listed).any(|field| field.name == *name) {
                continue;
            }
            let shape = match extra {
                Extra::Of(shape) => (**shape).clone(),
                Extra::Open => Shape::ANY,
                Extra::Closed => {
                    self.problem_at(
                        "required",
                        format!("`{name}` is required but not listed in `properties`"),
                    );
                    Shape::ANY
                }
            };
            fields.push(Field { name: (*name).to_owned().into(), shape, ..Field::REQUIRED });
        }
    }

    fn patterns(&mut self, schema: &Object) -> List<PatternField> {
        match schema.get("patternProperties") {
            None => List::EMPTY,
            Some(Value::Object(patterns)) => self.at("patternProperties", |reader| {
                let field = |(pattern, schema): (&String, _)| PatternField {
                    pattern: pattern.clone().into(),
                    shape: reader.at(pattern, |reader| reader.shape(schema, "")),
                };
                patterns.iter().map(field).collect()
            }),
            Some(_) => {
                self.problem_at("patternProperties", "not an object of schemas, so ignored");
                List::EMPTY
            }
        }
    }
}

pub(super) fn unevaluated_is_additional(schema: &Object) -> bool {
    const EVALUATE: &[&str] =
        &["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas"];
    let meant = matches!(schema.get("unevaluatedProperties"), Some(Value::Bool(_) | Value::Object(_)));
    meant && !EVALUATE.iter().any(|keyword| schema.contains_key(*keyword))
}
