//! Moves the modules of tags and of imported documents to separate files.

use super::super::modules::RESERVED;
use super::file_chunks::{Module, items, module};

/// A source text without the modules that were extracted.
pub(super) struct ExtractedModules {
    /// The remaining text.
    pub(super) text: String,
    /// The lines that declare the modules, each with its documentation.
    pub(super) declarations: String,
    /// The modules: name and source text.
    pub(super) modules: Vec<(String, String)>,
}

/// Extracts the modules of tags and of imported documents from a source text.
pub(super) fn extract(text: &str) -> ExtractedModules {
    let (mut remaining, mut declarations, mut modules) = (Vec::new(), String::new(), Vec::new());
    for item in items(text, 0) {
        match module(item, 0).filter(|module| !RESERVED.contains(&module.name)) {
            Some(Module { head, name, items }) => {
                declarations.push_str(&format!("\n{};\n", head.trim_end_matches(" {")));
                modules.push((name.to_owned(), dedented(items)));
            }
            None => remaining.push(item),
        }
    }
    ExtractedModules { text: remaining.join("\n\n") + "\n", declarations, modules }
}

/// Returns the items of a module without indentation, as in a file.
fn dedented(text: &str) -> String {
    let first = text.lines().find(|line| !line.is_empty()).unwrap_or_default();
    let margin = first.len() - first.trim_start().len();
    let mut out = String::with_capacity(text.len());
    for line in text.trim_matches('\n').lines() {
        out.push_str(line.get(margin..).unwrap_or_default());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::extract;

    #[test]
    fn tag_and_import_modules_are_extracted() {
        let text = "// Generated.\n\nconst A: u8 = 1;\n\n/// Types.\npub mod types {\n    pub struct B;\n}\n\n/// Pets.\npub mod pets {\n    \
                    use super::A;\n\n    pub mod types {\n        pub struct C;\n    }\n}\n\n/// Imported.\npub mod store {\n\n/// D.\npub static D: u8 = 1;\n}\n";
        let extracted = extract(text);
        assert_eq!(
            extracted.text,
            "// Generated.\n\nconst A: u8 = 1;\n\n/// Types.\npub mod types {\n    pub struct B;\n}\n"
        );
        assert_eq!(extracted.declarations, "\n/// Pets.\npub mod pets;\n\n/// Imported.\npub mod store;\n");
        let [pets, store] = extracted.modules.as_slice() else { panic!("{:?}", extracted.modules) };
        assert_eq!(pets.1, "use super::A;\n\npub mod types {\n    pub struct C;\n}\n");
        assert_eq!(store.1, "/// D.\npub static D: u8 = 1;\n");
    }
}
