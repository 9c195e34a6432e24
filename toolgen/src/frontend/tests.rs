//! Which front end claims a document, tested with toy front ends.

use std::path::Path;

use toolgen_core::spec::plan::{ExecutionPlan, RequestPlan};
use toolgen_core::{ToolName, ToolSpec};

use super::*;
use crate::selection::{Entry, SelectedEntry, select_entries};
use crate::tool::{Origin, Success, Tool};

/// A front end for documents with a member of its name, whose value is the name of the only tool.
struct Toy(&'static str);

impl Frontend for Toy {
    fn name(&self) -> &'static str {
        self.0
    }

    fn title(&self) -> &'static str {
        self.0
    }

    fn mark(&self) -> &'static str {
        "it has the name as a member"
    }

    fn claims(&self, document: &Document) -> Claim {
        match document.root.get(self.0) {
            Some(value) if value.is_null() => Claim::Near("give it a value"),
            Some(_) => Claim::Yes,
            None => Claim::No,
        }
    }

    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
        let pointer = Pointer::ROOT.child(self.0);
        let Some(id) = document.root.get(self.0).and_then(|name| name.as_str()) else {
            problems.report(openapi::codes::MALFORMED, &pointer, "this is not a name", "give it one");
            return None;
        };
        let entry = Entry {
            id,
            title: id.to_owned(),
            fallback: String::new(),
            groups: Vec::new(),
            deprecated: false,
        };
        // Applies the options' filters, renames and namespace.
        let selected = select_entries(&[entry], options, problems);
        let tools = selected.into_iter().filter_map(|SelectedEntry { name, .. }| {
            let origin = Origin {
                source: Arc::clone(&document.source),
                pointer: pointer.clone(),
                id: id.to_owned(),
                title: id.to_owned(),
                groups: Vec::new(),
            };
            let spec = ToolSpec { name: ToolName::parse(name).ok()?, ..ToolSpec::EMPTY };
            let call = ExecutionPlan::Http(RequestPlan::EMPTY);
            Some(Tool { spec, call, failure: None, success: Success::default(), origin })
        });
        let (tools, schemes) = (tools.collect(), vec!["key".to_owned()]);
        let version = "1".to_owned();
        Some(Program { kind: self.0, version, operations: 1, tools, schemes, ..Program::default() })
    }

    fn codes(&self) -> &'static [Code] {
        &[]
    }
}

const TOYS: &[&dyn Frontend] = &[&Toy("spade"), &Toy("bucket"), &openapi::OpenApi];

/// Returns the name of the only tool, and the problems.
fn compile_toy(text: &str, options: &Options) -> (Option<String>, String) {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("toy.yaml"), text, &mut problems).unwrap();
    let program = compile_with(TOYS, &document, options, &mut problems);
    (program.map(|program| program.tools[0].spec.name.to_string()), problems.to_string())
}

#[test]
fn claiming_front_end_compiles_the_document() {
    let options = Options::default();
    assert_eq!(compile_toy("spade: dig", &options), (Some("dig".to_owned()), String::new()));
    let (broken, message) = compile_toy("bucket: 7", &options);
    assert_eq!((broken, message.as_str()), (None, "toy.yaml:1:1: this is not a name [W0312]; give it one"));
}

#[test]
fn options_filter_and_rename_tools_of_any_front_end() {
    let options = Options::default().namespace("yard").rename("dig", "hole");
    assert_eq!(compile_toy("spade: dig", &options), (Some("yard__hole".to_owned()), String::new()));
}

#[test]
fn unclaimed_document_error_lists_the_expected_markers() {
    let (tool, message) = compile_toy("rake: 1", &Options::default());
    let mark = "it has the name as a member";
    let openapi = "an OpenAPI document starts with `openapi: 3.1.0` or another version, an older one with \
        `swagger: '2.0'`";
    assert_eq!(
        (tool, message),
        (
            None,
            format!(
                "toy.yaml:1:1: this is not a spade, a bucket or an OpenAPI document [E0301]; {mark}; {mark}; {openapi}"
            )
        )
    );
    // A near match of a kind is reported first.
    let (_, message) = compile_toy("bucket: null", &Options::default());
    assert!(message.ends_with("[E0301]; give it a value"), "{message}");
}

#[test]
fn document_with_two_markers_is_rejected() {
    let (tool, message) = compile_toy("spade: dig\nbucket: fill", &Options::default());
    assert_eq!(tool, None);
    assert!(message.contains("the marks of several kinds: `spade` and `bucket` [E0308]"), "{message}");
}

#[test]
fn credentials_without_a_scheme_are_reported() {
    let (tool, message) = compile_toy("spade: dig", &Options::default().credential("keys", "KEY"));
    assert_eq!(tool.as_deref(), Some("dig"));
    assert!(message.contains("`keys`") && message.ends_with("[W0334]; did you mean `key`?"), "{message}");
    assert_eq!(compile_toy("spade: dig", &Options::default().credential("key", "KEY")).1, "");
}

#[test]
fn credential_value_as_variable_name_is_rejected_without_printing_it() {
    for secret in ["sk-12345", "a b", "", "1x"] {
        let (_, message) = compile_toy("spade: dig", &Options::default().credential("key", secret));
        assert!(message.contains("`key`") && message.contains("[E0339]"), "{message}");
        assert!(secret.is_empty() || !message.contains(secret), "{message}");
    }
}

#[test]
fn manifest_without_its_marker_gets_help() {
    for text in ["tools: {a: {}}", "imports: []"] {
        let mut problems = Problems::new();
        let document = Document::parse(Path::new("toy.yaml"), text, &mut problems).unwrap();
        assert!(compile(&document, &Options::default(), &mut problems).is_none());
        assert!(
            problems.to_string().ends_with(
                ": this is not a tool manifest [E0301]; it looks like one; write `toolgen: 1` at its top"
            ),
            "{problems}"
        );
    }
}
