//! The tools that a manifest defines itself: `tools` and `endpoints`.
//!
//! First the specification of every tool is read, then the named schemas that they reach, and then their plans: a
//! placeholder is checked against the schema of its argument, and a tool may refer to another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::Kind;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::spec::Example;
use toolgen_core::{ExecutionPlan, Text, ToolName, ToolSpec};

use super::attributes::Attributes;
use super::codes;
use super::context::Context;
use super::keys::{self, KINDS, Keys};
use super::node::Node;
use crate::options::Options;
use crate::problem::codes::DUPLICATE_KEY;
use crate::selection::{Entry, SelectedEntry, select_entries};
use crate::selector::suggestion;
use crate::source::Pointer;

/// A tool that is being compiled: first its specification is read, for all tools, and then its plan.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The tool's object in the manifest.
    pub(super) node: Node<'a>,
    /// The name in the manifest, without a namespace.
    pub(super) id: String,
    /// The specification. Its named shapes are complete.
    pub(super) spec: ToolSpec,
    /// The kind: `command`, `http` and so on. Empty if the tool is too broken to read its plan.
    pub(super) kind: &'static str,
    /// The value of the key of its kind; for an endpoint the tool's object.
    pub(super) of_kind: Node<'a>,
    /// Its attributes, including the shared ones of the file.
    pub(super) attributes: Attributes<'a>,
    /// The plan, after it is compiled.
    pub(super) call: Option<ExecutionPlan>,
    /// Whether it has an error, so that it is omitted.
    pub(super) broken: bool,
}

/// A tool with its name in the manifest.
struct NamedTool<'a> {
    id: String,
    node: Node<'a>,
    is_endpoint: bool,
    category: Option<&'a str>,
}

impl<'a> Context<'a> {
    /// Reads the specifications of all tools.
    pub(super) fn drafts(&mut self) -> Vec<Draft<'a>> {
        let top = self.top();
        let shared = top.get("defaults");
        let errors = self.errors;
        if let Some(shared) = &shared {
            self.object(shared, &keys::DEFAULTS);
        }
        // Shared attributes of all tools are unknown, such as the scopes that they need.
        let all_broken = self.errors > errors
            || self.is_ambiguous(&Pointer::ROOT.child("defaults"))
            || is_misspelt(&top, &keys::TOP, &["defaults"]);
        self.name_schemas();
        let named = self.names(&top);
        let entries: Vec<Entry<'_>> = named
            .iter()
            .map(|NamedTool { id, node, category, .. }| Entry {
                id,
                title: id.clone(),
                fallback: id.clone(),
                groups: category.iter().copied().collect(),
                deprecated: node.get("deprecated").is_some_and(|node| *node.value != Value::Bool(false)),
            })
            .collect();
        self.operations = named.len();
        self.declared = named.iter().map(|one| one.id.clone()).collect();
        // All of them get a name, since selected tools may call others.
        let namespace = self.namespace().map(str::to_owned);
        let renames = self.options.renames.clone();
        let options = Options { namespace, renames, ..Options::default() };
        let chosen = select_entries(&entries, &options, self.problems);
        let mut drafts = Vec::new();
        for SelectedEntry { index, name } in chosen {
            let Some(one) = named.get(index) else { continue };
            drafts.extend(self.draft(one, &name, shared.as_ref()));
        }
        self.complete_defs(&mut drafts);
        for draft in &mut drafts {
            let errors = self.errors;
            self.check_values(draft);
            draft.broken |= all_broken || self.errors > errors;
        }
        drafts
    }

    /// Returns the tools that the manifest names, in order. Invalid names are reported.
    fn names(&mut self, top: &Node<'a>) -> Vec<NamedTool<'a>> {
        let mut named = Vec::new();
        let mut taken: BTreeMap<String, String> = BTreeMap::new();
        for (id, node) in self.object_members(top, "tools", "tools") {
            named.push(NamedTool { id: id.to_owned(), node, is_endpoint: false, category: None });
        }
        for node in self.list(top, "endpoints").unwrap_or_default() {
            if !self.object(&node, &keys::ENDPOINT) {
                continue;
            }
            let help = "the tool is named `call_NAME`";
            let name = self.required(&node, "name", "an endpoint", help);
            if let Some(name) = name.and_then(|name| self.text_of(&name)) {
                named.push(NamedTool { id: format!("call_{name}"), node, is_endpoint: true, category: None });
            }
        }
        named.retain_mut(|one| {
            one.category = one.node.value.get("category").and_then(Value::as_str);
            self.is_free(&one.id, &one.node.pointer, &mut taken)
        });
        named
    }

    /// Whether a name can be used for a tool. Names that differ only in case are the same to a model.
    fn is_free(&mut self, id: &str, at: &Pointer, taken: &mut BTreeMap<String, String>) -> bool {
        if let Some(other) = taken.insert(id.to_lowercase(), id.to_owned()) {
            let message = if other == id {
                format!("there are two tools `{id}`")
            } else {
                format!("the tools `{other}` and `{id}` differ only in case")
            };
            self.report(codes::DUPLICATE_TOOL, at, message, "rename one of them");
            return false;
        }
        let full = self.namespaced(id);
        let Err(error) = ToolName::parse(full.clone()) else { return true };
        let message = format!("`{full}` is not a valid tool name: {error}");
        let help = "providers accept names of ASCII letters, digits, `_` and `-` that start with a letter, at most \
            64 characters";
        self.report(codes::NAME, at, message, help);
        false
    }

    /// Returns the namespace of the tools: that of the options, or else that of the manifest.
    pub(super) fn namespace(&self) -> Option<&str> {
        let own = || self.document.root.get("namespace").and_then(Value::as_str);
        self.options.namespace.as_deref().or_else(own)
    }

    /// Returns the full name of a tool of this manifest, however long.
    fn namespaced(&self, id: &str) -> String {
        self.namespace().map_or_else(|| id.to_owned(), |namespace| format!("{namespace}__{id}"))
    }

    fn draft(&mut self, named: &NamedTool<'a>, name: &str, shared: Option<&Node<'a>>) -> Option<Draft<'a>> {
        let NamedTool { id, node, is_endpoint, .. } = named;
        let errors = self.errors;
        if !is_endpoint && !self.object(node, &keys::TOOL) {
            return None;
        }
        let kind = if *is_endpoint { Some(("http", node.clone())) } else { self.kind(id, node) };
        let attributes = Attributes { own: node.clone(), shared: shared.cloned() };
        let mut spec = ToolSpec {
            name: ToolName::parse(name.to_owned()).unwrap_or(ToolSpec::EMPTY.name),
            label: title(id).into(),
            input: if matches!(kind, Some(("agent", _))) { self.agent_input(node) } else { self.input(node) },
            output: self.output(node),
            ..ToolSpec::EMPTY
        };
        if *is_endpoint {
            let name = id.strip_prefix("call_").unwrap_or(id);
            spec.description = format!("Call {name} API").into();
        }
        self.attributes(&attributes, &mut spec);
        self.examples(node, &mut spec);
        let is_agent = matches!(kind, Some(("agent", _)));
        if self.flag(attributes.of("undocumented"), "undocumented") != Some(true) {
            self.check_documented(id, node, &spec, is_agent);
        }
        let broken = self.errors > errors || self.is_ambiguous(&node.pointer);
        // Even without a readable plan, the tool is still one that others name.
        let unread = || ("", node.clone());
        let (kind, of_kind) = kind.filter(|(_, of_kind)| !self.is_unquoted(of_kind)).unwrap_or_else(unread);
        let broken = broken || kind.is_empty();
        Some(Draft {
            node: node.clone(),
            id: id.clone(),
            spec,
            kind,
            of_kind,
            attributes,
            call: None,
            broken,
        })
    }

    /// Returns the kind of a tool and the value of its key. Next to another kind, `complete` is an attribute.
    fn kind(&mut self, id: &str, node: &Node<'a>) -> Option<(&'static str, Node<'a>)> {
        let mut kinds: Vec<(&'static str, Node<'a>)> =
            KINDS.iter().filter_map(|kind| Some((*kind, node.get(kind)?))).collect();
        if kinds.len() > 1 {
            kinds.retain(|(kind, _)| *kind != "complete");
        }
        match kinds.as_slice() {
            [(kind, of_kind)] => Some((*kind, of_kind.clone())),
            [] => {
                if is_misspelt(node, &keys::TOOL, KINDS) {
                    return None;
                }
                let message = format!("nothing defines what the tool `{id}` does");
                let help =
                    "add one of `command`, `http`, `function`, `compose`, `complete`, `effect` and `agent`";
                self.report(codes::KIND, &node.pointer, message, help);
                None
            }
            [_, (second, of_second), ..] => {
                let names: Vec<String> = kinds.iter().map(|(kind, _)| format!("`{kind}`")).collect();
                let message = format!("the tool `{id}` has several kinds: {}", names.join(" and "));
                let help = format!(
                    "keep one; to do both, make `{second}` a separate tool and call both in `compose`"
                );
                let at = of_second.pointer.clone();
                self.report(codes::KIND, &at, message, help);
                None
            }
        }
    }

    fn check_documented(&mut self, id: &str, node: &Node<'a>, spec: &ToolSpec, is_agent: bool) {
        const OFF: &str = "or disable this check with `undocumented: true`";
        if spec.description.is_empty()
            && node.get("description").is_none()
            && !is_agent
            && !is_misspelt(node, &keys::TOOL, &["description"])
        {
            let message = format!("the tool `{id}` has no description, which a model needs to choose it");
            self.report(codes::UNDOCUMENTED, &node.pointer, message, format!("add `description`, {OFF}"));
        }
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        for field in rules.fields.iter().filter(|field| field.shape.description.is_empty()) {
            let at = node.pointer.child("parameters").child(&field.name);
            let at = if node.get("parameters").is_some() { at } else { node.pointer.child("input") };
            let message = format!("the argument `{}` of the tool `{id}` has no description", field.name);
            let help = format!("write `{}: TYPE - What it means.`, {OFF}", field.name);
            self.report(codes::UNDOCUMENTED, &at, message, help);
        }
    }

    pub(super) fn examples(&mut self, node: &Node<'a>, spec: &mut ToolSpec) {
        let mut examples = Vec::new();
        for item in self.list(node, "examples").unwrap_or_default() {
            if !self.object(&item, &keys::EXAMPLE) {
                continue;
            }
            let summary = self.text(&item, "summary").unwrap_or_default();
            let help = "write `arguments: {…}`, as a model would call the tool";
            let Some(arguments) = self.required(&item, "arguments", "an example", help) else { continue };
            if !arguments.value.is_object() {
                self.wrong_kind(&arguments, "an object", help);
                continue;
            }
            let arguments = arguments.value.to_string().into();
            examples.push(Example { summary: Text::from(summary.to_owned()), arguments });
        }
        spec.examples = examples.into();
    }

    /// Checks everything that needs the named schemas: defaults, examples and dialects.
    fn check_values(&mut self, draft: &Draft<'a>) {
        let Draft { node, spec, attributes, .. } = draft;
        if let Kind::Object(rules) = &spec.input.shape().kind {
            for field in &rules.fields {
                let at = node.pointer.child("parameters").child(&field.name);
                let at = if node.get("parameters").is_some() { at } else { node.pointer.child("input") };
                self.check_defaults(&field.shape, &spec.defs, &at);
            }
        }
        let items = node.get("examples").map(|list| list.items()).unwrap_or_default();
        for arguments in items.iter().filter_map(|item| item.get("arguments")) {
            if !arguments.value.is_object() {
                continue;
            }
            for problem in decode(arguments.value, spec.input.shape(), &spec.defs, &JSON_SCHEMA)
                .err()
                .into_iter()
                .flatten()
            {
                let at =
                    Pointer::parse(&format!("{}{}", arguments.pointer, problem.pointer)).unwrap_or_default();
                let message = format!("the example does not match the tool: {}", problem.message);
                self.report(codes::EXAMPLE, &at, message, "correct the example or the parameters");
            }
        }
        let holder = attributes.of("dialects").clone();
        for (name, at) in self.texts(&holder, "dialects").unwrap_or_default() {
            let Some(dialect) = self.dialect(name, &at) else { continue };
            for refusal in spec.schema(dialect).err().into_iter().flatten() {
                let message = format!("{} does not accept the arguments: {}", dialect.title, refusal.reason);
                self.report(
                    codes::DIALECT,
                    &node.pointer,
                    message,
                    "change the schema, or remove the dialect",
                );
            }
        }
    }

    /// Whether a location contains a duplicate key, so that it is ambiguous.
    fn is_ambiguous(&self, place: &Pointer) -> bool {
        let below = format!("{place}/");
        let is_here = |at: &Pointer| at == place || at.as_str().starts_with(&below);
        self.problems.as_slice().iter().any(|problem| {
            problem.code == DUPLICATE_KEY
                && Arc::ptr_eq(&problem.source, &self.document.source)
                && is_here(&problem.pointer)
        })
    }
}

/// Whether an object has an unknown key, already reported, that is probably a misspelling of one of these.
fn is_misspelt(node: &Node<'_>, keys: &Keys, closest: &[&str]) -> bool {
    let known = keys.names();
    let unknown = node.entries().into_iter().map(|(key, _)| key).filter(|key| !known.contains(key));
    unknown
        .filter_map(|key| suggestion(key, known.iter().copied()))
        .any(|near| closest.contains(&near.as_str()))
}

/// Returns a title for people: `get_weather` becomes `Get Weather`.
fn title(name: &str) -> String {
    let words = name.split(['_', '-']).filter(|word| !word.is_empty());
    let capital = words.map(|word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}", first.to_uppercase())
    });
    capital.collect::<Vec<_>>().join(" ")
}
