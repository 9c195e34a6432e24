//! Converts schemas to normal form: known keywords with well-formed values.

mod beside;
mod choices;
mod compose;
mod fields;
mod merge;
mod patterns;
mod regex_translation;
mod types;
mod values;

use serde_json::{Map, Value, json};

pub use beside::types_taken;
pub use choices::name_values;
pub(super) use types::implied;
pub use values::examples;

use self::types::{Types, allow_null};
use super::description::{plain_markdown, visible};
use super::{MAX_DEPTH, ReadProblem, ReadProblemKind, SchemaLocation, SchemaVersion, Source, within_depth};
use crate::schema::shape::{pointer, rules};

type Object = Map<String, Value>;

/// The annotations: keywords that describe a value without restricting it.
const REMARKS: [&str; 6] = ["description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

/// Returns a schema in normal form: JSON Schema 2020-12 with known, well-formed keywords and with references to
/// `$defs`. Problems are reported to the source.
#[must_use]
pub fn normal_form<'a, S: Source<'a>>(schema: &'a Value, location: SchemaLocation, source: &mut S) -> Value {
    let SchemaLocation { pointer: path, nesting } = location;
    let rules = source.rules();
    Reader { source, rules, path, outer: nesting.schemas, merges: nesting.merges, depth: 0, flagged: 0 }
        .schema(schema)
}

struct Reader<'s, S> {
    source: &'s mut S,
    rules: SchemaVersion,
    path: String,
    /// The number of open schemas in the source.
    outer: usize,
    /// The number of open schemas in this reader.
    depth: usize,
    /// The nesting of merged fields.
    merges: usize,
    /// The address of a field's schema whose `required` is a flag and was already reported.
    flagged: usize,
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
    Of(rules::Form),
    Enum,
    Const,
    Discriminator,
    Reference,
    AsIs,
}

/// Returns the form of a keyword's value, and the type that the keyword applies to (empty for any). `None` for
/// keywords without effect, and for those that are read together with others.
fn form(keyword: &str) -> Option<(Form, &'static str)> {
    Some(match keyword {
        "description" | "format" => (Form::Of(rules::Form::Text), ""),
        "deprecated" | "readOnly" | "writeOnly" => (Form::Of(rules::Form::Flag), ""),
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
        "minContains" | "maxContains" => (Form::Of(rules::Form::Count), ""),
        _ => return rules::keyword(keyword).map(|(of, keyword)| (Form::Of(keyword.form), of)),
    })
}

/// Like [`form`], for keywords with their own rules in some formats.
fn plain_form(keyword: &str) -> Option<(Form, &'static str)> {
    Some(match keyword {
        "$ref" => (Form::Reference, ""),
        "$dynamicRef" | "$recursiveRef" | "title" | "x-wire" => (Form::Of(rules::Form::Text), ""),
        "nullable" => (Form::Of(rules::Form::Flag), ""),
        "discriminator" => (Form::Discriminator, ""),
        "x-aliases" | "x-relations" => (Form::AsIs, ""),
        _ => return None,
    })
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    fn problem(&mut self, kind: ReadProblemKind, message: impl Into<String>) {
        let pointer = self.path.clone();
        self.source.report(ReadProblem { pointer, kind, message: message.into() });
    }

    fn malformed(&mut self, message: impl Into<String>) {
        self.problem(ReadProblemKind::Keyword, message);
    }

    fn at<T>(&mut self, token: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Returns the normal form of any schema.
    fn schema(&mut self, schema: &'a Value) -> Value {
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => Value::Bool(false),
            Value::Object(_) if self.depth >= MAX_DEPTH => {
                let message =
                    format!("schemas are nested more than {MAX_DEPTH} deep; any value is allowed here");
                self.problem(ReadProblemKind::Depth, message);
                json!({})
            }
            Value::Object(object) => {
                self.depth += 1;
                let schema = self.object_schema(object);
                self.depth -= 1;
                schema
            }
            _ => {
                let message = "a schema must be an object; any value is allowed here";
                self.problem(ReadProblemKind::NotASchema, message);
                json!({})
            }
        }
    }

    fn object_schema(&mut self, object: &'a Object) -> Value {
        if !self.rules.is_openapi() {
            return Value::Object(self.keywords(object));
        }
        let reference = object.get("$ref").and_then(Value::as_str);
        if reference.is_none() && object.contains_key("$ref") {
            self.at("$ref", |reader| reader.malformed("`$ref` must be a string; it is ignored"));
        }
        let whole = match reference.or_else(|| object.get("$dynamicRef")?.as_str()) {
            Some(text) => self.reference(text, object),
            None => self.composed(object),
        };
        let Value::Object(mut whole) = whole else { return whole };
        if self.is_nullable(object) {
            allow_null(&mut whole);
        }
        compose::entitle(&mut whole, object);
        self.name_values(&mut whole, object);
        Value::Object(whole)
    }

    /// Whether a schema allows `null` with its own keywords.
    fn is_nullable(&self, object: &Object) -> bool {
        let says = |keyword: &str| object.get(keyword) == Some(&Value::Bool(true));
        says("nullable") || (self.rules == SchemaVersion::Swagger2 && says("x-nullable"))
    }

    /// Reads a reference and the keywords next to it.
    fn reference(&mut self, text: &'a str, object: &'a Object) -> Value {
        let mut out = Object::new();
        if let Some(name) = self.source.name_of(text, &self.path) {
            out.insert("$ref".to_owned(), pointer::reference(&name).into());
            let says = ["readOnly", "writeOnly"].iter().any(|keyword| object.contains_key(*keyword));
            if let Some(keyword) = self.source.one_way(&name).filter(|_| !says) {
                out.insert(keyword.to_owned(), Value::Bool(true));
            }
        }
        let rules = object.iter().any(|(key, value)| {
            let known = form(key).is_some() || matches!(key.as_str(), "type" | "properties" | "required");
            known && !value.is_null() && !REMARKS.contains(&key.as_str())
        });
        let extends = self.source.is_heir(&self.path);
        if self.rules == SchemaVersion::OpenApi31 && (rules || extends) {
            let beside = self.composed(object);
            return self.joined(vec![Value::Object(out), beside], extends);
        }
        // OpenAPI 3.0 and Swagger 2.0 ignore everything next to a reference, but annotations are always intended.
        for (keyword, value) in object.iter().filter(|(keyword, _)| REMARKS.contains(&keyword.as_str())) {
            self.keyword(keyword, value, object, &Types::new(), &mut out);
        }
        self.values(object, &Types::new(), &mut out);
        if extends { self.joined(vec![Value::Object(out)], true) } else { Value::Object(out) }
    }

    /// Reads the keywords of a schema, without those that apply to other types.
    fn keywords(&mut self, object: &'a Object) -> Object {
        let mut out = Object::new();
        let types = self.types(object, &mut out);
        for (keyword, value) in object {
            self.keyword(keyword, value, object, &types, &mut out);
        }
        if types.is_empty() || types.contains(&"object") {
            self.fields(object, &mut out);
        }
        // `allOf` in an API description is merged first.
        if !self.rules.is_openapi() || !out.contains_key("allOf") {
            self.settle(&mut out);
        }
        self.values(object, &types, &mut out);
        out
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &'a Value,
        object: &'a Object,
        types: &Types,
        out: &mut Object,
    ) {
        let plain = || plain_form(keyword).filter(|_| !self.rules.is_openapi());
        let Some((form, of)) = form(keyword).or_else(plain) else { return };
        let other_type = !of.is_empty() && !types.is_empty() && !types::includes(types, of);
        if other_type || (value.is_null() && !matches!(form, Form::Const)) {
            return;
        }
        let length = self.path.len();
        pointer::push(&mut self.path, keyword);
        let mut name = keyword;
        let read = match form {
            Form::Schema => Some(self.schema(value)),
            Form::Rule => self.rule(keyword, value),
            Form::Items => self.items(value),
            Form::List => self.list(keyword, value),
            Form::Patterns => self.patterns(value),
            Form::Dependencies => self.dependencies(keyword, value),
            Form::Additional => self.additional(value, object),
            Form::Unevaluated => self.unevaluated(&mut name, value, object),
            Form::Of(form) => self.value(form, &mut name, value, object),
            Form::Enum => self.listed(value, types, out),
            Form::Const => self.literals(std::slice::from_ref(value), types).pop(),
            Form::Discriminator => self.plain_discriminator(value),
            Form::Reference => self.plain_reference(value),
            Form::AsIs => Some(value.clone()),
        };
        self.path.truncate(length);
        if let Some(read) = read {
            out.insert(name.to_owned(), read);
        }
    }

    /// Reads a value of a form, and renames an exclusive bound.
    fn value(
        &mut self,
        form: rules::Form,
        keyword: &mut &str,
        value: &Value,
        object: &Object,
    ) -> Option<Value> {
        match form {
            rules::Form::Count => self.count(keyword, value),
            rules::Form::Flag => self.flag(keyword, value),
            rules::Form::Text => self.text(keyword, value),
            rules::Form::Pattern => self.pattern(value),
            rules::Form::Number => self.number(keyword, value).map(Value::Number),
            rules::Form::Limit => self.limit(keyword, value, object),
            rules::Form::Step => self.step(keyword, value),
        }
    }

    /// Reads a schema that is kept as text.
    fn rule(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        if !value.is_object() && !value.is_boolean() {
            self.malformed(format!("`{keyword}` must be a schema; it is ignored"));
            return None;
        }
        let schema = if self.too_deep(value) { return None } else { self.schema(value) };
        // All keys are strings.
        (keyword != "propertyNames" || schema != json!({"type": "string"})).then_some(schema)
    }

    /// Whether a value is nested too deeply. Reports it if so.
    fn too_deep(&mut self, value: &Value) -> bool {
        let deep = !within_depth(value, MAX_DEPTH);
        if deep {
            let message = format!("the value is nested more than {MAX_DEPTH} levels deep; it is left out");
            self.problem(ReadProblemKind::Depth, message);
        }
        deep
    }

    /// Reads `items`. An array of schemas is a tuple (JSON Schema before 2020-12).
    fn items(&mut self, value: &'a Value) -> Option<Value> {
        if value.is_array() { self.list("items", value) } else { Some(self.schema(value)) }
    }

    /// Reads an array of schemas, unless it is empty.
    fn list(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        let Value::Array(schemas) = value else {
            self.malformed(format!("`{keyword}` must be an array of schemas; it is ignored"));
            return None;
        };
        let read = |(index, schema): (usize, _)| self.at(&index.to_string(), |reader| reader.schema(schema));
        let schemas: Vec<Value> = schemas.iter().enumerate().map(read).collect();
        (!schemas.is_empty()).then_some(Value::Array(schemas))
    }

    /// Returns an object whose keys are those of the data.
    fn map(&mut self, keyword: &str, value: &'a Value) -> Option<&'a Object> {
        match value {
            Value::Object(members) => Some(members),
            // Some languages serialize an empty map like this.
            Value::Array(items) if items.is_empty() && self.rules.is_openapi() => None,
            _ => {
                self.malformed(format!("`{keyword}` must be an object; it is ignored"));
                None
            }
        }
    }

    /// Reads a dependency on a key: other keys, or a schema.
    fn dependencies(&mut self, keyword: &str, value: &'a Value) -> Option<Value> {
        if self.too_deep(value) {
            return None;
        }
        let rules = self.map(keyword, value)?;
        let listed = rules.values().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        let names = self.source.keys(&mut rules.keys().map(String::as_str).chain(listed));
        let name_of = |key: &str| names.get(key).map_or(key, String::as_str).to_owned();
        let mut read = Object::new();
        for (key, rule) in rules {
            let rule = match rule {
                Value::Array(keys) => keys.iter().filter_map(Value::as_str).map(name_of).collect(),
                schema => self.at(key, |reader| reader.schema(schema)),
            };
            read.insert(name_of(key), rule);
        }
        Some(Value::Object(read))
    }

    /// Reads a string, unless it is empty.
    fn text(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let Value::String(text) = value else {
            self.malformed(format!("`{keyword}` must be a string; it is left out"));
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
    fn flag(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let Value::Bool(flag) = value else {
            self.malformed(format!("`{keyword}` must be true or false; it is ignored"));
            return None;
        };
        flag.then_some(Value::Bool(true))
    }

    /// Reads a reference to a schema under `$defs`. Any other reference is kept and shown.
    fn plain_reference(&mut self, value: &Value) -> Option<Value> {
        let Value::String(reference) = value else {
            self.malformed("`$ref` must be a string; it is ignored");
            return None;
        };
        if let Some(name) = pointer::referenced(reference) {
            return Some(pointer::reference(&name).into());
        }
        let message = format!("`{reference}` does not name a schema under `#/$defs/`");
        self.problem(ReadProblemKind::Reference, message);
        Some(value.clone())
    }
}
