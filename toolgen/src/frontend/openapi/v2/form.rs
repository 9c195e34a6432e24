//! Reads forms: bodies whose fields are parameters with `in: formData`.

use toolgen_core::Shape;
use toolgen_core::schema::shape::{ArrayRules, Extra, Field, Kind, ObjectRules};
use toolgen_core::spec::plan::{Codec, Encoding, Location, Part};

use super::super::body::{BodyDraft, flat};
use super::super::codes;
use super::super::context::Context;
use super::super::form::file_shape;
use super::super::media::{self, Kind as Medium};
use super::super::reference::Resolved;
use crate::names::portable_keys;

impl<'a> Context<'a> {
    /// Returns the body that consists of these parameters.
    pub(in super::super) fn form_body(
        &mut self,
        parameters: &[Resolved<'a>],
        consumes: &[&'a str],
    ) -> BodyDraft {
        let is_named =
            |parameter: &&Resolved<'a>| parameter.node.text("name").is_some_and(|name| !name.is_empty());
        for parameter in parameters.iter().filter(|parameter| !is_named(parameter)) {
            self.report(
                codes::PARAMETER,
                &parameter.node.pointer,
                "a parameter needs a `name`; it is left out",
                "add `name` and `in`",
            );
        }
        let parameters: Vec<&Resolved<'a>> = parameters.iter().filter(is_named).collect();
        let names = || parameters.iter().filter_map(|parameter| parameter.node.text("name"));
        let keys = portable_keys(names());
        let mut fields: Vec<Field> = Vec::with_capacity(parameters.len());
        let mut parts: Vec<Part> = Vec::new();
        for (parameter, name) in parameters.iter().zip(names()) {
            let key = keys.get(name).map_or(name, String::as_str);
            let (shape, part) = self.form_field(parameter, name);
            parts.extend(part);
            let wire_name = if key == name { String::new() } else { name.to_owned() };
            let required = parameter.node.is_true("required");
            fields.push(Field {
                name: key.to_owned().into(),
                wire: wire_name.into(),
                required,
                shape,
                ..Field::OPTIONAL
            });
        }
        let files = parts.iter().any(|part| part.file);
        let media_type = self.form_media_type(consumes, files, parameters.first().copied());
        if media::kind(media_type) != Medium::Form {
            // By default, an array is sent as a part for each value.
            parts.retain(|part| {
                part.file || !matches!(part.encoding, Some(Encoding::Style { explode: true, .. }))
            });
        }
        let codec = match media::kind(media_type) {
            Medium::Form => Codec::Form(parts.into()),
            _ => Codec::Multipart(parts.into()),
        };
        let required = fields.iter().any(|field| field.required);
        let rules = ObjectRules { fields: fields.into(), extra: Extra::Closed, ..ObjectRules::ANY };
        let shape = Shape::of(Kind::Object(rules));
        BodyDraft {
            required,
            media_type: media_type.to_owned(),
            codec,
            fields: flat(&shape).cloned(),
            shape,
            own_description: toolgen_core::Text::EMPTY,
            description: String::new(),
            files,
            example: None,
        }
    }

    /// Returns the shape of a field, and its encoding unless the default applies.
    fn form_field(&mut self, parameter: &Resolved<'a>, name: &str) -> (Shape, Option<Part>) {
        let node = &parameter.node;
        let part = Part {
            name: name.to_owned().into(),
            file: false,
            content_type: toolgen_core::Text::EMPTY,
            encoding: None,
        };
        let is_file = |text: Option<&str>| text.is_some_and(|text| text.eq_ignore_ascii_case("file"));
        let items = node.get("items");
        let shape = if is_file(node.text("type")) {
            file_shape(&parameter.prose(), "")
        } else if items.is_some_and(|items| is_file(items.text("type"))) {
            let items = file_shape("", "").into();
            let mut array = Shape::of(Kind::Array(ArrayRules { items, ..ArrayRules::ANY }));
            self.apply_annotations(parameter, &mut array);
            array
        } else {
            let mut shape = self.own_shape(node, name);
            self.apply_annotations(parameter, &mut shape);
            let is_array = node.text("type") == Some("array");
            // Fields are encoded as in a query.
            let encoding = is_array.then(|| self.collection_encoding(node, Location::Query));
            return (shape, encoding.map(|encoding| Part { encoding: Some(encoding), ..part }));
        };
        (shape, Some(Part { file: true, ..part }))
    }

    /// Returns the media type of a form: a consumed type that can represent the form, or else the default.
    fn form_media_type(
        &mut self,
        consumes: &[&'a str],
        files: bool,
        first: Option<&Resolved<'a>>,
    ) -> &'a str {
        const FORM: &str = "application/x-www-form-urlencoded";
        const MULTIPART: &str = "multipart/form-data";
        let default_type = if files { MULTIPART } else { FORM };
        let find_type = |kind: Medium| consumes.iter().copied().find(|name| media::kind(name) == kind);
        let multipart_type = find_type(Medium::FormData);
        let form_media_type = if files { multipart_type } else { find_type(Medium::Form).or(multipart_type) };
        if let (None, Some(first), false) = (form_media_type, first, consumes.is_empty()) {
            self.report(
                codes::BODY,
                &first.node.pointer,
                format!(
                    "the operation consumes {}, which is not a form; it is sent as {default_type}",
                    consumes.join(", ")
                ),
                "name the media type of the form under `consumes`",
            );
        }
        form_media_type.unwrap_or(default_type)
    }
}
