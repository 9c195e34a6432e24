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
//! The fields are those of anthropic-sdk-python 2.12.0 and openai-python 3.54.0, checked on 2026-11-22. For the other
//! formats, [`discovery`](toolgen_kernel::registry::discovery) does the same with three ordinary tools.
//!
//! ```
//! use toolgen_runtime::wire::{Deferred, WireFormat};
//! use toolgen_runtime::{ToolName, ToolSpec};
//!
//! let tools = ["get_pet", "list_pets"].map(|name| ToolSpec { name: ToolName::new(name), ..ToolSpec::EMPTY });
//! let deferred = Deferred::new().load(["get_pet"]);
//! let list = WireFormat::Anthropic.tools_deferred(&deferred, &tools)?;
//! assert_eq!(list[0]["type"], "tool_search_tool_bm25_20251119");
//! assert_eq!((&list[1]["defer_loading"], &list[2]["defer_loading"]), (&false.into(), &true.into()));
//! # Ok::<(), toolgen_runtime::wire::DeferredError>(())
//! ```

use std::fmt;

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::schema::dialect::Dialect;
use toolgen_kernel::spec::ToolSpec;
use toolgen_kernel::spec::toolset::Toolset;

use super::{RefusedTools, WireFormat};

/// Which tools are loaded only when a model finds them; see the module.
#[derive(Clone, Debug, Default)]
#[must_use = "pass it to `WireFormat::tools_deferred`"]
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

    fn anthropic(&self, tools: Vec<Value>) -> Vec<Value> {
        let kind = if self.regex { "regex" } else { "bm25" };
        let name = format!("tool_search_tool_{kind}");
        let search = || json!({ "type": format!("{name}_20251119"), "name": name });
        let search = self.search.is_none().then(search);
        search.into_iter().chain(tools.into_iter().map(|tool| self.mark_deferred(tool))).collect()
    }

    fn responses(&self, tools: Vec<Value>) -> Vec<Value> {
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

/// Why tools cannot be deferred.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeferredError {
    /// The vendor of the format has no tool search.
    Unsupported(WireFormat),
    /// The vendor of the format does not accept references to tools that another tool found.
    SearchedByTool(WireFormat),
    /// These tools should be loaded, but are not among the tools.
    UnknownTools(Vec<Text>),
    /// The dialect cannot express these tools.
    Refused(RefusedTools),
}

impl fmt::Display for DeferredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeferredError::Unsupported(format) => write!(
                f,
                "{format} cannot defer tools; use a discovery (`ToolboxBuilder::discovery`) instead"
            ),
            DeferredError::SearchedByTool(format) => write!(
                f,
                "{format} does not accept references to tools that another tool found; omit `Deferred::searched_by`, so \
                 that the vendor searches"
            ),
            DeferredError::UnknownTools(names) => {
                let names: Vec<&str> = names.iter().map(Text::as_str).collect();
                write!(f, "tools to load that are not among the tools: {}", names.join(", "))
            }
            DeferredError::Refused(refused) => refused.fmt(f),
        }
    }
}

toolgen_core::__readable_debug!(DeferredError);

impl std::error::Error for DeferredError {}

impl WireFormat {
    /// Whether the vendor of the format has a tool search, so that [`tools_deferred`](Self::tools_deferred) works.
    #[must_use]
    pub fn defers(self) -> bool {
        matches!(self, WireFormat::Anthropic | WireFormat::OpenAiResponses)
    }

    /// Renders the tools for a request as [`tools`](Self::tools) does, but the vendor loads them only when the model
    /// finds them. The same tools give the same bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the format does not [support this](Self::defers) or cannot let a [tool of
    /// yours](Deferred::searched_by) search, if a tool to load is not among the tools, or if the dialect cannot
    /// express a tool.
    pub fn tools_deferred<'a>(
        self,
        deferred: &Deferred,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<Value, DeferredError> {
        self.tools_deferred_in(self.dialect(), deferred, specs)
    }

    /// Like [`tools_deferred`](Self::tools_deferred), with schemas in a dialect other than the default.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`tools_deferred`](Self::tools_deferred).
    pub fn tools_deferred_in<'a>(
        self,
        dialect: &Dialect,
        deferred: &Deferred,
        specs: impl IntoIterator<Item = &'a ToolSpec>,
    ) -> Result<Value, DeferredError> {
        let arrange = match self {
            WireFormat::Anthropic => Deferred::anthropic,
            WireFormat::OpenAiResponses if deferred.search.is_some() => {
                return Err(DeferredError::SearchedByTool(self));
            }
            WireFormat::OpenAiResponses => Deferred::responses,
            _ => return Err(DeferredError::Unsupported(self)),
        };
        let specs: Vec<&ToolSpec> = specs.into_iter().collect();
        let exists = |name: &&Text| specs.iter().any(|spec| spec.name.as_str() == name.as_str());
        let unknown: Vec<Text> =
            deferred.loaded_immediately().filter(|name| !exists(name)).cloned().collect();
        if !unknown.is_empty() {
            return Err(DeferredError::UnknownTools(unknown));
        }
        match self.tools_in(dialect, specs).map_err(DeferredError::Refused)? {
            Value::Array(tools) => Ok(Value::Array(arrange(deferred, tools))),
            other => Ok(other),
        }
    }
}
