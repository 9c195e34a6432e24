//! Reads the bodies of requests.

use serde_json::Value;
use toolgen_runtime::schema::shape::{Extra, Field, Kind, ObjectRules, StringRules};
use toolgen_runtime::spec::plan::{Codec, Encoding, FILE_FIELDS, Location, Part, Style};
use toolgen_runtime::{Shape, Text};

use super::codes;
use super::context::Context;
use super::media::{self, Kind as Medium};
use super::node::Node;
use super::parameter::style_of;
use super::schema::examples;

/// A body before its place in the arguments is decided.
pub(super) struct BodyDraft {
    /// Whether it must be given.
    pub(super) required: bool,
    /// The `Content-Type`.
    pub(super) media_type: String,
    /// How it is written.
    pub(super) codec: Codec,
    /// The shape of its value.
    pub(super) shape: Shape,
    /// The fields that may become arguments, if it is a plain object.
    pub(super) fields: Option<ObjectRules>,
    /// What the schema of those fields says about them.
    pub(super) own_description: Text,
    /// What the document says about it.
    pub(super) description: String,
    /// Whether some argument is a file.
    pub(super) files: bool,
    /// The document's first example of it.
    pub(super) example: Option<Value>,
}

/// How a body is written, and the shape of its value.
struct Written {
    codec: Codec,
    shape: Shape,
    /// Whether some argument is a file.
    files: bool,
}

impl<'a> Context<'a> {
    /// Reads the body of an operation.
    pub(super) fn body(&mut self, operation: &Node<'a>, method: &str) -> Option<BodyDraft> {
        let node = operation.get("requestBody")?;
        let resolved = self.resolve(&node)?;
        let body = resolved.node;
        if matches!(method, "GET" | "HEAD" | "TRACE") {
            self.report(
                codes::BODY,
                &node.pointer,
                format!("a {method} request has no defined use for a body; it is sent all the same"),
                "use query parameters, or another method",
            );
        }
        let (media_type, media) = self.chosen_media(&body)?;
        let shape = media.get("schema").map_or(Shape::ANY, |schema| self.shape_of(&schema, "body"));
        let (media_type, kind) = self.definite_media(media_type, &shape);
        let Written { codec, shape, files } = self.written(kind, shape, &media);
        let has_fields = matches!(codec, Codec::Json | Codec::Form(_) | Codec::Multipart(_));
        let object = if has_fields { self.resolved(&shape) } else { Shape::ANY };
        let fields = if object.nullable || self.asks_for_more(&media) { None } else { flat(&object) };
        let description = resolved.description.or(body.text("description")).unwrap_or_default();
        Some(BodyDraft {
            required: body.flag("required"),
            media_type,
            codec,
            shape,
            fields: fields.cloned(),
            own_description: object.description,
            description: description.trim().to_owned(),
            files,
            example: media.object().and_then(|object| examples(object).first().copied().cloned()),
        })
    }

    /// Whether the schema says that there are fields besides the listed ones. The arguments of a tool are closed.
    fn asks_for_more(&self, media: &Node<'a>) -> bool {
        let schema = media.get("schema").and_then(|schema| self.follow(&schema).ok());
        let extra = schema.and_then(|schema| schema.node.get("additionalProperties"));
        extra.is_some_and(|extra| *extra.value != Value::Bool(false))
    }

    /// Chooses one of the body's media types.
    fn chosen_media(&mut self, body: &Node<'a>) -> Option<(String, Node<'a>)> {
        let content = body.get("content").and_then(|node| self.resolve(&node)).map(|resolved| resolved.node);
        let mut media: Vec<(&str, Node<'a>)> = content.map(|node| node.entries()).unwrap_or_default();
        media.sort_by_key(|(media_type, _)| media::kind(media_type));
        let several = media.len() > 1;
        let names = media.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let Some((media_type, node)) = media.into_iter().next() else {
            self.report(
                codes::BODY,
                &body.pointer,
                "the body has no media type, so it is left out",
                "add `content` with a media type and a schema",
            );
            return None;
        };
        if several {
            self.report(
                codes::MEDIA_TYPE,
                &body.pointer.child("content"),
                format!("of {names} the body is sent as {media_type}"),
                "remove the media types you do not want",
            );
        }
        let node = self.resolve(&node)?.node;
        Some((media_type.trim().to_owned(), node))
    }

    /// Returns the media type without wildcards, which a request cannot have, and its kind.
    fn definite_media(&mut self, media_type: String, shape: &Shape) -> (String, Medium) {
        const BYTES: &str = "application/octet-stream";
        let kind = media::kind(&media_type);
        let (definite, kind) = match kind {
            Medium::Any if *shape == Shape::ANY || self.is_file(shape, "") => (BYTES, Medium::Binary),
            Medium::Any => ("application/json", Medium::Json),
            _ if !media_type.contains('*') => return (media_type, kind),
            Medium::Text => ("text/plain", kind),
            Medium::Multipart => ("multipart/form-data", kind),
            _ => (BYTES, kind),
        };
        (definite.to_owned(), kind)
    }

    /// Returns how a value of this shape is written in a media type of this kind.
    fn written(&mut self, kind: Medium, shape: Shape, media: &Node<'a>) -> Written {
        match kind {
            Medium::Json | Medium::JsonLike | Medium::Any => {
                Written { codec: Codec::Json, shape, files: false }
            }
            Medium::Form | Medium::FormData | Medium::Multipart => self.form(kind, shape, media),
            Medium::Text => Written { codec: Codec::Text, shape: text_shape(shape), files: false },
            Medium::Binary => {
                Written { codec: Codec::Binary, shape: file_shape(&shape.description), files: true }
            }
            Medium::Xml => {
                self.report(
                    codes::BODY,
                    &media.pointer,
                    "XML is not written from arguments; the body is one argument, the XML text",
                    "offer the body as JSON, too",
                );
                let description = Text::Static("The request body as XML text.");
                Written {
                    codec: Codec::Text,
                    shape: text_shape(Shape { description, ..Shape::ANY }),
                    files: false,
                }
            }
        }
    }

    /// Reads a form: an object whose fields are written one by one, files as files.
    fn form(&mut self, kind: Medium, mut shape: Shape, media: &Node<'a>) -> Written {
        let codec = if kind == Medium::Form { Codec::Form } else { Codec::Multipart };
        if shape.kind == Kind::Any {
            // A form consists of fields.
            shape.kind = Kind::Object(ObjectRules::ANY);
        }
        let mut object = self.resolved(&shape);
        let parts = self.parts(media, &mut object, kind);
        let files = parts.iter().any(|part| part.file);
        Written { codec: codec(parts.into()), shape: if files { object } else { shape }, files }
    }

    /// Returns the shape, or its reference's target.
    fn resolved(&mut self, shape: &Shape) -> Shape {
        match &shape.kind {
            Kind::Ref(name) => self.def_shape(name),
            _ => shape.clone(),
        }
    }

    /// Returns how the fields of a form are written. Fields that are files become file arguments.
    fn parts(&mut self, media: &Node<'a>, object: &mut Shape, kind: Medium) -> Vec<Part> {
        if let Kind::All(all) = &object.kind {
            // Of shapes that all apply, the first object has the fields.
            let mut all = all.to_vec();
            let first = all.iter_mut().find(|part| matches!(part.kind, Kind::Object(_)));
            let parts = first.map(|part| self.parts(media, part, kind)).unwrap_or_default();
            object.kind = Kind::All(all.into());
            return parts;
        }
        let Kind::Object(rules) = &mut object.kind else { return Vec::new() };
        let encodings = media.get("encoding");
        let mut parts = Vec::new();
        let mut fields = rules.fields.to_vec();
        for field in &mut fields {
            let name = field.wire_name().to_owned();
            let encoding = encodings.as_ref().and_then(|node| node.get(&name));
            let content_type =
                encoding.as_ref().and_then(|node| node.text("contentType")).unwrap_or_default();
            let single = !content_type.contains(['*', ',']);
            let mut part = Part {
                name: name.into(),
                file: false,
                content_type: if single { content_type.to_owned().into() } else { Text::EMPTY },
                encoding: encoding.as_ref().filter(|_| kind == Medium::Form).and_then(field_encoding),
            };
            if kind != Medium::Form {
                part.file = self.take_file(field, content_type);
            }
            if part.file || !part.content_type.is_empty() || part.encoding.is_some() {
                parts.push(part);
            }
        }
        rules.fields = fields.into();
        parts
    }

    /// Turns a field that holds a file, or a list of them, into a file argument.
    fn take_file(&mut self, field: &mut Field, content_type: &str) -> bool {
        if self.is_file(&field.shape, content_type) {
            field.shape = file_shape(&field.shape.description);
            return true;
        }
        match &mut field.shape.kind {
            Kind::Array(rules) if self.is_file(&rules.items, content_type) => {
                rules.items = file_shape("").into();
                true
            }
            _ => false,
        }
    }

    /// Whether a shape stands for bytes: `format: binary` (3.0), or a text with a media type but no encoding (3.1).
    fn is_file(&mut self, shape: &Shape, content_type: &str) -> bool {
        let Kind::String(rules) = self.resolved(shape).kind else { return false };
        let bytes = |media_type: &str| !media_type.is_empty() && media::kind(media_type) == Medium::Binary;
        rules.format == *"binary"
            || (rules.content_encoding.is_empty()
                && (bytes(&rules.content_media_type) || (rules.format.is_empty() && bytes(content_type))))
    }
}

fn field_encoding(node: &Node<'_>) -> Option<Encoding> {
    let style = node.text("style").and_then(|text| style_of(text, Location::Query));
    let explode = node.get("explode").and_then(|node| node.value.as_bool());
    let allow_reserved = node.flag("allowReserved");
    if style.is_none() && explode.is_none() && !allow_reserved {
        return None;
    }
    let style = style.unwrap_or(Style::Form);
    let explode = style == Style::DeepObject || explode.unwrap_or(style == Style::Form);
    Some(Encoding::Style { style, explode, allow_reserved })
}

/// Returns the rules of an object whose fields may become arguments: it has fields and no other rules.
fn flat(shape: &Shape) -> Option<&ObjectRules> {
    let Kind::Object(rules) = &shape.kind else { return None };
    let plain = ObjectRules { fields: rules.fields.clone(), extra: Extra::Closed, ..ObjectRules::ANY };
    let closed = ObjectRules { extra: Extra::Closed, ..rules.clone() };
    (!rules.fields.is_empty() && !matches!(rules.extra, Extra::Of(_)) && closed == plain).then_some(rules)
}

/// Returns the shape if its values are texts, or else that of any text.
fn text_shape(shape: Shape) -> Shape {
    match &shape.kind {
        Kind::String(rules) if !shape.nullable && rules.format != *"binary" => shape,
        Kind::Enum(_) if !shape.nullable => shape,
        _ => Shape { description: shape.description, ..Shape::of(Kind::String(StringRules::ANY)) },
    }
}

/// Returns the shape of a file argument: see [`FILE_FIELDS`].
fn file_shape(said: &str) -> Shape {
    let how = "A file: give exactly one of `path` and `base64`.";
    let said = said.trim();
    let description = if said.is_empty() { how.to_owned() } else { format!("{said} ({how})") };
    let about = [
        "Path of a local file to send.",
        "The content, base64-encoded.",
        "Name to send it under.",
        "Media type, such as image/png.",
    ];
    let field = |(name, about): (&'static str, &'static str)| {
        let shape = Shape { description: about.into(), ..Shape::of(Kind::String(StringRules::ANY)) };
        Field { name: name.into(), shape, ..Field::OPTIONAL }
    };
    let fields = FILE_FIELDS.into_iter().zip(about).map(field).collect();
    let rules = ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY };
    Shape { description: description.into(), ..Shape::of(Kind::Object(rules)) }
}
