//! Compiles the body of a request.

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
    /// Returns the body that `body`, `form` or `text` sets, or a body of the arguments that nothing else uses.
    pub(super) fn body(
        &mut self,
        draft: &Draft<'a>,
        node: &Node<'a>,
        method: &str,
        request: &mut Request,
        scope: &mut Scope,
        uses_all_arguments: &mut bool,
    ) -> Option<Body> {
        let members: Vec<(&str, Node<'a>)> =
            ["body", "form", "text"].into_iter().filter_map(|key| Some((key, node.get(key)?))).collect();
        if let [(first_key, _), (second_key, member), ..] = members.as_slice() {
            let message =
                format!("a request has one body, and this one has `{first_key}` and `{second_key}`");
            self.report(
                codes::BODY,
                &member.pointer,
                message,
                "keep one of `body` (JSON), `form` and `text`",
            );
        }
        if let (Some((key, member)), "GET" | "HEAD" | "OPTIONS") = (members.first(), method) {
            let message = format!("a request with the method {method} has no body");
            let help = format!(
                "use `query`, or another method than {method}; without `method`, `{key}` is sent by POST"
            );
            self.report(codes::BODY, &member.pointer, message, help);
        }
        let content_type = request.content_type.take();
        if let (Some((_, pointer)), false) = (&content_type, matches!(members.as_slice(), [("text", _)])) {
            let message = "the media type follows from the body";
            self.report(codes::HEADER, pointer, message, "remove `Content-Type`, or send the body as `text`");
        }
        match members.first() {
            Some(("form", form)) => {
                if !form.value.is_object() {
                    self.report_wrong_type(form, "an object", "write `form: {NAME: \"{argument}\"}`");
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
                    self.check_text_injection(text, &template, media_type);
                }
                let media_type =
                    content_type.map_or(Text::Static("text/plain"), |(media_type, _)| media_type.into());
                let required = !may_be_absent(&template);
                let source = BodySource::Argument(request.argument("body", template));
                Some(Body { required, media_type, codec: Codec::Text, source })
            }
            Some((_, body)) if matches!(body.value, Value::Object(_)) => Some(json_body(
                true,
                BodySource::Fields(self.fields(body, PlaceholderTarget::Json, request, scope)),
            )),
            Some((_, body)) => {
                let template = self.template(body, PlaceholderTarget::Json, scope)?;
                Some(json_body(
                    !may_be_absent(&template),
                    BodySource::Argument(request.argument("body", template)),
                ))
            }
            None if matches!(method, "POST" | "PUT" | "PATCH") => {
                *uses_all_arguments = true;
                body_of_unused_arguments(draft, scope)
            }
            None => None,
        }
    }

    /// Rejects values within a string that is JSON or a form: they could terminate their context and inject content. A
    /// string that is a single placeholder is written entirely by the model, so it is allowed.
    fn check_text_injection(&mut self, node: &Node<'a>, template: &Template, media_type: &str) {
        let Template::Text(_) = template else { return };
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_type =
            |name: &str| essence.ends_with(&format!("/{name}")) || essence.ends_with(&format!("+{name}"));
        let (name, help) = if is_type("json") {
            ("JSON", "write it as `body: {NAME: '{argument}'}`, which is sent as JSON")
        } else if essence == "application/x-www-form-urlencoded" {
            ("a form", "write it as `form: {NAME: '{argument}'}`, which encodes the values")
        } else {
            return;
        };
        let message = format!("a value within {name} could change the meaning of the rest");
        self.report(codes::BODY, &node.pointer, message, help);
    }

    /// Compiles the members of a body.
    fn fields(
        &mut self,
        node: &Node<'a>,
        target: PlaceholderTarget,
        request: &mut Request,
        scope: &mut Scope,
    ) -> List<BodyField> {
        let mut fields = Vec::new();
        for (name, value) in node.entries() {
            if let Some(template) = self.template(&value, target, scope) {
                let argument = request.argument(&format!("body.{name}"), template);
                fields.push(BodyField { argument, name: Text::from(name.to_owned()) });
            }
        }
        fields.into()
    }
}

/// Returns a JSON body.
fn json_body(required: bool, source: BodySource) -> Body {
    Body { required, media_type: Text::Static("application/json"), codec: Codec::Json, source }
}

/// Whether a template may have no value.
fn may_be_absent(template: &Template) -> bool {
    match template {
        Template::Value(reference) => reference.optional,
        Template::Text(segments) => {
            segments.iter().any(|segment| matches!(segment, Segment::Value(reference) if reference.optional))
        }
        _ => false,
    }
}

/// Returns a JSON body of the arguments without a placeholder.
fn body_of_unused_arguments(draft: &Draft<'_>, scope: &Scope) -> Option<Body> {
    let unused = argument_names(&draft.spec).into_iter().filter(|name| !scope.used.contains(name.as_str()));
    let fields: List<BodyField> = unused.map(|name| BodyField { argument: name.clone(), name }).collect();
    (!fields.is_empty()).then(|| json_body(false, BodySource::Fields(fields)))
}
