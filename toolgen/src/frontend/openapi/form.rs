//! Reads forms: the parts of a body, which are encoded separately, and the files among them.

use toolgen_core::internal::outline_within;
use toolgen_core::internal::truncate::sentence_separator;
use toolgen_core::schema::shape::read::SchemaVersion;
use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules, StringRules, UnionMode, UnionRules};
use toolgen_core::spec::plan::{
    Codec, Encoding, FILE_FIELDS, Location, Part, Style, Xml, file_argument_help,
};
use toolgen_core::{List, Shape, Text};

use super::codes;
use super::context::Context;
use super::media::{self, Kind as Medium};
use super::node::Node;
use super::parameter::{remove_null, style_of};
use super::xml::MAX_DEPTH;
use crate::source::Pointer;

/// Returns the fields of a body that become arguments. Optional fields of a form that are sent as text do not allow
/// `null`.
pub(super) fn fields_of(rules: &ObjectRules, codec: &Codec) -> ObjectRules {
    let mut rules = rules.clone();
    if let Codec::Form(parts) | Codec::Multipart(parts) = codec {
        let is_text =
            |name: &str| !parts.iter().any(|part| part.name == *name && !part.content_type.is_empty());
        let mut fields = rules.fields.to_vec();
        for field in fields.iter_mut().filter(|field| !field.required && is_text(field.wire_name())) {
            remove_null(&mut field.shape);
        }
        rules.fields = fields.into();
    }
    rules
}

impl<'a> Context<'a> {
    /// Returns the encoding of the fields of a form. Fields that are files become file arguments.
    pub(super) fn parts(&mut self, media: &Node<'a>, object: &mut Shape, kind: Medium) -> Vec<Part> {
        if let Kind::All(all) = &object.kind {
            // In an `allOf`, the first object contains the fields.
            let mut members = all.to_vec();
            let object_part = members.iter_mut().find(|part| matches!(part.kind, Kind::Object(_)));
            let parts = object_part.map(|part| self.parts(media, part, kind)).unwrap_or_default();
            object.kind = Kind::All(members.into());
            return parts;
        }
        if let Kind::Union(union) = &mut object.kind {
            return self.parts_of_union(media, union, kind);
        }
        let Kind::Object(rules) = &mut object.kind else { return Vec::new() };
        let encodings = media.get("encoding");
        let schema = media.get("schema");
        // OpenAPI 3.0 allows styles only in forms that are not multipart.
        let allows_styles = match kind {
            Medium::Form => true,
            Medium::FormData => self.version == SchemaVersion::OpenApi31,
            _ => false,
        };
        let mut parts = Vec::new();
        let mut fields = rules.fields.to_vec();
        for field in &mut fields {
            let name = field.wire_name().to_owned();
            let encoding = encodings.as_ref().and_then(|node| node.get(&name));
            encoding.iter().for_each(|encoding| self.note_part_headers(encoding, kind));
            let content_type = encoding.as_ref().map_or("", |encoding| self.part_media_type(encoding));
            let file =
                kind != Medium::Form && self.convert_file(&mut field.shape, content_type, &media.pointer);
            let style = encoding.as_ref().filter(|_| !file && allows_styles).and_then(field_encoding);
            // The media type of a file may be a list.
            let (content_type, xml) = match &encoding {
                // A style takes precedence over a media type.
                Some(_) if style.is_some() => (String::new(), None),
                Some(encoding) if !file => {
                    let property =
                        schema.as_ref().and_then(|schema| self.property_of(schema, &name, MAX_DEPTH));
                    // Each item is a separate part.
                    let item_schema =
                        property.as_ref().and_then(|property| self.follow(property).ok()?.node.get("items"));
                    let schema = item_schema.or(property).map(|schema| (schema, name.as_str()));
                    self.value_encoding(&mut field.shape, content_type, encoding, schema)
                }
                _ => (content_type.to_owned(), None),
            };
            // Encoded bytes are also bytes (3.1, "Encoding Object").
            let is_plain = content_type.is_empty() && style.is_none() && xml.is_none() && !file;
            let is_bytes =
                is_plain && allows_styles && kind == Medium::FormData && self.is_encoded(&field.shape);
            let content_type = if is_bytes { media::BYTES.to_owned() } else { content_type };
            let part = Part {
                name: name.into(),
                file,
                content_type: content_type.into(),
                encoding: style.or(xml.map(Encoding::Xml)),
            };
            if part.file || !part.content_type.is_empty() || part.encoding.is_some() {
                parts.push(part);
            }
        }
        rules.fields = fields.into();
        if let (Extra::Of(shape), true) = (&rules.extra, kind != Medium::Form) {
            let mut shape = (**shape).clone();
            if self.convert_file(&mut shape, "", &media.pointer) {
                rules.extra = Extra::Of(shape.into());
                let (name, content_type) = (Text::EMPTY, Text::EMPTY);
                parts.push(Part { name, file: true, content_type, encoding: None });
            }
        }
        parts
    }

    /// Reports headers of a part, which are not sent. Only parts of a multipart form have headers.
    fn note_part_headers(&mut self, encoding: &Node<'a>, kind: Medium) {
        let headers = encoding.members("headers");
        let is_sent = |name: &str| !name.eq_ignore_ascii_case("content-type");
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).filter(|name| is_sent(name)).collect();
        if kind != Medium::Form && !names.is_empty() {
            let message = format!("the headers of the part are not sent: {}", names.join(", "));
            let help = "declare what the service needs as a field of the form";
            self.report(codes::PART_HEADERS, &encoding.pointer.child("headers"), message, help);
        }
    }

    /// Returns the encoding of the fields of a union's objects. Fields with the same name have the same encoding.
    fn parts_of_union(&mut self, media: &Node<'a>, union: &mut UnionRules, kind: Medium) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut variants = union.variants.to_vec();
        for variant in &mut variants {
            let mut object = self.resolved(variant);
            if matches!(object.kind, Kind::Union(_)) {
                continue;
            }
            let variant_parts = self.parts(media, &mut object, kind);
            if variant_parts.iter().any(|part| part.file) {
                *variant = object;
                // A discriminator identifies variants by their references.
                union.discriminator = None;
            }
            let known_names: Vec<Text> = parts.iter().map(|part| part.name.clone()).collect();
            parts.extend(variant_parts.into_iter().filter(|part| !known_names.contains(&part.name)));
        }
        union.variants = variants.into();
        parts
    }

    /// Drops media types with line breaks, which would end the `Content-Type` header.
    pub(super) fn drop_multiline_types(&mut self, media: &mut Vec<(&'a str, Node<'a>)>) {
        for (media_type, node) in media.extract_if(.., |(name, _)| name.trim().contains(char::is_control)) {
            self.report(
                codes::BODY,
                &node.pointer,
                format!("the media type {media_type:?} contains a control character; it is left out"),
                "write it on one line",
            );
        }
    }

    /// Returns the media type of a part, unless it would break the part's header.
    fn part_media_type(&mut self, encoding: &Node<'a>) -> &'a str {
        let content_type = encoding.text("contentType").unwrap_or_default();
        if !content_type.trim().contains(char::is_control) {
            return content_type;
        }
        self.report(
            codes::BODY,
            &encoding.pointer.child("contentType"),
            "a media type contains a line break or another control character; it is left out",
            "write it on one line",
        );
        ""
    }

    /// Converts a shape that is a file, an array of files or a union with a file variant to the shape of a file
    /// argument. A union of a file and an object, which are indistinguishable, is kept and reported.
    fn convert_file(&mut self, shape: &mut Shape, content_type: &str, pointer: &Pointer) -> bool {
        if self.is_file(shape, content_type) {
            *shape = file_shape(&shape.description, content_type);
            return true;
        }
        if let Kind::Array(rules) = &mut shape.kind {
            let is_file = self.is_file(&rules.items, content_type);
            if is_file {
                rules.items = file_shape("", content_type).into();
            }
            return is_file;
        }
        let resolved = self.resolved(shape);
        let Kind::Union(mut union) = resolved.kind else { return false };
        let mut variants = union.variants.to_vec();
        let mut is_files = Vec::new();
        for variant in &mut variants {
            let resolved_variant = self.resolved(variant);
            let is_file = !matches!(resolved_variant.kind, Kind::Union(_))
                && self.convert_file(variant, content_type, pointer);
            is_files.push(is_file);
        }
        if !is_files.contains(&true) {
            return false;
        }
        let is_object_like = |kind: &Kind| matches!(kind, Kind::Object(_) | Kind::All(_) | Kind::Any);
        let others = variants.iter().zip(&is_files).filter(|(_, is_file)| !**is_file);
        let others: Vec<Shape> = others.map(|(variant, _)| variant.clone()).collect();
        if others.iter().any(|variant| self.may_be(variant, is_object_like)) {
            self.report(
                codes::BODY,
                pointer,
                "a field is a file or an object, which are indistinguishable; no file can be sent in it",
                "declare the file and the object as separate fields",
            );
            return false;
        }
        union.variants = variants.into();
        union.discriminator = None;
        shape.nullable |= resolved.nullable;
        if shape.description.is_empty() {
            shape.description = resolved.description;
        }
        shape.kind = Kind::Union(union);
        true
    }

    /// Returns the media type of the list that a value is encoded in, if any, and the XML encoding for its schema and
    /// name. If no type of the list can encode an array or an object, it becomes a string and is reported.
    fn value_encoding(
        &mut self,
        shape: &mut Shape,
        list: &str,
        encoding: &Node<'a>,
        schema: Option<(Node<'a>, &str)>,
    ) -> (String, Option<Xml>) {
        let media_types =
            || list.split(',').map(str::trim).filter(|name| !name.is_empty() && !name.contains('*'));
        let is_encodable = |name: &&str| {
            matches!(media::kind(name), Medium::Json | Medium::JsonLike | Medium::Yaml)
                || *name == "text/plain"
        };
        let first_type = media_types().next().unwrap_or_default();
        if first_type.is_empty() || !self.is_structured(shape) {
            return (first_type.to_owned(), None);
        }
        if let Some(name) = media_types().find(is_encodable) {
            return (name.to_owned(), None);
        }
        let xml_type = media_types().find(|name| media::kind(name) == Medium::Xml);
        if let (Some(media_type), Some((schema, name))) = (xml_type, schema) {
            return (media_type.to_owned(), Some(self.xml(&schema, name)));
        }
        if let Kind::Array(rules) = &mut shape.kind {
            // Each item is encoded separately.
            let mut items = (*rules.items).clone();
            self.value_encoding(&mut items, first_type, encoding, None);
            rules.items = items.into();
        } else {
            *shape = document_shape(&shape.description, first_type);
            self.report_not_encodable(first_type, &encoding.pointer, "the argument is the complete text");
        }
        (first_type.to_owned(), None)
    }

    /// Returns the encoding of a value as a document of a media type. XML follows the schema of the media type.
    pub(super) fn content_encoding(
        &mut self,
        shape: &mut Shape,
        media_type: &str,
        media: &Node<'a>,
        name: &str,
    ) -> Encoding {
        let schema = media.get("schema").map(|schema| (schema, name));
        let (_, xml) = self.value_encoding(shape, media_type, media, schema);
        xml.map_or_else(|| Encoding::Content(media_type.to_owned().into()), Encoding::Xml)
    }

    /// Whether values of a shape are objects or arrays.
    pub(super) fn is_structured(&mut self, shape: &Shape) -> bool {
        self.may_be(shape, |kind| {
            matches!(kind, Kind::Object(_) | Kind::All(_) | Kind::Array(_) | Kind::Tuple(_))
        })
    }

    pub(super) fn report_not_encodable(&mut self, media_type: &str, pointer: &Pointer, instead: &str) {
        self.report(
            codes::BODY,
            pointer,
            format!("`{media_type}` cannot be generated from arguments of this schema; {instead}"),
            "also offer JSON",
        );
    }

    /// Describes a file whose schema describes a decoded value: for example, a signed or encrypted document.
    pub(super) fn encoded_description(&mut self, shape: &Shape, media_type: &str) -> Text {
        let object = self.resolved(shape);
        let existing = [&shape.description, &object.description].into_iter().find(|text| !text.is_empty());
        let existing = existing
            .map_or_else(String::new, |text| format!("{}{}", text.trim_end(), sentence_separator(text)));
        let outline = outline_within(&object, &List::EMPTY)
            .map_or_else(String::new, |outline| format!(" of {outline}"));
        format!("{existing}The {media_type}{outline}.").into()
    }

    /// Whether a shape represents bytes: `format: binary` (3.0), or a string with a binary media type but no encoding
    /// (3.1).
    pub(super) fn is_file(&mut self, shape: &Shape, content_type: &str) -> bool {
        let is_binary =
            |media_type: &str| !media_type.is_empty() && media::kind(media_type) == Medium::Binary;
        let rules = match self.resolved(shape).kind {
            Kind::String(rules) => rules,
            // Without a type in the schema, the media type decides (3.1).
            kind => return kind == Kind::Any && is_binary(content_type),
        };
        // A string with a binary media type is a file.
        let declares_file = |media_type: &str| {
            is_binary(media_type) && (media_type.contains(media::BYTES) || !media::may_be_text(media_type))
        };
        rules.format == *"binary"
            || (rules.content_encoding.is_empty()
                && (declares_file(&rules.content_media_type)
                    || (rules.format.is_empty() && declares_file(content_type))))
    }

    /// Whether a shape, or the shape of its items, is a string that encodes bytes: `format: byte` (3.0),
    /// `contentEncoding`.
    pub(super) fn is_encoded(&mut self, shape: &Shape) -> bool {
        match self.resolved(shape).kind {
            Kind::String(rules) => !rules.content_encoding.is_empty(),
            Kind::Array(rules) => {
                matches!(self.resolved(&rules.items).kind, Kind::String(rules) if !rules.content_encoding.is_empty())
            }
            _ => false,
        }
    }

    /// Whether a shape is a string without any indication that it represents bytes.
    pub(super) fn is_plain_text(&mut self, shape: &Shape) -> bool {
        let Kind::String(rules) = self.resolved(shape).kind else { return false };
        rules.format != *"binary" && rules.content_encoding.is_empty() && rules.content_media_type.is_empty()
    }
}

fn field_encoding(node: &Node<'_>) -> Option<Encoding> {
    let style = node.text("style").and_then(|text| style_of(text, Location::Query));
    let explode = node.boolean("explode");
    let allow_reserved = node.is_true("allowReserved");
    if style.is_none() && explode.is_none() && !allow_reserved {
        return None;
    }
    let style = style.unwrap_or(Style::Form);
    let explode = style == Style::DeepObject || explode.unwrap_or(style == Style::Form);
    Some(Encoding::Style { style, explode, allow_reserved })
}

/// Returns the shape if its values are strings, or else the shape of any string.
pub(super) fn text_shape(shape: Shape) -> Shape {
    match &shape.kind {
        Kind::String(rules) if !shape.nullable && rules.format != *"binary" => shape,
        Kind::Enum(_) if !shape.nullable => shape,
        _ => Shape { description: shape.description, ..Shape::of(Kind::String(StringRules::ANY)) },
    }
}

/// Returns the shape of a complete document that the model writes itself.
pub(super) fn document_shape(message: &str, media_type: &str) -> Shape {
    let description = with_hint(message, &format!("A text of the type {media_type}."));
    Shape { description, ..Shape::of(Kind::String(StringRules::ANY)) }
}

fn with_hint(text: &str, addition: &str) -> Text {
    let text = text.trim();
    if text.is_empty() { addition.to_owned().into() } else { format!("{text} ({addition})").into() }
}

/// Returns the shape of a body whose schema is a string and whose media type is binary: text or a file is accepted.
pub(super) fn text_or_file_shape(text: Shape, allowed: &str) -> Shape {
    let description =
        with_hint(&text.description, &format!("A text, or a file: {}.", file_argument_help(true, true)));
    let text = Shape { description: Text::EMPTY, ..text_shape(text) };
    let variants = vec![text, file_shape("", allowed)].into();
    let union = UnionRules { mode: UnionMode::Any, variants, discriminator: None };
    Shape { description, ..Shape::of(Kind::Union(union)) }
}

/// Returns the shape of a file argument: see [`FILE_FIELDS`]. If several media types or ranges are
/// allowed, the model sets the type.
pub(super) fn file_shape(message: &str, allowed: &str) -> Shape {
    let allows_text = allowed.is_empty() || allowed.split(',').any(media::may_be_text);
    let description = with_hint(message, &format!("A file: {}.", file_argument_help(allows_text, true)));
    let is_single = !allowed.is_empty() && !allowed.contains([',', '*']);
    let is_any = allowed.is_empty() || allowed.split(',').any(|name| name.trim() == "*/*");
    let media_type = match is_any {
        true => "Media type, such as image/png.".to_owned(),
        false => format!("Media type, of these: {allowed}."),
    };
    let descriptions = [
        "The content, if it is a text.",
        "The content, base64-encoded.",
        "Path of a local file to send.",
        "Name to send it under.",
        media_type.as_str(),
    ];
    let field = |(name, description): (&'static str, &str)| {
        let description = description.to_owned().into();
        let shape = Shape { description, ..Shape::of(Kind::String(StringRules::ANY)) };
        Field { name: name.into(), shape, ..Field::OPTIONAL }
    };
    let offered_fields = FILE_FIELDS
        .into_iter()
        .zip(descriptions)
        .take(if is_single { 4 } else { 5 })
        .skip(usize::from(!allows_text));
    let fields = offered_fields.map(field).collect();
    let rules = ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY };
    Shape { description, ..Shape::of(Kind::Object(rules)) }
}
