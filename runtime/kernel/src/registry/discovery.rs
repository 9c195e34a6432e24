//! Discovery: three tools that find and call all others.
//!
//! A toolbox of many tools lists only `search_tools`, `describe_tool` and `call_tool`, and the tools that are pinned.
//! A model searches with a query, reads the descriptions of the tools it found, and calls them. The other tools stay
//! tools of the toolbox: `call_tool` calls a tool as if the model had called it by its own name. Arguments, policies,
//! scopes, approvals, limits, secrets, events and records are those of the called tool, and there is no record of
//! `call_tool` itself. The response is a response to `call_tool`. A model may also call the tools by their own names.
//!
//! A tool that the toolbox or the principal of a call does not allow is neither found nor described, and calling it
//! returns the error of a tool that does not exist. Scopes that a principal lacks are named when the tool is called.
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::registry::discovery::Discovery;
//! use toolgen_runtime::{Toolbox, Registry, ToolCall, Turn, tool, toolset};
//!
//! /// Returns the weather of a place.
//! #[tool(read_only, undocumented)]
//! fn get_weather(place: String) -> String {
//!     format!("It rains in {place}.")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let registry = Registry::new(toolset![get_weather])?;
//! let toolbox = Toolbox::builder(&registry).discovery(Discovery::new()).build()?;
//! let listed: Vec<&str> = toolbox.specs().map(|spec| spec.name.as_str()).collect();
//! assert_eq!(listed, ["call_tool", "describe_tool", "search_tools"]);
//!
//! let turn = Turn::new("turn-1");
//! let search = ToolCall::new("1", "search_tools", json!({"query": "how is the weather?"}));
//! let results = toolbox.run(search, &turn).await;
//! assert_eq!(results.text(), "get_weather(place: string) - Returns the weather of a place.\n");
//! let arguments = json!({"name": "get_weather", "arguments": {"place": "Oslo"}});
//! let answer = toolbox.run(ToolCall::new("2", "call_tool", arguments), &turn).await;
//! assert_eq!((answer.name.as_str(), answer.text().as_str()), ("call_tool", "It rains in Oslo."));
//! # Ok(())
//! # }
//! ```

mod signature;
mod tools;

use std::sync::Arc;

use serde_json::Value;

use crate::base::frozen::Text;
use crate::call::tool::{AgentTool, decoded, parsed};
use crate::registry::{Registry, toolsets::Toolset};
use crate::schema::dialect::Dialect;
use crate::spec::{NameError, ToolName, ToolSpec};

pub use signature::signature;

use tools::{CallTool, DescribeTool, SearchTools};

/// Lists three tools instead of all tools; see the [module](self).
#[derive(Clone, Debug)]
#[must_use = "pass it to `ToolboxBuilder::discovery`"]
pub struct Discovery {
    /// The names of the tools that search, describe and call.
    names: [Text; 3],
    topic: Text,
    pinned: Vec<Text>,
    groups: Vec<Toolset>,
}

impl Default for Discovery {
    fn default() -> Discovery {
        Discovery::new()
    }
}

impl Discovery {
    /// Creates a discovery with the names `search_tools`, `describe_tool` and `call_tool`, and no pinned tools.
    pub fn new() -> Discovery {
        let names = ["search_tools", "describe_tool", "call_tool"].map(Text::Static);
        Discovery { names, topic: Text::EMPTY, pinned: Vec::new(), groups: Vec::new() }
    }

    /// Sets the names of the tools that search, describe and call, for a registry that has tools with the default
    /// names.
    pub fn names(
        mut self,
        search: impl Into<Text>,
        describe: impl Into<Text>,
        call: impl Into<Text>,
    ) -> Discovery {
        self.names = [search.into(), describe.into(), call.into()];
        self
    }

    /// Sets a short description of what the tools are about, such as the name of the service. A model reads it when
    /// it decides whether to search.
    pub fn topic(mut self, text: impl Into<Text>) -> Discovery {
        self.topic = text.into();
        self
    }

    /// Keeps these tools in the list of the toolbox, in addition to those pinned before. Pin tools that are called
    /// often.
    pub fn pin<S: Into<Text>>(mut self, names: impl IntoIterator<Item = S>) -> Discovery {
        self.pinned.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets a model limit a search to the tools of this toolset by its name, as with a category. Unlike
    /// [`ToolboxBuilder::toolset`](crate::toolbox::ToolboxBuilder::toolset), it neither allows nor limits tools.
    pub fn group(mut self, set: Toolset) -> Discovery {
        self.groups.push(set);
        self
    }

    /// Returns the specifications of the three tools, as a toolbox lists them.
    ///
    /// # Errors
    ///
    /// Returns the first invalid name, with the reason.
    pub fn specs(&self) -> Result<[ToolSpec; 3], (Text, NameError)> {
        let name = |index: usize| {
            let name = &self.names[index];
            ToolName::parse(name.clone()).map_err(|error| (name.clone(), error))
        };
        let (search, describe, call) = (name(0)?, name(1)?, name(2)?);
        let names = [&search, &describe, &call].map(ToolName::to_text);
        Ok([
            tools::search(search, &names, &self.topic),
            tools::describe(describe, &names),
            tools::call(call, &names),
        ])
    }

    /// Returns the names of the pinned tools.
    pub(crate) fn pinned(&self) -> &[Text] {
        &self.pinned
    }

    /// Builds the three tools for a registry.
    ///
    /// # Errors
    ///
    /// Returns the first invalid name, with the reason.
    pub(crate) fn build_tools(&self, registry: &Registry) -> Result<Discovered, (Text, NameError)> {
        let [search, describe, call] = self.specs()?;
        let discoverable = Arc::new(DiscoverableTools {
            registry: registry.clone(),
            groups: self.groups.clone(),
            tool_names: [&search, &describe, &call].map(|spec| spec.name.to_text()),
        });
        let call = Arc::new(CallTool { spec: call });
        let tools: [Arc<dyn AgentTool>; 3] = [
            Arc::new(SearchTools { spec: search, discoverable: Arc::clone(&discoverable) }),
            Arc::new(DescribeTool { spec: describe, discoverable }),
            call.clone(),
        ];
        Ok(Discovered { tools, call })
    }
}

/// The tools that the three discovery tools cover.
struct DiscoverableTools {
    /// The tools, without the discovery tools.
    registry: Registry,
    groups: Vec<Toolset>,
    /// The names of the discovery tools.
    tool_names: [Text; 3],
}

/// The discovery tools of a toolbox.
pub(crate) struct Discovered {
    pub(crate) tools: [Arc<dyn AgentTool>; 3],
    call: Arc<CallTool>,
}

impl Discovered {
    /// Whether a tool is one of the discovery tools.
    pub(crate) fn has(&self, tool: &Arc<dyn AgentTool>) -> bool {
        self.tools.iter().any(|other| other.name() == tool.name())
    }

    /// Whether this is the name of the tool that calls others.
    pub(crate) fn calls(&self, name: &str) -> bool {
        self.call.spec().name.as_str() == name
    }

    /// Returns the name and arguments of the call that these arguments of `call_tool` describe, or `None` if they are
    /// invalid. Arguments that are a string stay a string, which the call of the tool parses.
    pub(crate) fn inner(&self, arguments: &Value, dialect: &Dialect) -> Option<(Text, Value)> {
        let members = parsed(arguments.clone()).ok()?;
        parse_call(members.clone()).or_else(|| parse_call(decoded(self.call.spec(), members, dialect).ok()?))
    }
}

/// Parses the name and the arguments of a call, unless it has other members.
fn parse_call(members: Value) -> Option<(Text, Value)> {
    let Value::Object(mut members) = members else { return None };
    let name = members.shift_remove("name")?;
    let arguments = match members.shift_remove("arguments") {
        None | Some(Value::Null) => Value::Object(serde_json::Map::new()),
        Some(arguments @ (Value::Object(_) | Value::String(_))) => arguments,
        Some(_) => return None,
    };
    let name = name.as_str().filter(|name| !name.is_empty() && members.is_empty())?;
    Some((Text::copy_of(name), arguments))
}
