//! Converts schemas to normal form: known keywords with well-formed values.

mod choices;
mod compose;
mod fields;
mod merge;
mod patterns;
mod regex_translation;
mod type_rules;
mod types;
mod values;

use serde_json::{Map, Value, json};

pub use choices::name_values;
pub use type_rules::types_taken;
pub(super) use types::implied;
pub use values::examples;

use self::types::{Types, allow_null};
use super::description::{plain_markdown, visible};
use super::{MAX_DEPTH, ReadProblem, ReadProblemKind, SchemaLocation, SchemaVersion, Source, within_depth};
use crate::schema::shape::{pointer, rules};

type Object = Map<String, Value>;

/// The annotations: keywords that describe a value without restricting it.
const ANNOTATIONS: [&str; 6] = ["description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

/// Returns a schema in normal form: JSON Schema 2020-12 with known, well-formed keywords and with references to
/// `$defs`. Problems are reported to the source.
#[must_use]
pub fn normal_form<'a, S: Source<'a>>(schema: &'a Value, location: SchemaLocation, source: &mut S) -> Value {
    let SchemaLocation { pointer: path, nesting } = location;
    let rules = source.rules();
    Reader {
        source,
        rules,
        path,
        enclosing_schemas: nesting.schemas,
        merges: nesting.merges,
        depth: 0,
        reported_flag: 0,
    }
    .read_schema(schema)
}

struct Reader<'s, S> {
    source: &'s mut S,
    rules: SchemaVersion,
    path: String,
    /// The number of enclosing schemas in the source.
    enclosing_schemas: usize,
    /// The number of enclosing schemas in this reader.
    depth: usize,
    /// The nesting of merged fields.
    merges: usize,
    /// The address of a field's schema whose `required` is a flag that was already reported.
    reported_flag: usize,
}

/// The required form of a keyword's value.
#[derive(Clone, Copy)]
enum Form {
    Schema,
    /// A schema that is kept as text, see [`Kind::Raw`](crate::schema::shape::Kind::Raw).
    Rule,
    Items,
    List,
    Patterns,
    Dependencies,
    Additional,
    Unevaluated,
    /// The value of a rule.
    Scalar(rules::Form),
    Enum,
    Const,
    Discriminator,
    Reference,
    Verbatim,
}

/// Returns the form of a keyword's value, and the type that the keyword applies to (empty for any type). `None` for
/// keywords without effect, and for keywords that are read together with others.
fn keyword_form(keyword: &str) -> Option<(Form, &'static str)> {
    Some(match keyword {
        "description" | "format" => (Form::Scalar(rules::Form::Text), ""),
        "deprecated" | "readOnly" | "writeOnly" => (Form::Scalar(rules::Form::Flag), ""),
        "enum" => (Form::Enum, ""),
        "const" => (Form::Const, ""),
        "allOf" | "anyOf" | "oneOf" => (Form::List, ""),
        "items" => (Form::Items, "array"),
        "additionalItems" => (Form::Schema, "array"),
        "prefixItems" => (Form::List, "array"),
        "unevaluatedItems" => (Form::Unevaluated, "array"),
        "patternProperties" => (Form::Patterns, "object"),
        "additionalProperties" => (Form::Additional, "object"),
        "unevaluatedProperties" => (Form::Unevaluated, "object"),
        "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "contentSchema" => (Form::Rule, ""),
        "dependentRequired" | "dependentSchemas" | "dependencies" => (Form::Dependencies, ""),
        "minContains" | "maxContains" => (Form::Scalar(rules::Form::Count), ""),
        _ => return rules::keyword(keyword).map(|(owner, keyword)| (Form::Scalar(keyword.form), owner)),
    })
}

/// Like [`keyword_form`], for keywords with their own rules in some formats.
fn json_schema_form(keyword: &str) -> Option<(Form, &'static str)> {
    Some(match keyword {
        "$ref" => (Form::Reference, ""),
        "$dynamicRef" | "$recursiveRef" | "title" | "x-wire" => (Form::Scalar(rules::Form::Text), ""),
        "nullable" => (Form::Scalar(rules::Form::Flag), ""),
        "discriminator" => (Form::Discriminator, ""),
        "x-aliases" | "x-relations" => (Form::Verbatim, ""),
        _ => return None,
    })
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    fn report(&mut self, kind: ReadProblemKind, message: impl Into<String>) {
        let pointer = self.path.clone();
        self.source.report(ReadProblem { pointer, kind, message: message.into() });
    }

    fn report_malformed(&mut self, message: impl Into<String>) {
        self.report(ReadProblemKind::Keyword, message);
    }

    fn at<T>(&mut self, token: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Returns the normal form of any schema.
    fn read_schema(&mut self, schema: &'a Value) -> Value {
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            Value::Object(_) if self.depth >= MAX_DEPTH => {
                let message =
                    format!("schemas are nested more than {MAX_DEPTH} deep; any value is allowed here");
                self.report(ReadProblemKind::Depth, message);
                json!({})
            }
            Value::Object(object) => {
                self.depth += 1;
                let schema = self.read_object_schema(object);
                self.depth -= 1;
                schema
            }
            _ => {
                let message = "a schema must be an object; any value is allowed here";
                self.report(ReadProblemKind::NotASchema, message);
                json!({})
            }
        }
    }

    fn read_object_schema(&mut self, object: &'a Object) -> Value {
        if !self.rules.is_openapi() {
            return Value::Object(self.read_keywords(object));
        }
        let reference = object.get("$ref").and_then(Value::as_str);
        if reference.is_none() && object.contains_key("$ref") {
            self.at("$ref", |reader| reader.report_malformed("`$ref` must be a string; it is ignored"));
        }
        let schema = match reference.or_else(|| object.get("$dynamicRef")?.as_str()) {
            Some(text) => self.read_reference(text, object),
            None => self.compose(object),
        };
        let Value::Object(mut schema) = schema else { return schema };
        if self.is_nullable(object) {
            allow_null(&mut schema);
        }
        compose::keep_title(&mut schema, object);
        self.name_values(&mut schema, object);
        Value::Object(schema)
    }

    /// Whether a schema allows `null` with its own keywords.
    fn is_nullable(&self, object: &Object) -> bool {
        let is_set = |keyword: &str| object.get(keyword) == Some(&Value::Bool(true));
        is_set("nullable") || (self.rules == SchemaVersion::Swagger2 && is_set("x-nullable"))
    }

    /// Reads a reference and the keywords next to it.
    fn read_reference(&mut self, text: &'a str, object: &'a Object) -> Value {
        let mut out = Object::new();
        if let Some(name) = self.source.name_of(text, &self.path) {
            out.insert("$ref".to_owned(), pointer::reference(&name).into());
            let declares_access =
                ["readOnly", "writeOnly"].iter().any(|keyword| object.contains_key(*keyword));
            if let Some(keyword) = self.source.access_keyword(&name).filter(|_| !declares_access) {
                out.insert(keyword.to_owned(), Value::Bool(true));
            }
        }
        let has_rules = object.iter().any(|(key, value)| {
            let is_keyword =
                keyword_form(key).is_some() || matches!(key.as_str(), "type" | "properties" | "required");
            is_keyword && !value.is_null() && !ANNOTATIONS.contains(&key.as_str())
        });
        let extends_base = self.source.is_heir(&self.path);
        if self.rules == SchemaVersion::OpenApi31 && (has_rules || extends_base) {
            let composed = self.compose(object);
            return self.join(vec![Value::Object(out), composed], extends_base);
        }
        // OpenAPI 3.0 and Swagger 2.0 ignore everything next to a reference, but annotations are always intended.
        for (keyword, value) in object.iter().filter(|(keyword, _)| ANNOTATIONS.contains(&keyword.as_str())) {
            self.read_keyword(keyword, value, object, &Types::new(), &mut out);
        }
        self.read_values(object, &Types::new(), &mut out);
        if extends_base { self.join(vec![Value::Object(out)], true) } else { Value::Object(out) }
    }

    /// Reads the keywords of a schema, without those that apply to other types.
    fn read_keywords(&mut self, object: &'a Object) -> Object {
        let mut out = Object::new();
        let types = self.read_types(object, &mut out);
        for (keyword, value) in object {
            self.read_keyword(keyword, value, object, &types, &mut out);
        }
        if types.is_empty() || types.contains(&"object") {
            self.read_fields(object, &mut out);
        }
        // `allOf` in an API description is merged first.
        if !self.rules.is_openapi() || !out.contains_key("allOf") {
            self.distribute_type_rules(&mut out);
        }
        self.read_values(object, &types, &mut out);
        out
    }

    fn read_keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        object: &'a Object,
        types: &Types,
        out: &mut Object,
    ) {
        let json_schema_only = || json_schema_form(keyword).filter(|_| !self.rules.is_openapi());
        let Some((form, type_name)) = keyword_form(keyword).or_else(json_schema_only) else { return };
        let applies_to_other_type =
            !type_name.is_empty() && !types.is_empty() && !types::includes(types, type_name);
        if applies_to_other_type || (value.is_null() && !matches!(form, Form::Const)) {
            return;
        }
        let length = self.path.len();
        pointer::push(&mut self.path, keyword);
        let mut name = keyword;
        let normal_value = match form {
            Form::Schema => Some(self.read_schema(value)),
            Form::Rule => self.read_raw_rule(keyword, value),
            Form::Items => self.read_items(value),
            Form::List => self.read_schemas(keyword, value),
            Form::Patterns => self.read_patterns(value),
            Form::Dependencies => self.read_dependencies(keyword, value),
            Form::Additional => self.read_additional(value, object),
            Form::Unevaluated => self.read_unevaluated(&mut name, value, object),
            Form::Scalar(form) => self.read_rule_value(form, &mut name, value, object),
            Form::Enum => self.read_enum(value, types, out),
            Form::Const => self.read_literals(std::slice::from_ref(value), types).pop(),
            Form::Discriminator => self.read_plain_discriminator(value),
            Form::Reference => self.read_plain_reference(value),
            Form::Verbatim => Some(value.clone()),
        };
        self.path.truncate(length);
        if let Some(normal_value) = normal_value {
            out.insert(name.to_owned(), normal_value);
        }
    }

    /// Reads a value of a form, and renames an exclusive bound.
    fn read_rule_value(
        &mut self,
        form: rules::Form,
        keyword: &mut &str,
        value: &Value,
        object: &Object,
    ) -> Option<Value> {
        match form {
            rules::Form::Count => self.read_count(keyword, value),
            rules::Form::Flag => self.read_flag(keyword, value),
            rules::Form::Text => self.read_text(keyword, value),
            rules::Form::Pattern => self.read_pattern(value),
            rules::Form::Number => self.read_number(keyword, value).map(Value::Number),
            rules::Form::Limit => self.read_limit(keyword, value, object),
            rules::Form::Step => self.read_step(keyword, value),
        }
    }

    /// Reads a schema that is kept as text.
    fn read_raw_rule(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        if !value.is_object() && !value.is_boolean() {
            self.report_malformed(format!("`{keyword}` must be a schema; it is ignored"));
            return None;
        }
        let schema = if self.is_too_deep(value) { return None } else { self.read_schema(value) };
        // All keys are strings.
        (keyword != "propertyNames" || schema != json!({"type": "string"})).then_some(schema)
    }

    /// Whether a value is nested too deeply. If so, a problem is reported.
    fn is_too_deep(&mut self, value: &Value) -> bool {
        let is_too_deep = !within_depth(value, MAX_DEPTH);
        if is_too_deep {
            let message = format!("the value is nested more than {MAX_DEPTH} levels deep; it is left out");
            self.report(ReadProblemKind::Depth, message);
        }
        is_too_deep
    }

    /// Reads `items`. An array of schemas is a tuple (JSON Schema before 2020-12).
    fn read_items(&mut self, value: &'a Value) -> Option<Value> {
        if value.is_array() { self.read_schemas("items", value) } else { Some(self.read_schema(value)) }
    }

    /// Reads an array of schemas, unless it is empty.
    fn read_schemas(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        let Value::Array(schemas) = value else {
            self.report_malformed(format!("`{keyword}` must be an array of schemas; it is ignored"));
            return None;
        };
        let read_item =
            |(index, schema): (usize, _)| self.at(&index.to_string(), |reader| reader.read_schema(schema));
        let schemas: Vec<Value> = schemas.iter().enumerate().map(read_item).collect();
        (!schemas.is_empty()).then_some(Value::Array(schemas))
    }

    /// Returns an object whose keys are those of the data.
    fn expect_object(&mut self, keyword: &str, value: &'a Value) -> Option<&'a Object> {
        match value {
            Value::Object(members) => Some(members),
            // Some languages serialize an empty map like this.
            Value::Array(items) if items.is_empty() && self.rules.is_openapi() => None,
            _ => {
                self.report_malformed(format!("`{keyword}` must be an object; it is ignored"));
                None
            }
        }
    }

    /// Reads a dependency on a key: other keys, or a schema.
    fn read_dependencies(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        if self.is_too_deep(value) {
            return None;
        }
        let rules = self.expect_object(keyword, value)?;
        let dependent_keys = rules.values().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        let names = self.source.keys(&mut rules.keys().map(String::as_str).chain(dependent_keys));
        let name_of = |key: &str| names.get(key).map_or(key, String::as_str).to_owned();
        let mut dependencies = Object::new();
        for (key, rule) in rules {
            let rule = match rule {
                Value::Array(keys) => keys.iter().filter_map(Value::as_str).map(name_of).collect(),
                schema => self.at(key, |reader| reader.read_schema(schema)),
            };
            dependencies.insert(name_of(key), rule);
        }
        Some(Value::Object(dependencies))
    }

    /// Reads a string, unless it is empty.
    fn read_text(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let Value::String(text) = value else {
            self.report_malformed(format!("`{keyword}` must be a string; it is left out"));
            return None;
        };
        let text = match keyword {
            "description" if self.rules.is_openapi() => plain_markdown(text),
            "description" => visible(text.trim()),
            _ => text.into(),
        };
        (!text.is_empty()).then(|| Value::from(text))
    }

    /// Reads a flag, if it is set.
    fn read_flag(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let Value::Bool(flag) = value else {
            self.report_malformed(format!("`{keyword}` must be true or false; it is ignored"));
            return None;
        };
        flag.then_some(Value::Bool(true))
    }

    /// Reads a reference to a schema under `$defs`. Any other reference is kept and shown.
    fn read_plain_reference(&mut self, value: &Value) -> Option<Value> {
        let Value::String(reference) = value else {
            self.report_malformed("`$ref` must be a string; it is ignored");
            return None;
        };
        if let Some(name) = pointer::referenced(reference) {
            return Some(pointer::reference(&name).into());
        }
        let message = format!("`{reference}` does not name a schema under `#/$defs/`");
        self.report(ReadProblemKind::Reference, message);
        Some(value.clone())
    }
}
