//! Resolves references of schemas to the same file, and to files in or below the directory of the manifest.

use serde_json::Value;

use super::super::codes;
use super::super::context::{Context, SchemaLocation};
use crate::selector::suggestion;
use crate::source::Pointer;

impl Context<'_> {
    /// Returns the reference to a named shape that replaces a `$ref`. Returns `None` after a problem.
    pub(super) fn schema_reference(&mut self, value: &Value, location: &SchemaLocation) -> Option<String> {
        let Value::String(text) = value else {
            let help = "write `$ref: '#/schemas/NAME'`";
            self.report_at(codes::REFERENCE, location, "a reference must be a string".to_owned(), help);
            return None;
        };
        let target = self.target(text, location)?;
        let name = self.def_of(target);
        Some(format!("#/$defs/{name}"))
    }

    /// Returns the location that a reference resolves to.
    fn target(&mut self, text: &str, location: &SchemaLocation) -> Option<SchemaLocation> {
        let (file_name, fragment) = text.split_once('#').unwrap_or((text, ""));
        let file = if file_name.is_empty() {
            location.file
        } else {
            match self.read_file(file_name, location.file) {
                Ok(file) => file,
                Err((message, help)) => {
                    self.report_at(codes::FILE, location, message, &help);
                    return None;
                }
            }
        };
        let Some(pointer) = Pointer::from_fragment(fragment) else {
            let message = format!("`{text}` names an anchor, and anchors are not followed");
            self.report_at(
                codes::REFERENCE,
                location,
                message,
                "write the path to the schema: `#/schemas/NAME`",
            );
            return None;
        };
        let root = &self.files.document(file)?.root;
        if pointer.resolve(root).is_some() {
            return Some(SchemaLocation { file, pointer: pointer.clone(), root: pointer });
        }
        // `#/$defs/NAME` may be relative to the root schema, as if it were a separate file.
        let relative = Pointer::parse(&format!("{}{pointer}", location.root)).unwrap_or_default();
        if file == location.file && relative.resolve(root).is_some() {
            return Some(SchemaLocation { file, pointer: relative, root: location.root.clone() });
        }
        let suggested = pointer.parent().and_then(|parent| {
            let siblings = parent.resolve(root)?.as_object()?;
            let suggested = suggestion(&pointer.last()?, siblings.keys().map(String::as_str))?;
            Some(format!("did you mean `{file_name}#{}`?", parent.child(&suggested)))
        });
        let help =
            suggested.unwrap_or_else(|| "write the path to a schema, such as `#/schemas/NAME`".to_owned());
        self.report_at(codes::REFERENCE, location, format!("`{text}` does not resolve"), &help);
        None
    }
}
