//! Reads forms: bodies whose fields are parameters, `in: formData`.

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
    pub(in super::super) fn form_body(&mut self, given: &[Resolved<'a>], consumes: &[&'a str]) -> BodyDraft {
        let is_named = |one: &&Resolved<'a>| one.node.text("name").is_some_and(|name| !name.is_empty());
        for one in given.iter().filter(|one| !is_named(one)) {
            self.report(
                codes::PARAMETER,
                &one.node.pointer,
                "a parameter needs a `name`; it is left out",
                "add `name` and `in`",
            );
        }
        let given: Vec<&Resolved<'a>> = given.iter().filter(is_named).collect();
        let names = || given.iter().filter_map(|one| one.node.text("name"));
        let keys = portable_keys(names());
        let mut fields: Vec<Field> = Vec::with_capacity(given.len());
        let mut parts: Vec<Part> = Vec::new();
        for (one, name) in given.iter().zip(names()) {
            let key = keys.get(name).map_or(name, String::as_str);
            let (shape, part) = self.form_field(one, name);
            parts.extend(part);
            let wire = if key == name { String::new() } else { name.to_owned() };
            let required = one.node.flag("required");
            fields.push(Field {
                name: key.to_owned().into(),
                wire: wire.into(),
                required,
                shape,
                ..Field::OPTIONAL
            });
        }
        let files = parts.iter().any(|part| part.file);
        let media_type = self.form_type(consumes, files, given.first().copied());
        if media::kind(media_type) != Medium::Form {
            // By default, an array has a part for each value.
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

    /// Returns the shape of a field, and its encoding unless that follows from its value.
    fn form_field(&mut self, given: &Resolved<'a>, name: &str) -> (Shape, Option<Part>) {
        let node = &given.node;
        let part = Part {
            name: name.to_owned().into(),
            file: false,
            content_type: toolgen_core::Text::EMPTY,
            encoding: None,
        };
        let is_file = |text: Option<&str>| text.is_some_and(|text| text.eq_ignore_ascii_case("file"));
        let items = node.get("items");
        let shape = if is_file(node.text("type")) {
            file_shape(&given.prose(), "")
        } else if items.is_some_and(|items| is_file(items.text("type"))) {
            let items = file_shape("", "").into();
            let mut list = Shape::of(Kind::Array(ArrayRules { items, ..ArrayRules::ANY }));
            self.parameter_remarks(given, &mut list);
            list
        } else {
            let mut shape = self.own_shape(node, name);
            self.parameter_remarks(given, &mut shape);
            let is_list = node.text("type") == Some("array");
            // Fields are encoded as in a query.
            let encoding = is_list.then(|| self.collected(node, Location::Query));
            return (shape, encoding.map(|encoding| Part { encoding: Some(encoding), ..part }));
        };
        (shape, Some(Part { file: true, ..part }))
    }

    /// Returns the media type of a form: the first one that can represent it.
    fn form_type(&mut self, consumes: &[&'a str], files: bool, first: Option<&Resolved<'a>>) -> &'a str {
        const FORM: &str = "application/x-www-form-urlencoded";
        const PARTS: &str = "multipart/form-data";
        let usual = if files { PARTS } else { FORM };
        let of = |wanted: Medium| consumes.iter().copied().find(|name| media::kind(name) == wanted);
        let parts = of(Medium::FormData);
        let found = if files { parts } else { of(Medium::Form).or(parts) };
        if let (None, Some(first), false) = (found, first, consumes.is_empty()) {
            self.report(
                codes::BODY,
                &first.node.pointer,
                format!(
                    "the operation consumes {}, which is not a form; it is sent as {usual}",
                    consumes.join(", ")
                ),
                "name the media type of the form under `consumes`",
            );
        }
        found.unwrap_or(usual)
    }
}
