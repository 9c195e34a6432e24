//! References of schemas: to locations in the same file, and to files in or below the directory of the manifest.

use serde_json::Value;

use super::super::codes;
use super::super::context::{Context, SchemaPlace};
use crate::selector::suggestion;
use crate::source::Pointer;

impl Context<'_> {
    /// Returns the reference to a named shape that a `$ref` is expanded to. `None` after a problem.
    pub(super) fn schema_reference(&mut self, value: &Value, at: &SchemaPlace) -> Option<String> {
        let Value::String(text) = value else {
            let help = "write `$ref: '#/schemas/NAME'`";
            self.report_at(codes::REFERENCE, at, "a reference must be a string".to_owned(), help);
            return None;
        };
        let target = self.target(text, at)?;
        let name = self.def_of(target);
        Some(format!("#/$defs/{name}"))
    }

    /// Returns the location that a reference resolves to.
    fn target(&mut self, text: &str, at: &SchemaPlace) -> Option<SchemaPlace> {
        let (file_name, fragment) = text.split_once('#').unwrap_or((text, ""));
        let file = if file_name.is_empty() {
            at.file
        } else {
            match self.read_file(file_name, at.file) {
                Ok(file) => file,
                Err((message, help)) => {
                    self.report_at(codes::FILE, at, message, &help);
                    return None;
                }
            }
        };
        let Some(pointer) = Pointer::from_fragment(fragment) else {
            let message = format!("`{text}` names an anchor, and anchors are not followed");
            self.report_at(codes::REFERENCE, at, message, "write the path to the schema: `#/schemas/NAME`");
            return None;
        };
        let root = &self.files.document(file)?.root;
        if pointer.resolve(root).is_some() {
            return Some(SchemaPlace { file, pointer: pointer.clone(), whole: pointer });
        }
        // `#/$defs/NAME` may be relative to the schema, as if that were a separate file.
        let inner = Pointer::parse(&format!("{}{pointer}", at.whole)).unwrap_or_default();
        if file == at.file && inner.resolve(root).is_some() {
            return Some(SchemaPlace { file, pointer: inner, whole: at.whole.clone() });
        }
        let near = pointer.parent().and_then(|parent| {
            let siblings = parent.resolve(root)?.as_object()?;
            let near = suggestion(&pointer.last()?, siblings.keys().map(String::as_str))?;
            Some(format!("did you mean `{file_name}#{}`?", parent.child(&near)))
        });
        let help = near.unwrap_or_else(|| "write the path to a schema, such as `#/schemas/NAME`".to_owned());
        self.report_at(codes::REFERENCE, at, format!("`{text}` does not resolve"), &help);
        None
    }
}
