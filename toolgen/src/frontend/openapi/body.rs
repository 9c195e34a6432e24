//! Reads the bodies of requests.

mod media_support;

use std::borrow::Cow;

use serde_json::Value;
use toolgen_core::schema::shape::{ArrayRules, Extra, Kind, Literal, ObjectRules};
use toolgen_core::spec::plan::Codec;
use toolgen_core::{Shape, Text};

use super::codes;
use super::context::{Context, Omitted};
use super::form::{document_shape, fields_of, file_shape, text_or_file_shape, text_shape};
use super::media::{self, Kind as Medium};
use super::node::Node;
use super::reference::Resolved;
use crate::source::Pointer;

/// A body before it becomes one argument or several.
pub(super) struct BodyDraft {
    /// Whether the body is required.
    pub(super) required: bool,
    /// The `Content-Type`.
    pub(super) media_type: String,
    /// The codec that encodes the body.
    pub(super) codec: Codec,
    /// The shape of the value.
    pub(super) shape: Shape,
    /// The fields that can become arguments, if the value is a plain object.
    pub(super) fields: Option<ObjectRules>,
    /// The description in the schema of the fields.
    pub(super) own_description: Text,
    /// The description of the body in the document.
    pub(super) description: String,
    /// Whether some argument is a file.
    pub(super) files: bool,
    /// The document's first example of the body.
    pub(super) example: Option<Value>,
}

/// A body as declared in a document.
pub(super) struct DeclaredBody<'a> {
    /// The node of the body.
    pub(super) node: Node<'a>,
    pub(super) description: String,
    pub(super) required: bool,
    /// The media types, each with its Media Type Object.
    pub(super) media: Vec<(&'a str, Node<'a>)>,
    /// The location of the media types.
    pub(super) content_pointer: Pointer,
}

/// A body as declared by parameters of Swagger 2.0.
pub(super) enum BodyParameters<'a> {
    /// A parameter contains the schema of the body.
    Whole(DeclaredBody<'a>),
    /// Parameters are the fields of a form, which is sent as one of these media types.
    Form(Vec<Resolved<'a>>, Vec<&'a str>),
}

/// A media type, its node and the shape of its schema.
type ChosenMedia<'a> = (String, Node<'a>, Shape);

/// The codec of a body, and the shape of its value.
struct BodyEncoding {
    codec: Codec,
    shape: Shape,
    /// Whether some argument is a file.
    files: bool,
}

impl<'a> Context<'a> {
    /// Reads the body of an operation, if it has one.
    pub(super) fn body(
        &mut self,
        path_item: &Node<'a>,
        operation: &Node<'a>,
        method: &str,
    ) -> Result<Option<BodyDraft>, Omitted> {
        let swagger_body = if self.is_swagger() { self.swagger_body(path_item, operation) } else { None };
        let declared = match (swagger_body, operation.get("requestBody")) {
            (Some(BodyParameters::Form(fields, consumes)), _) => {
                self.note_unusual(method, &operation.pointer);
                return Ok(Some(self.form_body(&fields, &consumes)));
            }
            (Some(BodyParameters::Whole(declared)), _) => declared,
            (None, Some(node)) => {
                self.note_newer_keyword(operation, "requestBody");
                self.declared(&node)?
            }
            (None, None) => return Ok(None),
        };
        self.note_unusual(method, &declared.node.pointer);
        let Some((media_type, media, shape)) = self.choose_media(&declared)? else { return Ok(None) };
        let DeclaredBody { required, description, .. } = declared;
        let (media_type, kind) = self.definite_media(media::with_semicolon(media_type), &shape);
        let BodyEncoding { codec, shape, files } = self.body_encoding(kind, &media_type, shape, &media);
        let is_text_body = kind == Medium::Binary && matches!(codec, Codec::Text);
        let media_type =
            if is_text_body { media::first_definite(&media_type).to_owned() } else { media_type };
        let has_fields = matches!(codec, Codec::Json | Codec::Form(_) | Codec::Multipart(_) | Codec::Xml(_));
        let object = if has_fields { self.resolved(&shape) } else { Shape::ANY };
        let fields =
            if object.nullable || self.allows_more_properties(&media) { None } else { flat(&object) };
        let example = self.first_example(&media, &shape).map(Cow::into_owned);
        Ok(Some(BodyDraft {
            required,
            media_type,
            shape,
            fields: fields.map(|rules| fields_of(rules, &codec)),
            codec,
            own_description: object.description,
            description,
            files,
            example,
        }))
    }

    fn declared(&mut self, node: &Node<'a>) -> Result<DeclaredBody<'a>, Omitted> {
        self.note_malformed_reference(node);
        let resolved = self.follow(node).map_err(|(reason, text)| {
            self.record_missing_part(&reason, &text);
            self.report_broken(reason, &text, &node.pointer, "");
            Omitted
        })?;
        let description = resolved.prose().into_owned();
        let node = resolved.node;
        let content = node.get("content").and_then(|node| self.resolve(&node)).map(|resolved| resolved.node);
        self.note_malformed_content(content.as_ref());
        Ok(DeclaredBody {
            description,
            required: node.is_true("required"),
            media: media::split_keys(content.map(|node| node.entries()).unwrap_or_default()),
            content_pointer: node.pointer.child("content"),
            node,
        })
    }

    fn note_unusual(&mut self, method: &str, pointer: &Pointer) {
        if matches!(method, "GET" | "HEAD" | "TRACE") {
            self.report(
                codes::UNUSUAL_BODY,
                pointer,
                format!("a {method} request has no defined use for a body; it is sent nevertheless"),
                "use query parameters, or another method",
            );
        }
    }

    /// Whether the schema allows additional properties. The arguments of a tool allow none.
    fn allows_more_properties(&self, media: &Node<'a>) -> bool {
        let schema = media.get("schema").and_then(|schema| self.follow(&schema).ok());
        let extra = schema.and_then(|schema| schema.node.get("additionalProperties"));
        extra.is_some_and(|extra| *extra.value != Value::Bool(false))
    }

    /// Chooses the best media type of the body that can represent its schema.
    fn choose_media(&mut self, body: &DeclaredBody<'a>) -> Result<Option<ChosenMedia<'a>>, Omitted> {
        let mut media = body.media.clone();
        self.drop_multiline_types(&mut media);
        media.sort_by_key(|(media_type, _)| media::kind(media_type));
        let media_types = media.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let (broken_before, cause) = (self.broken, self.cause.clone());
        let (mut chosen, mut fallback) = (None, None);
        for (media_type, node) in &media {
            let broken = self.broken;
            let Some(node) = self.resolve(node).map(|resolved| resolved.node) else { continue };
            let shape = self.content_shape(&node);
            if self.broken > broken || !self.can_represent(media_type, &shape) {
                continue;
            }
            if self.is_lossless(media_type, &shape) {
                chosen = Some((media_type, node, shape));
                break;
            }
            fallback.get_or_insert((media_type, node, shape));
        }
        if let Some((media_type, node, shape)) = chosen.or(fallback) {
            // Dangling references in other media types are now irrelevant.
            self.broken = broken_before;
            self.cause.clone_from(&cause);
            let accepted = match self.is_bytes(media::kind(media_type), &shape) {
                true => self.file_media_types(&node, &body.media),
                false => vec![media_type.trim()],
            };
            if media_types.len() > accepted.len() {
                self.report(
                    codes::MEDIA_TYPE,
                    &body.content_pointer,
                    format!("of {} the body is sent as {}", media_types.join(", "), accepted.join(" or ")),
                    "remove the media types you do not want",
                );
            }
            return Ok(Some((accepted.join(", "), node, shape)));
        }
        if media_types.is_empty() {
            self.report(
                codes::BODY,
                &body.node.pointer,
                "the body has no media type, so it is left out",
                "add `content` with a media type and a schema",
            );
            return Ok(None);
        }
        if self.broken > broken_before {
            return Err(Omitted);
        }
        let reason = format!("a body of this schema cannot be sent as {}", media_types.join(", "));
        self.set_cause(reason.clone());
        self.report(
            codes::BODY,
            &body.content_pointer,
            format!("{reason}; it is left out"),
            "a form needs an object, whose fields are its parts",
        );
        if body.required { Err(Omitted) } else { Ok(None) }
    }

    /// Returns the shape of the content of a media type. A sequence may declare the schema of its items instead
    /// (OpenAPI 3.2).
    pub(super) fn content_shape(&mut self, media: &Node<'a>) -> Shape {
        if let Some(schema) = media.get("schema") {
            return self.shape_of(&schema, "body");
        }
        media.get("itemSchema").map_or(Shape::ANY, |schema| array_of(self.shape_of(&schema, "body")))
    }

    /// Returns the shape of all lines of a body. A shape that is not an array describes each line, so it becomes the
    /// item of an array.
    pub(super) fn lines_shape(&mut self, shape: Shape) -> Shape {
        if self.may_be(&shape, is_array) { shape } else { array_of(shape) }
    }

    /// Whether the body is a file: its media type is binary, or it is textual and the schema declares bytes.
    fn is_bytes(&mut self, kind: Medium, shape: &Shape) -> bool {
        kind == Medium::Binary || (kind == Medium::Text && self.is_file(shape, ""))
    }

    /// Returns the media types that a file may be sent as, in the order of the document: those with the same schema
    /// and those whose schema declares bytes.
    fn file_media_types(&mut self, node: &Node<'a>, media: &[(&'a str, Node<'a>)]) -> Vec<&'a str> {
        let schema = |node: &Node<'_>| node.get("schema").map(|schema| schema.value.clone());
        let expected_schema = schema(node);
        let mut file_types = Vec::new();
        for (name, other) in media {
            let kind = media::kind(name);
            if !matches!(kind, Medium::Binary | Medium::Text) {
                continue;
            }
            let (broken, cause) = (self.broken, self.cause.clone());
            let is_file_type = schema(other) == expected_schema || {
                let other = self.resolve(other).map(|resolved| resolved.node);
                let shape = other.map(|other| self.content_shape(&other));
                shape.is_some_and(|shape| self.is_file(&shape, name))
            };
            (self.broken, self.cause) = (broken, cause);
            if is_file_type {
                file_types.push(name.trim());
            }
        }
        file_types
    }

    /// Whether all values of a shape are strings.
    fn is_text(&mut self, shape: &Shape) -> bool {
        !self.may_be(shape, |kind| match kind {
            Kind::String(_) => false,
            Kind::Enum(values) => values.iter().any(|value| !matches!(value, Literal::String(_))),
            _ => true,
        })
    }

    /// Returns a media type and its kind. A range is replaced by the type that is sent, except
    /// for files, whose type the model sets.
    fn definite_media(&mut self, media_type: String, shape: &Shape) -> (String, Medium) {
        // If there are several types, all are files.
        let kind = media::kind(media_type.split(',').next().unwrap_or_default());
        let name = match kind {
            Medium::Any if *shape == Shape::ANY || self.is_file(shape, "") => {
                return (media_type, Medium::Binary);
            }
            Medium::Any if media_type.starts_with('*') && self.is_text(shape) => {
                return ("text/plain".to_owned(), Medium::Text);
            }
            Medium::Any => return ("application/json".to_owned(), Medium::Json),
            // An empty media type is equivalent to a range.
            Medium::Binary if media_type.trim().is_empty() && self.is_structured(shape) => {
                return ("application/json".to_owned(), Medium::Json);
            }
            Medium::Text if self.is_bytes(kind, shape) => return (media_type, Medium::Binary),
            Medium::Text if media_type.contains('*') => "text/plain",
            Medium::Multipart if media_type.contains('*') => "multipart/form-data",
            _ => return (media_type, kind),
        };
        (name.to_owned(), kind)
    }

    /// Returns the encoding of a value of this shape in a media type of this kind.
    fn body_encoding(
        &mut self,
        kind: Medium,
        media_type: &str,
        shape: Shape,
        media: &Node<'a>,
    ) -> BodyEncoding {
        let schema = media.get("schema");
        let (codec, shape) = match kind {
            Medium::Json | Medium::JsonLike | Medium::Any => (Codec::Json, shape),
            Medium::Lines if self.is_structured(&shape) => (Codec::JsonLines, self.lines_shape(shape)),
            Medium::Yaml if self.is_structured(&shape) => (Codec::Json, shape),
            Medium::Form | Medium::FormData | Medium::Multipart
                if !self.may_be(&shape, |kind| !is_scalar(kind)) =>
            {
                (Codec::Text, shape)
            }
            Medium::Form | Medium::FormData | Medium::Multipart => return self.form(kind, shape, media),
            Medium::Xml if schema.is_some() && self.is_structured(&shape) => {
                let xml = schema.map(|schema| self.xml(&schema, ""));
                (xml.map_or(Codec::Text, Codec::Xml), shape)
            }
            Medium::Text | Medium::Events | Medium::Xml
                if self.is_structured(&shape) || (kind == Medium::Xml && shape.kind == Kind::Any) =>
            {
                self.report_not_encodable(media_type, &media.pointer, "the body is one argument, its text");
                (Codec::Text, document_shape(&shape.description, media_type))
            }
            Medium::Text | Medium::Events | Medium::Xml | Medium::Yaml | Medium::Lines => {
                (Codec::Text, text_shape(shape))
            }
            // An encoded value is sent unchanged: the service decodes it.
            Medium::Binary if self.is_encoded(&shape) => (Codec::Text, text_shape(shape)),
            Medium::Binary => {
                let mut shape = shape;
                if self.is_structured(&shape) {
                    self.report_not_encodable(media_type, &media.pointer, "the body is one argument, a file");
                    shape.description = self.encoded_description(&shape, media_type);
                }
                let allows_text = self.is_plain_text(&shape) && media::may_be_text(media_type);
                let shape = match allows_text {
                    true => text_or_file_shape(shape, media_type),
                    false => file_shape(&shape.description, media_type),
                };
                return BodyEncoding { codec: Codec::Binary, shape, files: true };
            }
        };
        BodyEncoding { codec, shape, files: false }
    }

    /// Reads a form: an object whose fields are encoded separately, and files as file parts.
    fn form(&mut self, kind: Medium, mut shape: Shape, media: &Node<'a>) -> BodyEncoding {
        let codec = if kind == Medium::Form { Codec::Form } else { Codec::Multipart };
        if shape.kind == Kind::Any {
            // A form consists of fields.
            shape.kind = Kind::Object(ObjectRules::ANY);
        }
        let mut object = self.resolved(&shape);
        let parts = self.parts(media, &mut object, kind);
        let files = parts.iter().any(|part| part.file);
        BodyEncoding { codec: codec(parts.into()), shape: if files { object } else { shape }, files }
    }

    /// Returns the shape, or the target of its reference.
    pub(super) fn resolved(&mut self, shape: &Shape) -> Shape {
        match &shape.kind {
            Kind::Ref(name) => self.def_shape(name),
            _ => shape.clone(),
        }
    }

    /// Whether the kind of the shape, or of any variant of a union, matches the predicate.
    pub(super) fn may_be(&mut self, shape: &Shape, predicate: fn(&Kind) -> bool) -> bool {
        self.may_be_within(shape, predicate, MAX_UNIONS)
    }

    fn may_be_within(&mut self, shape: &Shape, predicate: fn(&Kind) -> bool, depth: usize) -> bool {
        match self.resolved(shape).kind {
            Kind::Union(union) if depth > 0 => {
                union.variants.iter().any(|variant| self.may_be_within(variant, predicate, depth - 1))
            }
            kind => predicate(&kind),
        }
    }
}

/// Maximum nesting of unions whose variants are examined: a union may contain itself.
const MAX_UNIONS: usize = 4;

/// Returns the shape of an array of these items.
pub(super) fn array_of(items: Shape) -> Shape {
    Shape::of(Kind::Array(ArrayRules { items: items.into(), ..ArrayRules::ANY }))
}

fn is_array(kind: &Kind) -> bool {
    matches!(kind, Kind::Array(_) | Kind::Tuple(_))
}

fn is_scalar(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::String(_) | Kind::Enum(_) | Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::Null
    )
}

/// Returns the rules of an object whose fields can become arguments: it has fields and no other rules.
pub(super) fn flat(shape: &Shape) -> Option<&ObjectRules> {
    let Kind::Object(rules) = &shape.kind else { return None };
    let fields_only = ObjectRules { fields: rules.fields.clone(), extra: Extra::Closed, ..ObjectRules::ANY };
    let closed_rules = ObjectRules { extra: Extra::Closed, ..rules.clone() };
    (!rules.fields.is_empty() && !matches!(rules.extra, Extra::Of(_)) && closed_rules == fields_only)
        .then_some(rules)
}
