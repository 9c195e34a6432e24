//! File arguments: files that a request sends.

use crate::schema::shape::{Field, Kind, ObjectRules, Shape, UnionRules};

use super::{Body, BodySource, Codec, Part, RequestPlan};

/// The fields of a file argument: exactly one of `text`, `base64` and `path`, and optionally a `filename` and a
/// `content_type`.
pub const FILE_FIELDS: [&str; 5] = ["text", "base64", "path", "filename", "content_type"];

/// Returns the description of a file argument. It offers `text` if the content may be text, and `path` if the program
/// can read files.
#[must_use]
pub const fn file_argument_help(text: bool, path: bool) -> &'static str {
    match (text, path) {
        (true, true) => "give exactly one of `text`, `base64` and `path`",
        (true, false) => "give exactly one of `text` and `base64`",
        (false, true) => "give exactly one of `base64` and `path`",
        (false, false) => "give its content in `base64`",
    }
}

impl RequestPlan {
    /// Whether some argument is a file.
    #[must_use]
    pub fn sends_files(&self) -> bool {
        match self.body.as_ref().map(|body| &body.codec) {
            Some(Codec::Binary) => true,
            Some(Codec::Multipart(parts)) => parts.iter().any(|part| part.file),
            _ => false,
        }
    }

    /// Returns the arguments of the request without file paths, for a program that cannot read files. `None` if there
    /// are no file arguments.
    #[must_use]
    pub fn without_paths(&self, input: &Shape) -> Option<Shape> {
        let (Some(Body { codec, source, .. }), Kind::Object(rules)) = (&self.body, &input.kind) else {
            return None;
        };
        let is_file = |name: &str| match (codec, source) {
            (Codec::Binary, BodySource::Argument(argument))
            | (Codec::Multipart(_), BodySource::Argument(argument)) => argument == name,
            (Codec::Multipart(parts), BodySource::Fields(fields)) => fields.iter().any(|field| {
                field.argument == *name && Part::of(parts, &field.name).is_some_and(|part| part.file)
            }),
            _ => false,
        };
        let mut fields = rules.fields.to_vec();
        let mut changed = false;
        for field in fields.iter_mut().filter(|field| self.sends_files() && is_file(field.wire_name())) {
            changed |= drop_paths(&mut field.shape);
        }
        let rules = ObjectRules { fields: fields.into(), ..rules.clone() };
        changed.then(|| Shape { kind: Kind::Object(rules), ..input.clone() })
    }
}

/// Removes the path from each file argument in a shape, and updates its description. Returns whether the shape
/// contains a file argument.
fn drop_paths(shape: &mut Shape) -> bool {
    let changed = match &mut shape.kind {
        Kind::Object(rules) if is_file(&rules.fields) => {
            rules.fields = rules.fields.iter().filter(|field| field.name != *"path").cloned().collect();
            true
        }
        Kind::Object(rules) => {
            let mut fields = rules.fields.to_vec();
            let changed =
                fields.iter_mut().fold(false, |changed, field| drop_paths(&mut field.shape) | changed);
            rules.fields = fields.into();
            changed
        }
        Kind::Array(rules) => {
            let mut items = (*rules.items).clone();
            let changed = drop_paths(&mut items);
            rules.items = items.into();
            changed
        }
        Kind::Union(UnionRules { variants: parts, .. }) | Kind::All(parts) => {
            let mut parts_without_paths = parts.to_vec();
            let changed =
                parts_without_paths.iter_mut().fold(false, |changed, part| drop_paths(part) | changed);
            *parts = parts_without_paths.into();
            changed
        }
        _ => false,
    };
    if changed {
        for text in [true, false] {
            let description =
                shape.description.replace(file_argument_help(text, true), file_argument_help(text, false));
            shape.description = description.into();
        }
    }
    changed
}

/// Whether the fields are those of a file argument, with or without `text` and `content_type`.
fn is_file(fields: &[Field]) -> bool {
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let names = names.strip_prefix(&FILE_FIELDS[..1]).unwrap_or(&names);
    names.len() >= 3 && FILE_FIELDS[1..].starts_with(names)
}
