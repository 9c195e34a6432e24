//! The body of a request.

use serde_json::Value;
use toolgen_core::spec::plan::{Body, BodyField, BodySource, Codec};
use toolgen_core::spec::template::{Segment, Template};
use toolgen_core::{List, Text};

use super::super::attributes::argument_names;
use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::super::template::{PlaceholderTarget, Scope};
use super::super::tools::Draft;
use super::Request;

impl<'a> Context<'a> {
    /// Returns the body, set by `body`, `form` or `text`, or made of the arguments that nothing else uses.
    pub(super) fn body(
        &mut self,
        draft: &Draft<'a>,
        node: &Node<'a>,
        method: &str,
        request: &mut Request,
        scope: &mut Scope,
        takes_all: &mut bool,
    ) -> Option<Body> {
        let given: Vec<(&str, Node<'a>)> =
            ["body", "form", "text"].into_iter().filter_map(|key| Some((key, node.get(key)?))).collect();
        if let [(first, _), (second, at), ..] = given.as_slice() {
            let message = format!("a request has one body, and this one has `{first}` and `{second}`");
            self.report(codes::BODY, &at.pointer, message, "keep one of `body` (JSON), `form` and `text`");
        }
        if let (Some((key, at)), "GET" | "HEAD" | "OPTIONS") = (given.first(), method) {
            let message = format!("a request with the method {method} has no body");
            let help = format!(
                "use `query`, or another method than {method}; without `method`, `{key}` is sent by POST"
            );
            self.report(codes::BODY, &at.pointer, message, help);
        }
        let content_type = request.content_type.take();
        if let (Some((_, at)), false) = (&content_type, matches!(given.as_slice(), [("text", _)])) {
            let message = "the media type follows from the body";
            self.report(codes::HEADER, at, message, "remove `Content-Type`, or send the body as `text`");
        }
        match given.first() {
            Some(("form", form)) => {
                if !form.value.is_object() {
                    self.wrong_kind(form, "an object", "write `form: {NAME: \"{argument}\"}`");
                    return None;
                }
                let fields = self.fields(form, PlaceholderTarget::Texts, request, scope);
                let media_type = Text::Static("application/x-www-form-urlencoded");
                let source = BodySource::Fields(fields);
                Some(Body { required: true, media_type, codec: Codec::Form(List::EMPTY), source })
            }
            Some(("text", text)) => {
                let template = self.scalar_template(text, scope)?;
                if let Some((media_type, _)) = &content_type {
                    self.check_text(text, &template, media_type);
                }
                let media_type =
                    content_type.map_or(Text::Static("text/plain"), |(media_type, _)| media_type.into());
                let required = !may_miss(&template);
                let source = BodySource::Argument(request.argument("body", template));
                Some(Body { required, media_type, codec: Codec::Text, source })
            }
            Some((_, body)) if matches!(body.value, Value::Object(_)) => Some(json(
                true,
                BodySource::Fields(self.fields(body, PlaceholderTarget::Json, request, scope)),
            )),
            Some((_, body)) => {
                let template = self.template(body, PlaceholderTarget::Json, scope)?;
                Some(json(!may_miss(&template), BodySource::Argument(request.argument("body", template))))
            }
            None if matches!(method, "POST" | "PUT" | "PATCH") => {
                *takes_all = true;
                rest(draft, scope)
            }
            None => None,
        }
    }

    /// Rejects values within a string that has a syntax: they could terminate their context and inject content. A
    /// string that is a single placeholder is entirely the model's.
    fn check_text(&mut self, node: &Node<'a>, template: &Template, media_type: &str) {
        let Template::Text(_) = template else { return };
        let full = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let of = |name: &str| full.ends_with(&format!("/{name}")) || full.ends_with(&format!("+{name}"));
        let (name, help) = if of("json") {
            ("JSON", "write it as `body: {NAME: '{argument}'}`, which is sent as JSON")
        } else if full == "application/x-www-form-urlencoded" {
            ("a form", "write it as `form: {NAME: '{argument}'}`, which encodes the values")
        } else {
            return;
        };
        let message = format!("a value within {name} could change the meaning of the rest");
        self.report(codes::BODY, &node.pointer, message, help);
    }

    /// Returns the members of a body.
    fn fields(
        &mut self,
        node: &Node<'a>,
        place: PlaceholderTarget,
        request: &mut Request,
        scope: &mut Scope,
    ) -> List<BodyField> {
        let mut fields = Vec::new();
        for (name, value) in node.entries() {
            if let Some(template) = self.template(&value, place, scope) {
                let argument = request.argument(&format!("body.{name}"), template);
                fields.push(BodyField { argument, name: Text::from(name.to_owned()) });
            }
        }
        fields.into()
    }
}

fn json(required: bool, source: BodySource) -> Body {
    Body { required, media_type: Text::Static("application/json"), codec: Codec::Json, source }
}

/// Whether a template may have no value.
fn may_miss(template: &Template) -> bool {
    match template {
        Template::Value(reference) => reference.optional,
        Template::Text(segments) => {
            segments.iter().any(|segment| matches!(segment, Segment::Value(reference) if reference.optional))
        }
        _ => false,
    }
}

/// Returns the body made of the arguments without a placeholder.
fn rest(draft: &Draft<'_>, scope: &Scope) -> Option<Body> {
    let unused = argument_names(&draft.spec).into_iter().filter(|name| !scope.used.contains(name.as_str()));
    let fields: List<BodyField> = unused.map(|name| BodyField { argument: name.clone(), name }).collect();
    (!fields.is_empty()).then(|| json(false, BodySource::Fields(fields)))
}
