//! Combines parameters and the body into the arguments of a tool, the fields of one object.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolgen_runtime::spec::plan::{Body, BodyField, BodySource, Location, Parameter};

use super::body::BodyDraft;
use super::parameter::Param;
use super::schema::WIRE;
use crate::names::{hash8, is_portable_key, portable_keys, with_suffix};

/// The arguments of a tool and their places in the request.
pub(super) struct Arguments {
    /// The schema of the arguments, in normal form.
    pub(super) input: Value,
    /// Where parameters go.
    pub(super) parameters: Vec<Parameter>,
    /// Where the body comes from.
    pub(super) body: Option<Body>,
    /// A call built from the document's examples: every required argument, and the body.
    pub(super) example: Option<Value>,
}

/// The longest example call kept, as JSON text.
const MAX_EXAMPLE: usize = 2_000;

/// The keyword for other keys that decoding accepts for a field, in normal form.
const ALIASES: &str = "x-aliases";

/// Combines parameters and body.
pub(super) fn arguments(params: Vec<Param>, body: Option<BodyDraft>) -> Arguments {
    let names = argument_names(&params);
    let mut fields = Fields::default();
    let mut parameters = Vec::with_capacity(params.len());
    for (param, argument) in params.into_iter().zip(names) {
        fields.add(&argument, &param.name, param.schema, param.required);
        parameters.push(Parameter {
            argument: argument.into(),
            name: param.name.into(),
            location: param.location,
            encoding: param.encoding,
        });
    }
    let given = body.as_ref().and_then(|draft| draft.example.clone());
    let body = body.map(|draft| fields.add_body(draft));
    let example = fields.example(body.as_ref(), given);
    Arguments { input: fields.into_schema(), parameters, body, example }
}

/// Returns the key of each parameter. If parameters in several places want the same key, the first place keeps it, in
/// the order path, query, header, cookie; the others get the name of their place appended.
fn argument_names(params: &[Param]) -> Vec<String> {
    let mut by_place: BTreeMap<Location, BTreeMap<&str, String>> = BTreeMap::new();
    for location in [Location::Path, Location::Query, Location::Header, Location::Cookie] {
        let here = params.iter().filter(|param| param.location == location).map(|param| param.name.as_str());
        by_place.insert(location, portable_keys(here));
    }
    let mut taken: Vec<String> = Vec::with_capacity(params.len());
    for param in params {
        let own = by_place.get(&param.location).and_then(|names| names.get(param.name.as_str()));
        let mut name = own.cloned().unwrap_or_else(|| param.name.clone());
        if taken.contains(&name) {
            let place = match param.location {
                Location::Path => "path",
                Location::Query => "query",
                Location::Header => "header",
                Location::Cookie => "cookie",
            };
            name = with_suffix(&name, place, 64);
        }
        let wanted = |name: &String| {
            let exact = params.iter().any(|other| other.name == *name && other.name != param.name);
            taken.contains(name) || exact
        };
        if wanted(&name) && !is_own(&name, &param.name) {
            name = with_suffix(&name, &hash8(&param.name), 64);
        }
        taken.push(name);
    }
    taken
}

/// Whether only results have the field.
fn is_read_only(field: &Value) -> bool {
    field.get("readOnly") == Some(&Value::Bool(true)) && field.get("writeOnly") != Some(&Value::Bool(true))
}

fn is_own(argument: &str, name: &str) -> bool {
    argument == name && is_portable_key(name)
}

/// The fields of the arguments while they are collected.
#[derive(Default)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<String>,
    description: String,
}

impl Fields {
    fn add(&mut self, argument: &str, original: &str, schema: Value, required: bool) {
        let mut object = match schema {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        object.shift_remove(WIRE);
        if argument != original {
            object.insert(ALIASES.to_owned(), json!([original]));
        }
        if required {
            self.required.push(argument.to_owned());
        }
        self.properties.insert(argument.to_owned(), Value::Object(object));
    }

    fn add_body(&mut self, mut draft: BodyDraft) -> Body {
        let source = match draft.fields.take().filter(|object| self.can_take(object, draft.required)) {
            Some(object) => self.add_fields(&object, &draft),
            None => self.add_whole(&mut draft),
        };
        Body { required: draft.required, media_type: draft.media_type.into(), codec: draft.codec, source }
    }

    /// Whether the fields of the body can become arguments: no key is taken, and the body can still be absent.
    fn can_take(&self, object: &Map<String, Value>, body_required: bool) -> bool {
        let fields = object.get("properties").and_then(Value::as_object);
        // Fields of results only become no arguments and take no key: the `id` of a thing and of its path.
        let free = fields
            .into_iter()
            .flatten()
            .all(|(key, field)| is_read_only(field) || !self.properties.contains_key(key));
        let given =
            |key: &str| fields.and_then(|fields| fields.get(key)).is_none_or(|field| !is_read_only(field));
        let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
        free && (body_required || !required.filter_map(Value::as_str).any(given))
    }

    fn add_fields(&mut self, object: &Map<String, Value>, draft: &BodyDraft) -> BodySource {
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|own| own == key));
        let mut fields = Vec::new();
        for (key, field) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if is_read_only(field) || *field == Value::Bool(false) {
                continue;
            }
            let wire = field.get(WIRE).and_then(Value::as_str).unwrap_or(key).to_owned();
            self.add(key, &wire, field.clone(), is_required(key));
            fields.push(BodyField { argument: key.clone().into(), name: wire.into() });
        }
        let own = object.get("description").and_then(Value::as_str).unwrap_or_default();
        self.description =
            if draft.description.is_empty() { own.to_owned() } else { draft.description.clone() };
        BodySource::Fields(fields.into())
    }

    fn add_whole(&mut self, draft: &mut BodyDraft) -> BodySource {
        let mut name = "body".to_owned();
        while self.properties.contains_key(&name) {
            name = if name == "body" { "_request_body".to_owned() } else { format!("_{name}") };
        }
        let mut schema = std::mem::take(&mut draft.schema);
        if let (Value::Object(object), false) = (&mut schema, draft.description.is_empty()) {
            let said = object.get("description").and_then(Value::as_str).unwrap_or_default();
            let both = if said.is_empty() || said == draft.description {
                draft.description.clone()
            } else {
                format!("{} {said}", draft.description)
            };
            object.insert("description".to_owned(), Value::String(both));
        }
        self.add(&name, &name, schema, draft.required);
        BodySource::Argument(name.into())
    }

    /// Collects example values under the keys of the arguments. Whether they fit is checked once all shapes are known.
    fn example(&self, body: Option<&Body>, given: Option<Value>) -> Option<Value> {
        let mut call = Map::new();
        match (body.map(|body| &body.source), given) {
            (Some(BodySource::Argument(argument)), Some(value)) => {
                call.insert(argument.to_string(), value);
            }
            (Some(BodySource::Fields(fields)), Some(Value::Object(value))) => {
                for field in fields {
                    let value = value.get(field.name.as_str()).cloned();
                    call.extend(value.map(|value| (field.argument.to_string(), value)));
                }
            }
            _ => {}
        }
        for key in &self.required {
            if !call.contains_key(key) {
                let field = self.properties.get(key)?;
                let value = field.get("examples").and_then(|values| values.get(0)).or(field.get("const"))?;
                call.insert(key.clone(), value.clone());
            }
        }
        let call = Value::Object(call);
        (call != json!({}) && call.to_string().len() <= MAX_EXAMPLE).then_some(call)
    }

    fn into_schema(self) -> Value {
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), Value::String(self.description));
        }
        schema.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        Value::Object(schema)
    }
}
