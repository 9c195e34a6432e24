//! The tools `search_tools`, `describe_tool` and `call_tool`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgen_core::internal::{closest_match, first_sentence};

use super::{DiscoverableTools, signature};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::shown_name;
use crate::call::tool::AgentTool;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::Schema;
use crate::spec::{Effects, Example, ToolName, ToolSpec};

/// The maximum number of groups that a result names.
const MAX_GROUPS_SHOWN: usize = 60;

/// Returns the specification of one of the tools.
fn spec(name: ToolName, label: &'static str, description: String, schema: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        label: Text::Static(label),
        description: description.into(),
        input: Schema::text(schema),
        effects: Effects::NONE,
        ..ToolSpec::EMPTY
    }
}

/// Returns the specification of the tool that searches. The names are those of the discovery tools.
pub(super) fn search(name: ToolName, [_, describe, call]: &[Text; 3], topic: &str) -> ToolSpec {
    let topic = if topic.is_empty() { String::new() } else { format!(" The tools are about: {topic}.") };
    let text = format!(
        "Finds the tools that match a query. There are more tools than those listed: search for what you want to do, \
         read the description of a tool with {describe}, and call it with {call}.{topic}"
    );
    let schema = r#"{"type":"object","properties":{"query":{"type":"string","minLength":1,"description":"What the tool should do, in a few words."},"limit":{"type":"integer","minimum":1,"maximum":50,"default":5,"description":"The maximum number of tools to return."},"group":{"type":"string","description":"Only tools of this category or toolset."}},"required":["query"],"additionalProperties":false}"#;
    spec(name, "Search Tools", text, schema)
}

/// Returns the specification of the tool that describes others.
pub(super) fn describe(name: ToolName, [search, _, call]: &[Text; 3]) -> ToolSpec {
    let text = format!(
        "Describes tools that {search} found: what they do, and the JSON Schema of the arguments that {call} takes for \
         them."
    );
    let schema = r#"{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":10,"description":"The names of the tools."}},"required":["names"],"additionalProperties":false}"#;
    spec(name, "Describe Tool", text, schema)
}

/// Returns the specification of the tool that calls others.
pub(super) fn call(name: ToolName, [search, describe, _]: &[Text; 3]) -> ToolSpec {
    let text =
        format!("Calls a tool that {search} found, with arguments that match the schema of {describe}.");
    let schema = r#"{"type":"object","properties":{"name":{"type":"string","minLength":1,"description":"The name of the tool."},"arguments":{"type":"object","description":"The arguments of the tool."}},"required":["name"],"additionalProperties":false}"#;
    // The effects depend on the called tool, whose own effects are checked.
    ToolSpec { effects: Effects::UNDECLARED, ..spec(name, "Call Tool", text, schema) }
}

/// Returns the tools that a call may use, sorted by name, without the discovery tools.
fn allowed<'a>(
    discoverable: &DiscoverableTools,
    ctx: &'a ToolContext,
) -> Result<Vec<&'a ToolSpec>, ToolError> {
    let Some(peers) = &ctx.turn().peers else {
        let text = "tools can be looked up only in calls through a toolbox";
        return Err(ToolError::failed_with("SERVICE_UNAVAILABLE", text));
    };
    let mut specs = peers.specs();
    specs.retain(|spec| {
        !discoverable.tool_names.iter().any(|name| **name == *spec.name.as_str())
            && ctx.principal().is_none_or(|principal| principal.check(spec).is_ok())
    });
    Ok(specs)
}

fn by_name<'a>(specs: &[&'a ToolSpec], name: &str) -> Option<&'a ToolSpec> {
    let index = specs.binary_search_by(|spec| spec.name.as_str().cmp(name)).ok()?;
    specs.get(index).copied()
}

/// The tool that searches.
pub(super) struct SearchTools {
    pub(super) spec: ToolSpec,
    pub(super) discoverable: Arc<DiscoverableTools>,
}

impl SearchTools {
    fn search(&self, params: &Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let limit = params.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let (query, group) = (text("query").unwrap_or_default(), text("group"));
        let allowed = allowed(&self.discoverable, ctx)?;
        let sets: Vec<_> = self.discoverable.groups.iter().filter(|set| group == Some(&*set.name)).collect();
        let is_in_group = |spec: &ToolSpec| {
            let is_member =
                || sets.iter().any(|set| set.members.iter().any(|name| **name == *spec.name.as_str()));
            group.is_none_or(|group| &*spec.category == group || is_member())
        };
        let is_candidate = |index: usize| {
            let name = self.discoverable.registry.at(index).name();
            by_name(&allowed, name).is_some_and(is_in_group)
        };
        let matches =
            self.discoverable.registry.search_index().search(query, limit.unwrap_or(5), is_candidate);
        let specs: Vec<&ToolSpec> =
            matches.into_iter().map(|index| self.discoverable.registry.at(index).spec()).collect();
        let mut listing = String::new();
        for spec in &specs {
            let _ = writeln!(listing, "{} - {}", signature(spec), first_sentence(spec));
        }
        if specs.is_empty() {
            listing = self.no_match_message(query, group, &allowed);
        }
        let tools: Value = specs
            .iter()
            .map(|spec| json!({ "name": spec.name.as_str(), "description": first_sentence(spec) }))
            .collect();
        Ok(ToolResult::text(listing).with_details(json!({ "tools": tools })))
    }

    /// Returns the message that no tool matches, with the names of the groups that have tools.
    fn no_match_message(&self, query: &str, group: Option<&str>, allowed: &[&ToolSpec]) -> String {
        let sets = self
            .discoverable
            .groups
            .iter()
            .filter(|set| set.members.iter().any(|name| by_name(allowed, name).is_some()));
        let categories =
            allowed.iter().map(|spec| spec.category.as_str()).filter(|category| *category != "general");
        let groups: BTreeSet<&str> = sets.map(|set| set.name.as_str()).chain(categories).collect();
        let in_group =
            group.map_or_else(String::new, |group| format!(" in the group '{}'", shown_name(group)));
        let mut listing = format!(
            "No tool{in_group} matches '{}'. Describe in other words what the tool should do.",
            shown_name(query)
        );
        if !groups.is_empty() {
            let shown: Vec<&str> = groups.iter().copied().take(MAX_GROUPS_SHOWN).collect();
            let more = if groups.len() > MAX_GROUPS_SHOWN { ", …" } else { "" };
            let _ = write!(listing, " The groups are: {}{more}.", shown.join(", "));
        }
        listing
    }
}

/// The tool that describes others.
pub(super) struct DescribeTool {
    pub(super) spec: ToolSpec,
    pub(super) discoverable: Arc<DiscoverableTools>,
}

impl DescribeTool {
    fn describe(&self, params: &Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let allowed = allowed(&self.discoverable, ctx)?;
        let names = params.get("names").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let (mut entries, mut unknown) = (Vec::new(), None);
        for name in names.iter().filter_map(Value::as_str) {
            match by_name(&allowed, name) {
                Some(spec) => entries.push(description(spec, ctx)),
                None => {
                    let suggestion = closest_match(name, allowed.iter().map(|spec| spec.name.as_str()));
                    let suggestion = suggestion.map(|closest| format!("; did you mean '{closest}'?"));
                    let name = shown_name(name);
                    let reason = format!("Tool '{name}' not found{}", suggestion.unwrap_or_default());
                    entries.push(reason.clone() + "\n");
                    unknown.get_or_insert(reason);
                }
            }
        }
        match unknown {
            // Without any description, the call fails.
            Some(reason) if entries.len() == 1 => Err(ToolError::failed_with("NOT_FOUND", reason)),
            _ => Ok(ToolResult::text(entries.join("\n"))),
        }
    }
}

/// Returns everything that a model needs to call the tool.
fn description(spec: &ToolSpec, ctx: &ToolContext) -> String {
    let dialect = ctx.dialect();
    // A dialect that cannot express a schema can still read arguments in the plain form.
    let rendered = spec.schema(dialect).or_else(|_| spec.schema(&JSON_SCHEMA));
    let (description, schema) = rendered.map_or((spec.description.to_string(), Value::Null), |rendered| {
        (rendered.description.into_owned(), rendered.schema)
    });
    let mut out = format!("## {}\n{}\nArguments: {schema}\n", spec.name, description.trim());
    let mut line = |title: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "{title}: {text}");
        }
    };
    if let Some(replacement) = &spec.deprecated {
        line("Deprecated", if replacement.is_empty() { "do not use this tool" } else { replacement });
    }
    line("Returns", spec.returns.trim());
    line("Use for", spec.use_for.trim());
    for Example { summary, arguments } in &spec.examples {
        let example_line =
            if summary.is_empty() { arguments.to_string() } else { format!("{summary}: {arguments}") };
        line("Example", &example_line);
    }
    out
}

/// The tool that calls others. A toolbox never runs it, but calls the other tool instead.
pub(super) struct CallTool {
    pub(super) spec: ToolSpec,
}

macro_rules! tool {
    ($type:ty, $run:ident) => {
        impl AgentTool for $type {
            fn spec(&self) -> &ToolSpec {
                &self.spec
            }

            fn execute<'a>(
                &'a self,
                params: Value,
                ctx: &'a ToolContext,
            ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
                Box::pin(std::future::ready(self.$run(&params, ctx)))
            }
        }
    };
}

tool!(SearchTools, search);
tool!(DescribeTool, describe);
tool!(CallTool, call);

impl CallTool {
    #[expect(clippy::unused_self, reason = "same signature as the other tools")]
    fn call(&self, _params: &Value, _ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let text = "a tool can be called by its name only in calls through a toolbox";
        Err(ToolError::failed_with("SERVICE_UNAVAILABLE", text))
    }
}
