//! Combines parameters and the body into the arguments of a tool, the fields of one object.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, ObjectRules};
use toolgen_core::spec::plan::{Body, BodyField, BodySource, Location, Parameter};
use toolgen_core::{Shape, Text};

use super::body::BodyDraft;
use super::parameter::Param;
use crate::names::{hash8, is_portable_key, portable_keys, with_suffix};

/// The arguments of a tool and their locations in the request.
pub(super) struct Arguments {
    /// The shape of the arguments.
    pub(super) input: Shape,
    /// The parameters that send the arguments.
    pub(super) parameters: Vec<Parameter>,
    /// The body that sends the arguments.
    pub(super) body: Option<Body>,
    /// An example call from the document's examples: every required argument, and the body.
    pub(super) example: Option<Value>,
}

/// Maximum length of an example call as JSON, in bytes; longer examples are dropped.
const MAX_EXAMPLE: usize = 2_000;

/// Combines parameters and a body into arguments.
pub(super) fn arguments(params: Vec<Param>, body: Option<BodyDraft>) -> Arguments {
    let names = argument_names(&params);
    let mut arguments = Fields::default();
    let mut parameters = Vec::with_capacity(params.len());
    for (param, argument) in params.into_iter().zip(names) {
        let field = Field { required: param.required, shape: param.shape, ..Field::OPTIONAL };
        arguments.add(&argument, &param.name, field);
        parameters.push(Parameter {
            argument: argument.into(),
            name: if param.is_querystring { Text::EMPTY } else { param.name.into() },
            location: param.location,
            encoding: param.encoding,
        });
    }
    let body_example = body.as_ref().and_then(|draft| draft.example.clone());
    let body = body.map(|draft| arguments.add_body(draft));
    let example = arguments.example(body.as_ref(), body_example);
    let Fields { fields, description } = arguments;
    let rules = ObjectRules { fields: fields.into(), extra: Extra::Closed, ..ObjectRules::ANY };
    let input = Shape { description, ..Shape::of(Kind::Object(rules)) };
    Arguments { input, parameters, body, example }
}

/// Returns the key of each parameter. If parameters in several locations have the same key, the first location keeps
/// it, in the order path, query, header, cookie; the others get the name of their location appended.
fn argument_names(params: &[Param]) -> Vec<String> {
    let mut keys_by_location: BTreeMap<Location, BTreeMap<&str, String>> = BTreeMap::new();
    for location in [Location::Path, Location::Query, Location::Header, Location::Cookie] {
        let names_here =
            params.iter().filter(|param| param.location == location).map(|param| param.name.as_str());
        keys_by_location.insert(location, portable_keys(names_here));
    }
    // A name may occur in several locations.
    let declared: HashSet<&str> = params.iter().map(|param| param.name.as_str()).collect();
    let (mut names, mut used) = (Vec::with_capacity(params.len()), HashSet::with_capacity(params.len()));
    for param in params {
        let portable = keys_by_location.get(&param.location).and_then(|names| names.get(param.name.as_str()));
        let mut name = portable.cloned().unwrap_or_else(|| param.name.clone());
        if used.contains(&name) {
            let suffix = match param.location {
                Location::Path => "path",
                Location::Query => "query",
                Location::Header => "header",
                Location::Cookie => "cookie",
            };
            name = with_suffix(&name, suffix, 64);
        }
        let is_other_name = name != param.name && declared.contains(name.as_str());
        if (is_other_name || used.contains(&name)) && !is_portable_name(&name, &param.name) {
            name = with_suffix(&name, &hash8(&param.name), 64);
        }
        used.insert(name.clone());
        names.push(name);
    }
    names
}

fn is_portable_name(argument: &str, name: &str) -> bool {
    argument == name && is_portable_key(name)
}

/// The fields of the arguments while they are collected.
#[derive(Default)]
struct Fields {
    fields: Vec<Field>,
    description: Text,
}

impl Fields {
    fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|field| field.name == *key)
    }

    /// Adds an argument for the value that the document names `original`.
    fn add(&mut self, argument: &str, original: &str, field: Field) {
        let aliases = (argument != original).then(|| original.to_owned().into()).into_iter().collect();
        self.fields.push(Field { name: argument.to_owned().into(), wire: Text::EMPTY, aliases, ..field });
    }

    fn add_body(&mut self, mut draft: BodyDraft) -> Body {
        let source = match draft.fields.take().filter(|rules| self.can_flatten(rules, draft.required)) {
            Some(rules) => self.add_fields(&rules, &draft),
            None => self.add_whole(&mut draft),
        };
        Body { required: draft.required, media_type: draft.media_type.into(), codec: draft.codec, source }
    }

    /// Whether the fields of the body can become arguments: no key is in use, and an optional body can still be absent.
    /// Read-only fields do not become arguments and use no key: an object's `id`, which is also in its path.
    fn can_flatten(&self, rules: &ObjectRules, body_required: bool) -> bool {
        let used: HashSet<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        let mut sent_fields = rules.fields.iter().filter(|field| field.access != Access::ReadOnly);
        sent_fields.all(|field| !used.contains(field.name.as_str()) && (body_required || !field.required))
    }

    fn add_fields(&mut self, rules: &ObjectRules, draft: &BodyDraft) -> BodySource {
        let mut fields = Vec::new();
        for field in &rules.fields {
            if field.access == Access::ReadOnly || field.shape.kind == Kind::Never {
                continue;
            }
            let wire = field.wire_name();
            self.add(&field.name, wire, field.clone());
            fields.push(BodyField { argument: field.name.clone(), name: wire.to_owned().into() });
        }
        let description = &draft.description;
        self.description =
            if description.is_empty() { draft.own_description.clone() } else { description.clone().into() };
        BodySource::Fields(fields.into())
    }

    fn add_whole(&mut self, draft: &mut BodyDraft) -> BodySource {
        let mut name = "body".to_owned();
        while self.has(&name) {
            name = if name == "body" { "_request_body".to_owned() } else { format!("_{name}") };
        }
        let mut shape = std::mem::replace(&mut draft.shape, Shape::ANY);
        let (outer, inner) = (&draft.description, shape.description.as_str());
        if inner.is_empty() || inner == outer {
            shape.description = outer.clone().into();
        } else if !outer.is_empty() {
            let separator = if outer.ends_with(char::is_alphanumeric) { "." } else { "" };
            shape.description = format!("{outer}{separator} {inner}").into();
        }
        self.add(&name, &name, Field { required: draft.required, shape, ..Field::OPTIONAL });
        BodySource::Argument(name.into())
    }

    /// Returns an example call: example values by argument. It is validated when all shapes are known.
    fn example(&self, body: Option<&Body>, body_example: Option<Value>) -> Option<Value> {
        let mut call = Map::new();
        match (body.map(|body| &body.source), body_example) {
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
        for field in self.fields.iter().filter(|field| field.required) {
            if !call.contains_key(field.name.as_str()) {
                let constant = match &field.shape.kind {
                    Kind::Enum(values) if values.len() == 1 => values.first(),
                    _ => None,
                };
                let value = field.shape.examples.first().or(constant)?;
                call.insert(field.name.to_string(), value.to_json());
            }
        }
        let call = Value::Object(call);
        (call != json!({}) && call.to_string().len() <= MAX_EXAMPLE).then_some(call)
    }
}
