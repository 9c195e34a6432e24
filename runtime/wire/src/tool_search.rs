//! Deferred tools: the vendor loads a tool when its search finds it.
//!
//! Two formats have a built-in tool search. The request contains all tools; the vendor shows the model few of them,
//! and adds the tools that its search finds. Calls are returned as usual. [`WireFormat::tool_calls`] skips the search
//! blocks in a reply; the conversation must keep them unchanged.
//!
//! | format | search | deferred tools | groups |
//! |---|---|---|---|
//! | Anthropic | `tool_search_tool_bm25_20251119` or `tool_search_tool_regex_20251119` | `defer_loading` | – |
//! | OpenAI Responses | `tool_search`, run by the server | `defer_loading` | `namespace` |
//!
//! With Anthropic, a [tool of yours](Deferred::searched_by) can do the search instead.
//!
//! The fields are those of anthropic-sdk-python 2.14.0 and openai-python 3.57.0, checked on 2026-11-28. For the other
//! formats, [`discovery`](toolgen_kernel::registry::discovery) does the same with three ordinary tools.
//!
//! ```
//! use toolgen_runtime::wire::{Deferred, PlanOptions, WireFormat};
//! use toolgen_runtime::{ToolName, ToolSpec};
//!
//! let tools = ["get_pet", "list_pets"].map(|name| ToolSpec { name: ToolName::new(name), ..ToolSpec::EMPTY });
//! let deferred = Deferred::new().load(["get_pet"]);
//! let (format, options) = (WireFormat::Anthropic, PlanOptions::default().deferred(deferred));
//! let list = format.tools_with(format.dialect(), &tools, &options)?;
//! assert_eq!(list[0]["type"], "tool_search_tool_bm25_20251119");
//! assert_eq!((&list[1]["defer_loading"], &list[2]["defer_loading"]), (&false.into(), &true.into()));
//! # Ok::<(), toolgen_runtime::wire::PlanError>(())
//! ```

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::spec::toolset::Toolset;

use super::{PlanError, WireFormat};

/// Which tools are loaded only when a model finds them; see the module.
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `PlanOptions::deferred`"]
pub struct Deferred {
    loaded: Vec<Text>,
    regex: bool,
    search: Option<Text>,
    groups: Vec<Toolset>,
}

impl Deferred {
    /// Defers all tools. The model searches them by keywords.
    pub fn new() -> Deferred {
        Deferred::default()
    }

    /// Loads these tools immediately, in addition to those of earlier calls. Name the three to five tools that are
    /// called most often.
    pub fn load<S: Into<Text>>(mut self, names: impl IntoIterator<Item = S>) -> Deferred {
        self.loaded.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets the model search names and descriptions with regular expressions, if the format supports that (Anthropic).
    pub fn by_regex(mut self) -> Deferred {
        self.regex = true;
        self
    }

    /// Lets this tool search instead of the vendor's built-in search, if the format supports that (Anthropic). The
    /// tool must be among the tools, and is loaded.
    /// [`ToolResultOptions::found_by`](super::ToolResultOptions::found_by) turns its results into references.
    /// `search_tools` of a [`discovery`](toolgen_kernel::registry::discovery) is such a tool.
    pub fn searched_by(mut self, tool: impl Into<Text>) -> Deferred {
        self.search = Some(tool.into());
        self
    }

    /// Puts the tools of a set into a namespace with the name and description of the set, if the format has namespaces
    /// (OpenAI Responses). A tool in several sets belongs to the namespace of the first set.
    pub fn namespace(mut self, set: Toolset) -> Deferred {
        self.groups.push(set);
        self
    }

    /// Returns the namespace of a tool.
    fn group(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|set| set.members.iter().any(|member| **member == *name))
    }

    /// Returns the tools that are loaded immediately.
    fn loaded_immediately(&self) -> impl Iterator<Item = &Text> {
        self.loaded.iter().chain(&self.search)
    }

    fn mark_deferred(&self, mut tool: Value) -> Value {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        tool["defer_loading"] = Value::Bool(!self.loaded_immediately().any(|loaded| **loaded == *name));
        tool
    }

    /// Checks that a format can defer tools with these names.
    pub(super) fn check(&self, format: WireFormat, names: &[&str]) -> Result<(), PlanError> {
        if !format.defers() {
            return Err(PlanError::CannotDefer(format));
        }
        if format == WireFormat::OpenAiResponses && self.search.is_some() {
            return Err(PlanError::SearchedByTool(format));
        }
        let unknown = self.loaded_immediately().filter(|name| !names.contains(&name.as_str()));
        let unknown: Vec<Text> = unknown.cloned().collect();
        if unknown.is_empty() { Ok(()) } else { Err(PlanError::UnknownTools(unknown)) }
    }

    pub(super) fn anthropic(&self, tools: Vec<Value>) -> Vec<Value> {
        let kind = if self.regex { "regex" } else { "bm25" };
        let name = format!("tool_search_tool_{kind}");
        let search = || json!({ "type": format!("{name}_20251119"), "name": name });
        let search = self.search.is_none().then(search);
        search.into_iter().chain(tools.into_iter().map(|tool| self.mark_deferred(tool))).collect()
    }

    pub(super) fn responses(&self, tools: Vec<Value>) -> Vec<Value> {
        let mut list = vec![json!({ "type": "tool_search", "execution": "server" })];
        let mut groups: Vec<Vec<Value>> = vec![Vec::new(); self.groups.len()];
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let target = self.group(name).and_then(|index| groups.get_mut(index)).unwrap_or(&mut list);
            target.push(self.mark_deferred(tool));
        }
        for (set, tools) in self.groups.iter().zip(groups).filter(|(_, tools)| !tools.is_empty()) {
            // The description is required.
            let description = if set.description.is_empty() { &set.name } else { &set.description };
            list.push(json!({
                "type": "namespace", "name": set.name.as_str(), "description": description.as_str(), "tools": tools,
            }));
        }
        list
    }
}

impl WireFormat {
    /// Whether the vendor of the format has a tool search, so that it can [defer](super::PlanOptions::deferred)
    /// tools.
    #[must_use]
    pub fn defers(self) -> bool {
        matches!(self, WireFormat::Anthropic | WireFormat::OpenAiResponses)
    }
}
