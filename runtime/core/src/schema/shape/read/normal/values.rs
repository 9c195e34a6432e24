//! Reads values, numbers and counts.

use serde_json::{Number, Value, json};

use super::types::{self, Types};
use super::{Object, Reader};
use crate::base::frozen::List;
use crate::base::json::{to_integer, type_name};
use crate::schema::shape::coercion::{self, coerce_value};
use crate::schema::shape::read::{ReadProblemKind, Source, build};
use crate::schema::shape::{Literal, Shape, pointer, prose};

/// Maximum length of an example in an API description, as JSON, in bytes. Longer examples cost a model more than they
/// help.
const MAX_EXAMPLE: usize = 512;

/// Maximum length of a default that is stated in the description, in bytes.
const MAX_DEFAULT_NOTE_BYTES: usize = 80;

/// Maximum number of examples per schema.
const MAX_EXAMPLES: usize = 3;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `enum`.
    pub(super) fn read_enum(&mut self, value: &Value, types: &Types, out: &mut Object) -> Option<Value> {
        let Some(values) = value.as_array().filter(|values| !values.is_empty()) else {
            self.report_malformed("`enum` must be an array with values; it is ignored");
            return None;
        };
        let values = self.read_literals(values, types);
        // OpenAPI 3.0 documents list `null` instead of setting `nullable`.
        if self.rules.is_openapi()
            && !types.is_empty()
            && !types.contains(&"null")
            && values.contains(&Value::Null)
        {
            types::write_types(&[types.as_slice(), &["null"]].concat(), out);
        }
        (!values.is_empty()).then_some(Value::Array(values))
    }

    /// Moves enumerated values of an array that are not arrays to its items: `{type: array, enum: [a, b]}` means
    /// arrays of these values.
    fn move_enum_to_items(&mut self, types: &Types, out: &mut Object) {
        let is_array = types.contains(&"array") && types.iter().all(|name| ["array", "null"].contains(name));
        let Some(Value::Array(values)) = out.get("enum").filter(|_| is_array) else { return };
        let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        if values.is_empty() || values.iter().any(Value::is_array) {
            return;
        }
        out.shift_remove("enum");
        // Items with their own rules stay unchanged.
        let value_keywords = ["enum", "const", "$ref", "allOf", "anyOf", "oneOf"];
        let message = match out.entry("items").or_insert_with(|| json!({})) {
            Value::Object(items) if !value_keywords.iter().any(|keyword| items.contains_key(*keyword)) => {
                let values =
                    self.at("enum", |reader| reader.read_literals(&values, &types::declared_types(items)));
                items.insert("enum".to_owned(), Value::Array(values));
                "lists values that are not arrays, read as those of `items`"
            }
            _ => "lists values that are not arrays; they are left out, since `items` lists the values",
        };
        self.at("enum", |reader| reader.report(ReadProblemKind::Values, message));
    }

    /// Reads the values of `enum` and `const`, each converted to one of the types if that is obviously intended.
    pub(super) fn read_literals(&mut self, values: &[Value], types: &Types) -> Vec<Value> {
        let mut literals = Vec::with_capacity(values.len());
        let mut is_changed = false;
        for (index, value) in values.iter().enumerate() {
            if self.is_too_deep(value) {
                continue;
            }
            let is_listed = self.path.ends_with("/enum");
            let location = if is_listed { format!("{}/{index}", self.path) } else { self.path.clone() };
            let source_value = self.as_string(value, &location, types);
            let converted = as_declared_type(&source_value, types).unwrap_or(source_value);
            is_changed |= converted != *value;
            literals.push(converted);
        }
        if is_changed {
            let message = "lists values of another type, read as the type that `type` names";
            self.report(ReadProblemKind::Values, message);
        }
        literals
    }

    /// Returns a number as the document writes it, if only a string is allowed: version `1.10` must not become `1.1`.
    fn as_string(&self, value: &Value, pointer: &str, types: &Types) -> Value {
        let is_string_only = types.contains(&"string") && !types.contains(&type_name(value));
        let source_text = (is_string_only && self.rules.is_openapi())
            .then(|| self.source.written(value, pointer))
            .flatten();
        source_text.map_or_else(|| value.clone(), Value::String)
    }

    /// Returns a value with all its numbers as the document writes them.
    fn as_written(&self, value: &Value, pointer: &str) -> Value {
        match value {
            Value::Array(items) => {
                let convert = |(index, item)| self.as_written(item, &format!("{pointer}/{index}"));
                items.iter().enumerate().map(convert).collect()
            }
            Value::Object(members) => {
                let convert = |(key, member): (&String, &Value)| {
                    let mut pointer = pointer.to_owned();
                    pointer::push(&mut pointer, key);
                    (key.clone(), self.as_written(member, &pointer))
                };
                members.iter().map(convert).collect()
            }
            scalar => self.source.written(scalar, pointer).map_or_else(|| scalar.clone(), Value::String),
        }
    }

    /// Returns the intended value of a default or an example in an API description: the value itself, or a conversion
    /// if it does not have the type of its schema.
    fn intended_value(&self, value: &Value, pointer: &str, types: &Types, shape: &Shape) -> Value {
        if invalid_reason(value, shape).is_some() {
            let source_value = self.as_written(value, pointer);
            if source_value != *value {
                let suggestion = coerce_example(&source_value, types, shape);
                if invalid_reason(&suggestion, shape).is_none() {
                    return suggestion;
                }
            }
        }
        coerce_example(value, types, shape)
    }

    /// Reads `default` and the examples, and checks them against the rest of the schema. Names the encoding of bytes.
    pub(super) fn read_values(&mut self, object: &'a Object, types: &Types, out: &mut Object) {
        if self.rules.is_openapi() {
            types::name_encoding(types, out);
            self.move_enum_to_items(types, out);
        }
        if !["default", "example", "examples"].iter().any(|keyword| object.contains_key(*keyword)) {
            return;
        }
        let rules = out.get("$ref").and_then(Value::as_str).and_then(|text| self.resolve_chain(text));
        let types = &rules.as_ref().map_or_else(|| types.clone(), types::declared_types);
        let rules = Value::Object(rules.unwrap_or_else(|| out.clone()));
        let shape = build::shape(&rules, String::new(), "", &mut Vec::new());
        if let Some(value) = object.get("default")
            && let Some(value) =
                self.at("default", |reader| reader.read_default(value, object, types, out, &shape))
        {
            out.insert("default".to_owned(), value);
        } else if let Some(default) = object.get("default").filter(|_| self.rules.is_openapi()) {
            note_default(default, out);
        }
        let examples = self.read_examples(object, types, &shape);
        if !examples.is_empty() {
            out.insert("examples".to_owned(), Value::Array(examples));
        }
    }

    /// Returns the named schema at the end of a chain of references, unless it is being read.
    fn resolve_chain(&mut self, reference: &str) -> Option<Object> {
        let mut target = self.resolve_named(reference)?;
        // A named schema may only be an alias of the next.
        for _ in 0..8 {
            let Some(next) = target.get("$ref").and_then(Value::as_str) else { return Some(target) };
            target = self.resolve_named(next)?;
        }
        None
    }

    /// Reads the examples that are valid under their schema.
    fn read_examples(&mut self, object: &'a Object, types: &Types, shape: &Shape) -> Vec<Value> {
        let is_openapi = self.rules.is_openapi();
        let is_useful = |(_, value): &(usize, &Value)| {
            !is_openapi || (!value.is_null() && value.to_string().len() <= MAX_EXAMPLE)
        };
        let candidates: Vec<(usize, &Value)> =
            examples(object).into_iter().enumerate().filter(is_useful).collect();
        let keyword = if object.contains_key("example") { "example" } else { "examples" };
        self.at(keyword, |reader| {
            if object
                .get("examples")
                .is_some_and(|examples| !matches!(examples, Value::Array(_) | Value::Object(_) | Value::Null))
            {
                reader.report_malformed("`examples` must be an array; it is left out");
            }
            let mut valid_examples = Vec::new();
            for (index, value) in candidates {
                let location = match keyword {
                    "examples" => format!("{}/{index}", reader.path),
                    _ => reader.path.clone(),
                };
                let value = if is_openapi {
                    reader.intended_value(value, &location, types, shape)
                } else {
                    value.clone()
                };
                if reader.is_too_deep(&value) {
                    continue;
                }
                match invalid_reason(&value, shape) {
                    None => valid_examples.push(value),
                    Some(reason) => reader.report_omitted("example", &value, &reason),
                }
            }
            valid_examples.truncate(if is_openapi { MAX_EXAMPLES } else { usize::MAX });
            valid_examples
        })
    }

    fn read_default(
        &mut self,
        value: &Value,
        object: &Object,
        types: &Types,
        out: &Object,
        shape: &Shape,
    ) -> Option<Value> {
        if self.is_too_deep(value) {
            return None;
        }
        if value.is_null() {
            // `default: null`, where null is not allowed, means that there is no default.
            let types_with_null = out.get("type").and_then(Value::as_array);
            let lists_null = types_with_null.is_some_and(|types| types.contains(&json!("null")));
            let is_openapi = self.rules.is_openapi();
            let nullable = lists_null || types.contains(&"null") || self.is_nullable(object);
            let is_allowed = nullable || !is_openapi && invalid_reason(value, shape).is_none();
            return is_allowed.then_some(Value::Null);
        }
        let suggestion = match self.rules.is_openapi() {
            true => self.intended_value(value, &self.path, types, shape),
            false => value.clone(),
        };
        match invalid_reason(&suggestion, shape) {
            None => Some(suggestion),
            Some(reason) => {
                self.report_omitted("default", value, &reason);
                None
            }
        }
    }

    fn report_omitted(&mut self, what: &str, value: &Value, reason: &str) {
        let value = prose::value(&Literal::of(value));
        let message = format!("the {what} {value} does not fit: {reason}; it is left out");
        self.report(ReadProblemKind::Default, message);
    }

    /// Reads a count: a whole number, not negative.
    pub(super) fn read_count(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let count = match value {
            Value::Number(number) => {
                number.as_u64().or_else(|| u64::try_from(to_integer(number.as_f64()?)?).ok())
            }
            Value::String(text) if self.rules.is_openapi() => text.trim().parse().ok(),
            _ => None,
        };
        if count.is_none() {
            self.report_malformed(format!("`{keyword}` must be a count, not {value}; it is ignored"));
        }
        count.map(Value::from)
    }

    pub(super) fn read_number(&mut self, keyword: &str, value: &Value) -> Option<Number> {
        match value {
            Value::Number(number) => Some(number.clone()),
            // The flag belongs to the bound next to it.
            Value::Bool(_) if keyword.starts_with("exclusive") => None,
            Value::String(text)
                if self.rules.is_openapi() && text.parse::<f64>().is_ok_and(f64::is_finite) =>
            {
                serde_json::from_str(text.trim()).ok()
            }
            other => {
                self.report_malformed(format!("`{keyword}` must be a number, not {other}; it is ignored"));
                None
            }
        }
    }

    /// Reads a bound. In JSON Schema draft 4 and OpenAPI 3.0 `exclusiveMinimum: true` makes `minimum` exclusive.
    pub(super) fn read_limit(&mut self, keyword: &mut &str, value: &Value, object: &Object) -> Option<Value> {
        let limit = self.read_number(keyword, value)?;
        let exclusive = if *keyword == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
        if object.get(exclusive) == Some(&Value::Bool(true)) {
            *keyword = exclusive;
        }
        Some(Value::Number(limit))
    }

    pub(super) fn read_step(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let step = self.read_number(keyword, value)?;
        if step.as_f64().is_some_and(|step| step > 0.0) {
            return Some(Value::Number(step));
        }
        self.report_malformed(format!("`{keyword}` must be greater than zero; it is ignored"));
        None
    }

    /// Reads a discriminator whose mapping points to schemas under `$defs`.
    pub(super) fn read_plain_discriminator(&mut self, value: &Value) -> Option<Value> {
        let Some(property @ Value::String(_)) = value.get("propertyName") else {
            self.report_malformed("`discriminator` needs a `propertyName`; it is ignored");
            return None;
        };
        let mut valid_mapping = Object::new();
        match value.get("mapping") {
            None => {}
            Some(Value::Object(mapping)) => self.at("mapping", |reader| {
                for (value, target) in mapping {
                    if target.as_str().and_then(pointer::referenced).is_some() {
                        valid_mapping.insert(value.clone(), target.clone());
                    } else {
                        let message = "does not name a schema under `#/$defs/`; it is ignored";
                        reader.at(value, |reader| reader.report(ReadProblemKind::Reference, message));
                    }
                }
            }),
            Some(_) => self.report_malformed("`mapping` must be an object; it is ignored"),
        }
        Some(json!({"propertyName": property, "mapping": valid_mapping}))
    }
}

/// Like [`coercion::invalid_reason`]. The targets of references are not known yet.
fn invalid_reason(value: &Value, shape: &Shape) -> Option<String> {
    coercion::invalid_reason(value, shape, &List::EMPTY)
}

/// States in the description which default the service uses, if it is not a value to send.
fn note_default(value: &Value, out: &mut Object) {
    let default = match value {
        Value::String(text) if !text.trim().is_empty() => text.trim(),
        Value::Number(_) | Value::Bool(_) => &value.to_string(),
        _ => return,
    };
    let message = out.get("description").and_then(Value::as_str).unwrap_or_default();
    if default.len() <= MAX_DEFAULT_NOTE_BYTES && !message.contains(default) {
        let description = prose::describe(message, &[format!("the default of the service: {default}")]);
        out.insert("description".to_owned(), description.into());
    }
}

/// Returns the intended value of a default or an example: the value itself, or a conversion if it does not have the
/// type that its schema names.
fn coerce_example(value: &Value, types: &Types, shape: &Shape) -> Value {
    let converted = as_declared_type(value, types).unwrap_or_else(|| value.clone());
    if invalid_reason(&converted, shape).is_none() {
        return converted;
    }
    coerce_value(value, shape, &List::EMPTY).unwrap_or(converted)
}

/// Returns the value if it has one of the types, or else an obvious conversion: `"10"` to an integer, YAML's `true`
/// to a string. Without types, any value is returned.
fn as_declared_type(value: &Value, types: &Types) -> Option<Value> {
    let has_type = |name: &str| types.contains(&name);
    let is_integer = |value: &Value| value.as_f64().is_some_and(|number| number.fract() == 0.0);
    if types.is_empty() || has_type(type_name(value)) || (has_type("integer") && is_integer(value)) {
        return Some(value.clone());
    }
    match value {
        Value::Bool(_) | Value::Number(_) if has_type("string") => Some(Value::String(value.to_string())),
        Value::String(text) => {
            let parsed: Value = serde_json::from_str(text.trim()).ok()?;
            let is_scalar = parsed.is_number() || parsed.is_boolean();
            if is_scalar { as_declared_type(&parsed, types) } else { None }
        }
        _ => None,
    }
}

/// Returns the examples of a schema or a parameter: `example`, `examples` as JSON Schema's array or as OpenAPI's map.
#[must_use]
pub fn examples(object: &Object) -> Vec<&Value> {
    let mut all: Vec<&Value> = object.get("example").into_iter().collect();
    match object.get("examples") {
        Some(Value::Array(values)) => all.extend(values),
        Some(Value::Object(by_name)) => {
            all.extend(by_name.values().filter_map(|example| example.get("value")));
        }
        _ => {}
    }
    all
}
