//! `oneOf`, `anyOf`, `allOf` and the discriminator.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::context::Context;
use super::super::node::Place;
use super::super::reference::target_of;
use crate::names::portable_key;

/// How deep the values of a discriminator are looked for.
const MAX_SEARCH: usize = 6;

impl<'a> Context<'a> {
    /// `oneOf` and `anyOf`, with the discriminator.
    pub(super) fn unions(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) {
        for key in ["oneOf", "anyOf"] {
            let Some(sources) = self.list_of_schemas(object, place, key) else { continue };
            let mut variants = Vec::with_capacity(sources.len());
            for (index, source) in sources.iter().enumerate() {
                let schema = self.schema(source, &Place::Item(place, key, index));
                variants.push(with_title(schema, source));
            }
            variants.dedup();
            if let Some(discriminator) = self.discriminator(object, sources, &variants) {
                out.insert("discriminator".to_owned(), discriminator);
            }
            let variants = of_listed(variants, out);
            drop_type_of_values(&variants, out);
            out.insert(key.to_owned(), Value::Array(variants));
        }
    }

    fn list_of_schemas(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        key: &str,
    ) -> Option<&'a Vec<Value>> {
        match object.get(key)? {
            Value::Null => None,
            Value::Array(schemas) if schemas.is_empty() => None,
            Value::Array(schemas) => Some(schemas),
            _ => {
                self.schema_problem(place, format!("`{key}` must be a list of schemas; it is ignored"));
                None
            }
        }
    }

    /// The discriminator of a union: the value of the property for each variant that is a reference. OpenAPI takes
    /// names and references in the mapping; a variant that is not mapped goes by the values its own property
    /// allows, or by its name.
    fn discriminator(
        &mut self,
        object: &'a Map<String, Value>,
        sources: &'a [Value],
        variants: &[Value],
    ) -> Option<Value> {
        let given = object.get("discriminator")?;
        let property = given.as_str().or_else(|| given.get("propertyName")?.as_str())?;
        let names: Vec<Option<&str>> = variants
            .iter()
            .map(|variant| variant.get("$ref").and_then(Value::as_str))
            .map(|text| text.and_then(|text| text.strip_prefix("#/$defs/")))
            .collect();
        let mut mapping: BTreeMap<String, String> = BTreeMap::new();
        for (value, target) in given.get("mapping").and_then(Value::as_object).into_iter().flatten() {
            let target = target.as_str().and_then(|text| self.mapped_def(text));
            if let Some(name) = target.filter(|name| names.contains(&Some(name.as_str()))) {
                mapping.insert(value.clone(), name);
            }
        }
        for (source, name) in sources.iter().zip(&names) {
            let (Some(name), Some(text)) = (name, target_of(source)) else { continue };
            if mapping.values().any(|mapped| mapped == name) {
                continue;
            }
            let mut values = Vec::new();
            self.allowed_values(source, property, &mut values, MAX_SEARCH);
            if values.is_empty() {
                values.extend(text.rsplit('/').next().map(str::to_owned));
            }
            for value in values {
                mapping.entry(value).or_insert_with(|| (*name).to_owned());
            }
        }
        let mapping: Map<String, Value> =
            mapping.into_iter().map(|(value, name)| (value, json!(format!("#/$defs/{name}")))).collect();
        Some(json!({"propertyName": portable_key(property), "mapping": mapping}))
    }

    /// What a value of a discriminator's mapping leads to: a reference, or the name of a component.
    fn mapped_def(&mut self, text: &'a str) -> Option<String> {
        if text.contains(['#', '/']) {
            return self.def_of(text).ok();
        }
        let schemas = self.top().get("components")?.get("schemas")?;
        Some(self.add_def(schemas.get(text)?))
    }

    /// The values a schema allows for one of its properties, as texts.
    fn allowed_values(&self, schema: &Value, property: &str, values: &mut Vec<String>, depth: usize) {
        if depth == 0 {
            return;
        }
        if let Some(target) = target_of(schema).and_then(|text| self.locate(text).ok()) {
            return self.allowed_values(target.value, property, values, depth - 1);
        }
        if let Some(field) = schema.get("properties").and_then(|fields| fields.get(property)) {
            let field =
                target_of(field).and_then(|text| self.locate(text).ok()).map_or(field, |node| node.value);
            values.extend(field.get("const").and_then(Value::as_str).map(str::to_owned));
            let listed = field.get("enum").and_then(Value::as_array).into_iter().flatten();
            values.extend(listed.filter_map(Value::as_str).map(str::to_owned));
        }
        if values.is_empty() {
            for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                self.allowed_values(part, property, values, depth - 1);
            }
        }
    }

    /// The schema with what `allOf` adds to it, and unions of one.
    pub(super) fn all_of(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        mut out: Map<String, Value>,
    ) -> Value {
        let mut parts = Vec::new();
        if let Some(sources) = self.list_of_schemas(object, place, "allOf") {
            for (index, source) in sources.iter().enumerate() {
                parts.push(self.schema(source, &Place::Item(place, "allOf", index)));
            }
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(only) =
                out.get(key).and_then(Value::as_array).and_then(|variants| only_variant(variants))
            {
                out.shift_remove(key);
                out.shift_remove("discriminator");
                parts.push(only);
            }
        }
        if parts.is_empty() {
            return Value::Object(out);
        }
        parts.push(Value::Object(out));
        self.intersection(parts)
    }
}

/// What a union is that has one variant, or one and `null`. References stay, as they may not be read yet.
fn only_variant(variants: &[Value]) -> Option<Value> {
    let null = json!({"type": "null"});
    match variants {
        [only] => Some(only.clone()),
        [one, other] if *other == null || *one == null => {
            let value = if *other == null { one } else { other };
            let plain = value.get("type").is_some() && value.get("$ref").is_none();
            plain.then(|| super::nullable(value.clone()))
        }
        _ => None,
    }
}

/// Values listed beside a union of single values choose among its variants, which say what each value means.
fn of_listed(variants: Vec<Value>, out: &mut Map<String, Value>) -> Vec<Value> {
    let listed: Vec<Value> = match (out.get("const"), out.get("enum")) {
        (Some(value), None) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return variants,
    };
    let chosen: Vec<Value> = variants
        .iter()
        .filter(|variant| variant.get("const").is_some_and(|own| listed.contains(own)))
        .cloned()
        .collect();
    let single = variants.iter().all(|variant| variant.get("const").is_some());
    if !single || chosen.len() != listed.len() {
        return variants;
    }
    out.shift_remove("const");
    out.shift_remove("enum");
    chosen
}

/// A type beside single values of that type says nothing.
fn drop_type_of_values(variants: &[Value], out: &mut Map<String, Value>) {
    let Some(Value::String(name)) = out.get("type") else { return };
    let implied = variants.iter().all(|variant| match variant.get("const") {
        Some(Value::String(_)) => name == "string",
        Some(Value::Number(number)) => name == "number" || (name == "integer" && number.is_i64()),
        Some(Value::Bool(_)) => name == "boolean",
        _ => false,
    });
    if implied {
        out.shift_remove("type");
    }
}

/// In a union the title tells variants apart; elsewhere it repeats the key.
fn with_title(mut schema: Value, source: &Value) -> Value {
    let title = source.get("title").and_then(Value::as_str).map(str::trim).filter(|title| !title.is_empty());
    if let (Some(title), Value::Object(object)) = (title, &mut schema)
        && target_of(source).is_none()
        && !object.contains_key("description")
    {
        object.insert("description".to_owned(), Value::from(title));
    }
    schema
}
