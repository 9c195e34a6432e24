//! Tools with which a model finds tools: `list_tools` and `search_tools`.
//!
//! If there are more tools than fit in a prompt, give the model these two tools to look up tools. They are ordinary
//! tools, registered like all others; a [discovery](crate::registry::discovery) also removes the other tools
//! from the list. They cover the tools of their toolbox that the toolbox and the principal of the call allow, or a
//! fixed list.
//!
//! ```
//! # use serde_json::json;
//! use toolgen_runtime::registry::catalogue::SearchTools;
//! use toolgen_runtime::{Effects, ToolName, ToolSpec, testing};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), toolgen_runtime::ToolError> {
//! let spec = ToolSpec {
//!     name: ToolName::new("get_weather"),
//!     description: "Tells the weather of a place.".into(),
//!     effects: Effects::NONE,
//!     ..ToolSpec::EMPTY
//! };
//! let result = testing::call(&SearchTools::of([spec]), json!({"query": "weather in Oslo"})).await?;
//! assert_eq!(result.to_text(), "- **get_weather** - Tells the weather of a place.\n");
//! # Ok(())
//! # }
//! ```

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::schema::shape::Schema;
use crate::spec::docs;
use crate::spec::search::SearchIndex;
use crate::spec::{Effects, ToolName, ToolSpec};

/// The name of the tool that lists tools.
pub const LIST_TOOLS: &str = "list_tools";

/// The name of the tool that searches tools.
pub const SEARCH_TOOLS: &str = "search_tools";

static LIST: ToolSpec = ToolSpec {
    name: ToolName::new(LIST_TOOLS),
    label: Text::Static("List Tools"),
    description: Text::Static("Lists the available tools by name, with a one-line description of each."),
    use_for: Text::Static("seeing which tools are available"),
    input: Schema::text(
        r#"{"type":"object","properties":{"category":{"type":"string","description":"Only tools of this category."},"offset":{"type":"integer","minimum":0,"default":0,"description":"How many tools to skip at the start."},"limit":{"type":"integer","minimum":1,"maximum":500,"default":50,"description":"The maximum number of tools to list."}},"additionalProperties":false}"#,
    ),
    effects: Effects::NONE,
    ..ToolSpec::EMPTY
};

static SEARCH: ToolSpec = ToolSpec {
    name: ToolName::new(SEARCH_TOOLS),
    label: Text::Static("Search Tools"),
    description: Text::Static(
        "Finds the tools that match a query, with a one-line description of each. The best match comes first.",
    ),
    use_for: Text::Static("finding the tool for a task"),
    input: Schema::text(
        r#"{"type":"object","properties":{"query":{"type":"string","minLength":1,"description":"What the tool should do, in a few words."},"limit":{"type":"integer","minimum":1,"maximum":50,"default":5,"description":"The maximum number of tools to return."}},"required":["query"],"additionalProperties":false}"#,
    ),
    effects: Effects::NONE,
    ..ToolSpec::EMPTY
};

/// The source of the tools that a catalogue tool lists or searches.
#[derive(Clone, Debug, Default)]
enum Source {
    /// The tools of the toolbox of the call.
    #[default]
    Toolbox,
    /// A fixed list.
    List(Arc<ToolList>),
}

/// A fixed list of tools.
#[derive(Debug)]
struct ToolList {
    /// The specifications, sorted by name.
    specs: Vec<ToolSpec>,
    /// The search index, built by the first search.
    index: OnceLock<SearchIndex>,
}

impl Source {
    fn list(specs: impl IntoIterator<Item = ToolSpec>) -> Source {
        let mut specs: Vec<ToolSpec> = specs.into_iter().collect();
        specs.sort_by(|left, right| left.name.cmp(&right.name));
        Source::List(Arc::new(ToolList { specs, index: OnceLock::new() }))
    }

    /// Returns the tools that are allowed in a call, sorted by name, without the two catalogue tools.
    fn allowed<'a>(&'a self, ctx: &'a ToolContext) -> Result<Vec<&'a ToolSpec>, ToolError> {
        let mut specs: Vec<&ToolSpec> = match (self, &ctx.turn().peers) {
            (Source::List(list), _) => list.specs.iter().collect(),
            (Source::Toolbox, Some(peers)) => peers.specs(),
            (Source::Toolbox, None) => return Err(no_toolbox()),
        };
        specs.retain(|spec| may_find(spec, ctx));
        Ok(specs)
    }

    /// Returns the tools that match a query best, the best match first.
    fn search<'a>(
        &'a self,
        query: &str,
        limit: usize,
        ctx: &'a ToolContext,
    ) -> Result<Vec<&'a ToolSpec>, ToolError> {
        match (self, &ctx.turn().peers) {
            (Source::List(list), _) => {
                let is_allowed = |index: usize| list.specs.get(index).is_some_and(|spec| may_find(spec, ctx));
                let build = || SearchIndex::new(list.specs.iter().map(|spec| (spec, "")));
                let matches = list.index.get_or_init(build).search(query, limit, is_allowed);
                Ok(matches.into_iter().filter_map(|index| list.specs.get(index)).collect())
            }
            (Source::Toolbox, Some(peers)) => Ok(peers.search(query, limit, &|spec| may_find(spec, ctx))),
            (Source::Toolbox, None) => Err(no_toolbox()),
        }
    }
}

fn no_toolbox() -> ToolError {
    ToolError::failed_with("SERVICE_UNAVAILABLE", "tools can be looked up only in calls through a toolbox")
}

/// Whether a call may find a tool: it is not a catalogue tool, and the principal may use it.
fn may_find(spec: &ToolSpec, ctx: &ToolContext) -> bool {
    ![LIST_TOOLS, SEARCH_TOOLS].contains(&spec.name.as_str())
        && ctx.principal().is_none_or(|principal| principal.check(spec).is_ok())
}

/// The tool `list_tools`.
#[derive(Clone, Debug, Default)]
pub struct ListTools(Source);

impl ListTools {
    /// Creates a tool that lists the tools of the toolbox of the call.
    #[must_use]
    pub fn new() -> ListTools {
        ListTools::default()
    }

    /// Creates a tool that lists these tools.
    #[must_use]
    pub fn of(specs: impl IntoIterator<Item = ToolSpec>) -> ListTools {
        ListTools(Source::list(specs))
    }

    fn list(&self, params: &Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let category = params.get("category").and_then(Value::as_str);
        let (offset, limit) = (number(params, "offset", 0), number(params, "limit", 50));
        let mut specs = self.0.allowed(ctx)?;
        specs.retain(|spec| category.is_none_or(|category| &*spec.category == category));
        let total = specs.len();
        let page: Vec<&ToolSpec> = specs.into_iter().skip(offset).take(limit).collect();
        let end = offset.saturating_add(page.len());
        let mut text = docs::summary(page.iter().copied());
        if end < total {
            let first = offset + 1;
            text.push_str(&format!("\n{first}-{end} of {total} tools. The next ones are at offset {end}.\n"));
        }
        let next = if end < total { json!(end) } else { Value::Null };
        let details = json!({ "tools": tools_json(&page), "total": total, "next_offset": next });
        Ok(ToolResult::text(text).with_details(details))
    }
}

/// The tool `search_tools`.
#[derive(Clone, Debug, Default)]
pub struct SearchTools(Source);

impl SearchTools {
    /// Creates a tool that searches the tools of the toolbox of the call.
    #[must_use]
    pub fn new() -> SearchTools {
        SearchTools::default()
    }

    /// Creates a tool that searches these tools.
    #[must_use]
    pub fn of(specs: impl IntoIterator<Item = ToolSpec>) -> SearchTools {
        SearchTools(Source::list(specs))
    }

    fn search(&self, params: &Value, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let query = params.get("query").and_then(Value::as_str).unwrap_or_default();
        let specs = self.0.search(query, number(params, "limit", 5), ctx)?;
        let text = if specs.is_empty() {
            format!("No tool is about '{query}'.")
        } else {
            specs.iter().map(|spec| docs::detail(spec)).collect()
        };
        Ok(ToolResult::text(text).with_details(json!({ "tools": tools_json(&specs) })))
    }
}

fn number(params: &Value, name: &str, default: usize) -> usize {
    let number = params.get(name).and_then(Value::as_u64);
    number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn tools_json(specs: &[&ToolSpec]) -> Value {
    let entries = specs.iter().map(|spec| {
        json!({
            "name": spec.name.as_str(),
            "description": spec.description.as_str(),
            "category": spec.category.as_str(),
        })
    });
    entries.collect()
}

macro_rules! tool {
    ($type:ty, $spec:ident, $run:ident) => {
        impl AgentTool for $type {
            fn spec(&self) -> &ToolSpec {
                &$spec
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

tool!(ListTools, LIST, list);
tool!(SearchTools, SEARCH, search);

#[cfg(test)]
mod tests;
