//! Reads the bodies of requests.

use serde_json::{Map, Value, json};
use toolgen_runtime::spec::plan::{Codec, Encoding, Location, Part, Style};
use toolgen_runtime::{List, Text};

use super::codes;
use super::context::Context;
use super::media::{self, Kind};
use super::node::Node;
use super::parameter::style_of;
use super::schema::{WIRE, examples};

/// A body before its place in the arguments is decided.
pub(super) struct BodyDraft {
    /// Whether it must be given.
    pub(super) required: bool,
    /// The `Content-Type`.
    pub(super) media_type: String,
    /// How it is written.
    pub(super) codec: Codec,
    /// Its schema in normal form.
    pub(super) schema: Value,
    /// The schema as an object whose fields may become arguments, if it is one.
    pub(super) fields: Option<Map<String, Value>>,
    /// What the document says about it.
    pub(super) description: String,
    /// Whether some argument is a file.
    pub(super) files: bool,
    /// The document's first example of it.
    pub(super) example: Option<Value>,
}

/// How a body is written, and the schema of its value.
struct Written {
    codec: Codec,
    schema: Value,
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
        let schema = media.get("schema").map_or_else(|| json!({}), |schema| self.schema_of(&schema));
        let (media_type, kind) = self.definite_media(media_type, &schema);
        let Written { codec, schema, files } = self.written(kind, schema, &media);
        let has_fields = matches!(codec, Codec::Json | Codec::Form(_) | Codec::Multipart(_));
        let fields = if has_fields { self.plain_object(&schema).filter(is_flat) } else { None };
        let description = resolved.description.or(body.text("description")).unwrap_or_default();
        Some(BodyDraft {
            required: body.flag("required"),
            media_type,
            codec,
            schema,
            fields,
            description: description.trim().to_owned(),
            files,
            example: media.object().and_then(|object| examples(object).first().copied().cloned()),
        })
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
    fn definite_media(&mut self, media_type: String, schema: &Value) -> (String, Kind) {
        const BYTES: &str = "application/octet-stream";
        let kind = media::kind(&media_type);
        let (definite, kind) = match kind {
            Kind::Any if *schema == json!({}) || self.is_file(schema, "") => (BYTES, Kind::Binary),
            Kind::Any => ("application/json", Kind::Json),
            _ if !media_type.contains('*') => return (media_type, kind),
            Kind::Text => ("text/plain", kind),
            Kind::Multipart => ("multipart/form-data", kind),
            _ => (BYTES, kind),
        };
        (definite.to_owned(), kind)
    }

    /// Returns how a value of the schema is written in a media type of this kind.
    fn written(&mut self, kind: Kind, schema: Value, media: &Node<'a>) -> Written {
        match kind {
            Kind::Json | Kind::JsonLike | Kind::Any => Written { codec: Codec::Json, schema, files: false },
            Kind::Form | Kind::FormData | Kind::Multipart => self.form(kind, schema, media),
            Kind::Text => Written { codec: Codec::Text, schema: text_schema(schema), files: false },
            Kind::Binary => {
                let schema = file_schema(schema.get("description"));
                Written { codec: Codec::Binary, schema, files: true }
            }
            Kind::Xml => {
                self.report(
                    codes::BODY,
                    &media.pointer,
                    "XML is not written from arguments; the body is one argument, the XML text",
                    "offer the body as JSON, too",
                );
                let schema = json!({"type": "string", "description": "The request body as XML text."});
                Written { codec: Codec::Text, schema, files: false }
            }
        }
    }

    /// Reads a form: an object whose fields are written one by one, files as files.
    fn form(&mut self, kind: Kind, schema: Value, media: &Node<'a>) -> Written {
        let codec = if kind == Kind::Form { Codec::Form } else { Codec::Multipart };
        let Some(mut object) = self.plain_object(&schema) else {
            return Written { codec: codec(List::EMPTY), schema: open_object(schema), files: false };
        };
        let parts = self.parts(media, &mut object, kind);
        let files = parts.iter().any(|part| part.file);
        let schema = if files { Value::Object(object) } else { schema };
        Written { codec: codec(parts.into()), schema, files }
    }

    /// Returns the schema, or its reference's target, if it is an object with fields.
    fn plain_object(&mut self, schema: &Value) -> Option<Map<String, Value>> {
        let object = schema.as_object()?;
        let own = match object.get("$ref").and_then(Value::as_str) {
            Some(text) => self.def(text.strip_prefix("#/$defs/")?)?,
            None => schema.clone(),
        };
        let Value::Object(mut object) = own else { return None };
        list_required(&mut object);
        let fields =
            object.get("properties").and_then(Value::as_object).is_some_and(|fields| !fields.is_empty());
        (fields && object.get("type").is_none_or(|kind| kind == "object")).then_some(object)
    }

    /// Returns how the fields of a form are written. Fields that are files become file arguments.
    fn parts(&mut self, media: &Node<'a>, object: &mut Map<String, Value>, kind: Kind) -> Vec<Part> {
        let encodings = media.get("encoding");
        let mut parts = Vec::new();
        let Some(Value::Object(fields)) = object.get_mut("properties") else { return parts };
        for (key, field) in fields.iter_mut() {
            let name = field.get(WIRE).and_then(Value::as_str).unwrap_or(key).to_owned();
            let encoding = encodings.as_ref().and_then(|node| node.get(&name));
            let content_type =
                encoding.as_ref().and_then(|node| node.text("contentType")).unwrap_or_default();
            let single = !content_type.contains(['*', ',']);
            let mut part = Part {
                name: name.into(),
                file: false,
                content_type: if single { content_type.to_owned().into() } else { Text::EMPTY },
                encoding: encoding.as_ref().filter(|_| kind == Kind::Form).and_then(field_encoding),
            };
            if kind != Kind::Form {
                part.file = self.take_file(field, content_type);
            }
            if part.file || !part.content_type.is_empty() || part.encoding.is_some() {
                parts.push(part);
            }
        }
        parts
    }

    /// Turns a field that holds a file, or a list of them, into a file argument.
    fn take_file(&mut self, field: &mut Value, content_type: &str) -> bool {
        let wire = field.get(WIRE).cloned();
        let items = field.get("items").cloned();
        let mut taken = if self.is_file(field, content_type) {
            file_schema(field.get("description"))
        } else if items.is_some_and(|items| self.is_file(&items, content_type)) {
            let mut list = field.clone();
            list["items"] = file_schema(None);
            list
        } else {
            return false;
        };
        if let Some(wire) = wire {
            taken[WIRE] = wire;
        }
        *field = taken;
        true
    }

    /// Whether a schema in normal form stands for bytes: `format: binary` (3.0), or a text with a media type but
    /// no encoding (3.1).
    fn is_file(&mut self, schema: &Value, content_type: &str) -> bool {
        let resolved = match schema.get("$ref").and_then(Value::as_str) {
            Some(text) => self.def(text.trim_start_matches("#/$defs/")).unwrap_or_default(),
            None => schema.clone(),
        };
        let text = |key: &str| resolved.get(key).and_then(Value::as_str).unwrap_or_default();
        let types = resolved.get("type");
        let string = types.is_none_or(|kind| kind == "string" || *kind == json!(["string", "null"]));
        if !string || resolved.get("enum").is_some() {
            return false;
        }
        let bytes = |media_type: &str| !media_type.is_empty() && media::kind(media_type) == Kind::Binary;
        text("format") == "binary"
            || (bytes(text("contentMediaType")) && text("contentEncoding").is_empty())
            || (types.is_some()
                && bytes(content_type)
                && text("format").is_empty()
                && text("contentEncoding").is_empty())
    }
}

/// Lists the fields that are required but not listed; they accept any value.
fn list_required(object: &mut Map<String, Value>) {
    let required = object.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(fields)) = object.get_mut("properties") else { return };
    for key in required.as_array().into_iter().flatten().filter_map(Value::as_str) {
        fields.entry(key).or_insert_with(|| json!({}));
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

/// Whether the fields of an object may become arguments: it has no other rules.
fn is_flat(object: &Map<String, Value>) -> bool {
    const PLAIN: [&str; 9] = [
        "type",
        "properties",
        "required",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    ];
    object.iter().all(|(key, value)| {
        PLAIN.contains(&key.as_str()) || (key == "additionalProperties" && *value == Value::Bool(false))
    })
}

/// Turns a schema that leaves the type open into an object, because a form consists of fields.
fn open_object(mut schema: Value) -> Value {
    const TYPED: [&str; 8] = ["$ref", "type", "enum", "const", "allOf", "anyOf", "oneOf", "not"];
    match schema.as_object_mut() {
        Some(object) if !TYPED.iter().any(|keyword| object.contains_key(*keyword)) => {
            object.insert("type".to_owned(), json!("object"));
            schema
        }
        _ => schema,
    }
}

fn text_schema(schema: Value) -> Value {
    if schema.get("type").is_some_and(|kind| kind == "string")
        && schema.get("format").is_none_or(|f| f != "binary")
    {
        return schema;
    }
    let mut text = Map::from_iter([("type".to_owned(), json!("string"))]);
    text.extend(schema.get("description").map(|description| ("description".to_owned(), description.clone())));
    Value::Object(text)
}

/// Returns the schema of a file argument: see [`FILE_FIELDS`](toolgen_runtime::spec::plan::FILE_FIELDS).
fn file_schema(description: Option<&Value>) -> Value {
    let said = description.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let how = "A file: give exactly one of `path` and `base64`.";
    let description = said.map_or_else(|| how.to_owned(), |said| format!("{said} ({how})"));
    json!({
        "type": "object",
        "description": description,
        "properties": {
            "path": {"type": "string", "description": "Path of a local file to send."},
            "base64": {"type": "string", "description": "The content, base64-encoded."},
            "filename": {"type": "string", "description": "Name to send it under."},
            "content_type": {"type": "string", "description": "Media type, such as image/png."}
        },
        "additionalProperties": false
    })
}
