//! The tools that a manifest defines itself: `tools` and `endpoints`.
//!
//! First the specifications of all tools are read, then the named schemas that they reach, and then their plans: a
//! placeholder is checked against the schema of its argument, and a tool may refer to another tool.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::Kind;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::spec::hints::InputFormat;
use toolgen_core::spec::{Example, Hints};
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

/// A tool that is being compiled: its specification is read first, then its plan.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The tool's object in the manifest.
    pub(super) node: Node<'a>,
    /// The name in the manifest, without a namespace.
    pub(super) id: String,
    /// The specification. Its named shapes are complete.
    pub(super) spec: ToolSpec,
    /// The kind: `command`, `http` and so on. Empty if the tool has no readable plan.
    pub(super) kind: &'static str,
    /// The value of the kind's key, or the tool's object for an endpoint.
    pub(super) plan_node: Node<'a>,
    /// The attributes, including the defaults of the file.
    pub(super) attributes: Attributes<'a>,
    /// The plan, after it is compiled.
    pub(super) call: Option<ExecutionPlan>,
    /// Whether the tool has errors, so that it is omitted.
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
        // If the defaults are broken, attributes of all tools are unknown, such as the scopes that they need.
        let defaults_broken = self.errors > errors
            || self.is_ambiguous(&Pointer::ROOT.child("defaults"))
            || has_misspelling_of(&top, &keys::TOP, &["defaults"]);
        self.name_schemas();
        let tools = self.named_tools(&top);
        let entries: Vec<Entry<'_>> = tools
            .iter()
            .map(|NamedTool { id, node, category, .. }| Entry {
                id,
                title: id.clone(),
                fallback: id.clone(),
                groups: category.iter().copied().collect(),
                deprecated: node.get("deprecated").is_some_and(|node| *node.value != Value::Bool(false)),
            })
            .collect();
        self.operations = tools.len();
        self.declared = tools.iter().map(|tool| tool.id.clone()).collect();
        // All tools get a name, since selected tools may call others.
        let namespace = self.namespace().map(str::to_owned);
        let renames = self.options.renames.clone();
        let options = Options { namespace, renames, ..Options::default() };
        let selected = select_entries(&entries, &options, self.problems);
        let mut drafts = Vec::new();
        for SelectedEntry { index, name } in selected {
            let Some(tool) = tools.get(index) else { continue };
            drafts.extend(self.draft(tool, &name, shared.as_ref()));
        }
        self.complete_defs(&mut drafts);
        for draft in &mut drafts {
            let errors = self.errors;
            self.check_values(draft);
            draft.broken |= defaults_broken || self.errors > errors;
        }
        drafts
    }

    /// Returns the tools of the manifest in order, and reports invalid names.
    fn named_tools(&mut self, top: &Node<'a>) -> Vec<NamedTool<'a>> {
        let mut tools = Vec::new();
        let mut used_names: BTreeMap<String, String> = BTreeMap::new();
        for (id, node) in self.object_members(top, "tools", "tools") {
            tools.push(NamedTool { id: id.to_owned(), node, is_endpoint: false, category: None });
        }
        for node in self.list(top, "endpoints").unwrap_or_default() {
            if !self.object(&node, &keys::ENDPOINT) {
                continue;
            }
            let help = "the tool is named `call_NAME`";
            let name = self.required(&node, "name", "an endpoint", help);
            if let Some(name) = name.and_then(|name| self.text_of(&name)) {
                tools.push(NamedTool { id: format!("call_{name}"), node, is_endpoint: true, category: None });
            }
        }
        tools.retain_mut(|tool| {
            tool.category = tool.node.value.get("category").and_then(Value::as_str);
            self.is_free(&tool.id, &tool.node.pointer, &mut used_names)
        });
        tools
    }

    /// Whether a name can be used for a tool. Names must differ in more than case, which models confuse.
    fn is_free(&mut self, id: &str, pointer: &Pointer, used_names: &mut BTreeMap<String, String>) -> bool {
        if let Some(other) = used_names.insert(id.to_lowercase(), id.to_owned()) {
            let message = if other == id {
                format!("there are two tools `{id}`")
            } else {
                format!("the tools `{other}` and `{id}` differ only in case")
            };
            self.report(codes::DUPLICATE_TOOL, pointer, message, "rename one of them");
            return false;
        }
        let full_name = self.namespaced(id);
        let Err(error) = ToolName::parse(full_name.clone()) else { return true };
        let message = format!("`{full_name}` is not a valid tool name: {error}");
        let help = "providers accept names of ASCII letters, digits, `_` and `-` that start with a letter, at most \
            64 characters";
        self.report(codes::NAME, pointer, message, help);
        false
    }

    /// Returns the namespace of the tools, from the options or else from the manifest.
    pub(super) fn namespace(&self) -> Option<&str> {
        let manifest_namespace = || self.document.root.get("namespace").and_then(Value::as_str);
        self.options.namespace.as_deref().or_else(manifest_namespace)
    }

    /// Returns the name of a tool of this manifest with the namespace. It may be too long.
    fn namespaced(&self, id: &str) -> String {
        self.namespace().map_or_else(|| id.to_owned(), |namespace| format!("{namespace}__{id}"))
    }

    fn draft(&mut self, tool: &NamedTool<'a>, name: &str, shared: Option<&Node<'a>>) -> Option<Draft<'a>> {
        let NamedTool { id, node, is_endpoint, .. } = tool;
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
        self.hints(node, &mut spec);
        let is_agent = matches!(kind, Some(("agent", _)));
        if self.flag(attributes.object_with("undocumented"), "undocumented") != Some(true) {
            self.check_documented(id, node, &spec, is_agent);
        }
        let broken = self.errors > errors || self.is_ambiguous(&node.pointer);
        // Other tools may refer to a tool without a readable plan.
        let without_plan = || ("", node.clone());
        let (kind, plan_node) =
            kind.filter(|(_, plan_node)| !self.report_unquoted(plan_node)).unwrap_or_else(without_plan);
        let broken = broken || kind.is_empty();
        Some(Draft {
            node: node.clone(),
            id: id.clone(),
            spec,
            kind,
            plan_node,
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
            [(kind, plan_node)] => Some((*kind, plan_node.clone())),
            [] => {
                if has_misspelling_of(node, &keys::TOOL, KINDS) {
                    return None;
                }
                let message = format!("nothing defines what the tool `{id}` does");
                let help =
                    "add one of `command`, `http`, `function`, `compose`, `complete`, `effect` and `agent`";
                self.report(codes::KIND, &node.pointer, message, help);
                None
            }
            [_, (second_kind, second_node), ..] => {
                let names: Vec<String> = kinds.iter().map(|(kind, _)| format!("`{kind}`")).collect();
                let message = format!("the tool `{id}` has several kinds: {}", names.join(" and "));
                let help = format!(
                    "keep one; to do both, make `{second_kind}` a separate tool and call both in `compose`"
                );
                let pointer = second_node.pointer.clone();
                self.report(codes::KIND, &pointer, message, help);
                None
            }
        }
    }

    fn check_documented(&mut self, id: &str, node: &Node<'a>, spec: &ToolSpec, is_agent: bool) {
        const OFF: &str = "or disable this check with `undocumented: true`";
        if spec.description.is_empty()
            && node.get("description").is_none()
            && !is_agent
            && !has_misspelling_of(node, &keys::TOOL, &["description"])
        {
            let message = format!("the tool `{id}` has no description, which a model needs to choose it");
            self.report(codes::UNDOCUMENTED, &node.pointer, message, format!("add `description`, {OFF}"));
        }
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        for field in rules.fields.iter().filter(|field| field.shape.description.is_empty()) {
            let pointer = node.pointer.child("parameters").child(&field.name);
            let pointer =
                if node.get("parameters").is_some() { pointer } else { node.pointer.child("input") };
            let message = format!("the argument `{}` of the tool `{id}` has no description", field.name);
            let help = format!("write `{}: TYPE - What it means.`, {OFF}", field.name);
            self.report(codes::UNDOCUMENTED, &pointer, message, help);
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
                self.report_wrong_type(&arguments, "an object", help);
                continue;
            }
            let arguments = arguments.value.to_string().into();
            examples.push(Example { summary: Text::from(summary.to_owned()), arguments });
        }
        spec.examples = examples.into();
    }

    /// Reads the properties for the tool interfaces of vendors and of MCP.
    pub(super) fn hints(&mut self, node: &Node<'a>, spec: &mut ToolSpec) {
        let Some(hints) = node.get("hints") else { return };
        match Hints::from_json(hints.value) {
            Ok(read) => {
                spec.hints = read;
                if spec.hints.input_format != InputFormat::Json && !spec.takes_text() {
                    let message = "the arguments cannot be text: a tool with `input_format` has one parameter, a required \
                                   string `input`";
                    let help = "rename the parameter to `input`, or remove `input_format`";
                    self.report(codes::WRONG_KIND, &hints.pointer.child("input_format"), message, help);
                }
            }
            Err(problems) => {
                for problem in problems {
                    let pointer =
                        Pointer::parse(&format!("{}{}", hints.pointer, problem.pointer)).unwrap_or_default();
                    self.report(codes::WRONG_KIND, &pointer, problem.message, problem.help);
                }
            }
        }
    }

    /// Checks everything that needs the named schemas: defaults, examples and dialects.
    fn check_values(&mut self, draft: &Draft<'a>) {
        let Draft { node, spec, attributes, .. } = draft;
        if let Kind::Object(rules) = &spec.input.shape().kind {
            for field in &rules.fields {
                let pointer = node.pointer.child("parameters").child(&field.name);
                let pointer =
                    if node.get("parameters").is_some() { pointer } else { node.pointer.child("input") };
                self.check_defaults(&field.shape, &spec.defs, &pointer);
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
                let pointer =
                    Pointer::parse(&format!("{}{}", arguments.pointer, problem.pointer)).unwrap_or_default();
                let message = format!("the example does not match the tool: {}", problem.message);
                self.report(codes::EXAMPLE, &pointer, message, "correct the example or the parameters");
            }
        }
        let holder = attributes.object_with("dialects").clone();
        for (name, pointer) in self.texts(&holder, "dialects").unwrap_or_default() {
            let Some(dialect) = self.dialect(name, &pointer) else { continue };
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

    /// Whether the value at a location contains a duplicate key, so that it is ambiguous.
    fn is_ambiguous(&self, location: &Pointer) -> bool {
        let prefix = format!("{location}/");
        let is_inside = |pointer: &Pointer| pointer == location || pointer.as_str().starts_with(&prefix);
        self.problems.as_slice().iter().any(|problem| {
            problem.code == DUPLICATE_KEY
                && Arc::ptr_eq(&problem.source, &self.document.source)
                && is_inside(&problem.pointer)
        })
    }
}

/// Whether an object has an unknown key, already reported, that is probably a misspelling of one of `intended`.
fn has_misspelling_of(node: &Node<'_>, keys: &Keys, intended: &[&str]) -> bool {
    let known_keys = keys.names();
    let unknown = node.entries().into_iter().map(|(key, _)| key).filter(|key| !known_keys.contains(key));
    unknown
        .filter_map(|key| suggestion(key, known_keys.iter().copied()))
        .any(|suggested| intended.contains(&suggested.as_str()))
}

/// Returns a title for people: `get_weather` becomes `Get Weather`.
fn title(name: &str) -> String {
    let words = name.split(['_', '-']).filter(|word| !word.is_empty());
    let capitalized = words.map(|word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}", first.to_uppercase())
    });
    capitalized.collect::<Vec<_>>().join(" ")
}
