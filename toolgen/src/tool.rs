//! The value that the front ends pass to the emitter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::spec::mcp::about;
use toolgen_core::spec::plan::McpServer;
use toolgen_core::spec::toolset::{ContextSpec, Toolset};
use toolgen_core::{Def, ExecutionPlan, List, Shape, ToolName, ToolSpec};
use toolgen_rules::Rules;

use crate::problem::Levels;
use crate::source::{Pointer, Source};

/// A compiled tool and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The specification of the tool.
    pub spec: ToolSpec,
    /// The execution plan of the tool.
    pub call: ExecutionPlan,
    /// The content of unsuccessful responses, if the document declares it and types are generated.
    pub failure: Option<Shape>,
    /// The properties of successful responses other than the result.
    pub success: Success,
    /// The origin of the tool.
    pub origin: Origin,
}

/// The properties that a document declares for successful responses, other than the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Success {
    /// Whether they have no body.
    pub is_empty: bool,
    /// The headers, as an object of scalars with their names in lower case, if there are any and types are generated.
    pub headers: Option<Shape>,
}

/// The entry of a document that a tool comes from, with the names and groups that filters select by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The document that contains it.
    pub source: Arc<Source>,
    /// Its location in the document.
    pub pointer: Pointer,
    /// The document's own name for it; empty if it has none.
    pub id: String,
    /// The title for people, such as `GET /pets`. A verb may come before the subject.
    pub title: String,
    /// The groups that the document assigns it to.
    pub groups: Vec<String>,
}

impl Origin {
    /// Returns the title's verb, if it has one, and its subject: `GET` and `/pets`.
    #[must_use]
    pub fn verb_and_subject(&self) -> (Option<&str>, &str) {
        verb_and_subject(&self.title)
    }
}

/// The two parts of a title.
pub(crate) fn verb_and_subject(title: &str) -> (Option<&str>, &str) {
    match title.split_once(' ') {
        Some((verb, subject)) => (Some(verb), subject),
        None => (None, title),
    }
}

/// Converts to the runtime's tool, without the origin.
impl From<Tool> for toolgen_core::Tool {
    fn from(Tool { spec, call, .. }: Tool) -> toolgen_core::Tool {
        toolgen_core::Tool { spec, call }
    }
}

/// Returns these tools and all tools that they call, directly or indirectly.
#[must_use]
pub fn with_callees<'t>(tools: Vec<&'t Tool>, all: &[&'t Tool]) -> Vec<&'t Tool> {
    let by_name: BTreeMap<&str, &Tool> = all.iter().map(|tool| (tool.spec.name.as_str(), *tool)).collect();
    let mut names: BTreeSet<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
    let (mut result, mut index) = (tools, 0);
    while let Some(tool) = result.get(index).copied() {
        let called = tool.call.tools().into_iter().filter_map(|name| by_name.get(name).copied());
        result.extend(called.filter(|called| names.insert(called.spec.name.as_str())));
        index += 1;
    }
    result
}

/// The compiled form of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The kind of document: the name of its front end, such as `openapi`.
    pub kind: &'static str,
    /// The version that the document declares, such as `3.0.3`.
    pub version: String,
    /// The document's title and version of the service that it describes.
    pub about: About,
    /// The number of operations in the document, before any filter.
    pub operations: usize,
    /// The tools of the document itself, sorted by name.
    pub tools: Vec<Tool>,
    /// The named shapes that these tools reach and share, sorted by name.
    pub defs: List<Def>,
    /// The names of the schemes that credentials can be set for, whether or not a tool needs one.
    pub schemes: Vec<String>,
    /// The imported documents, in order. Their tools are added to those of the document.
    pub parts: Vec<Part>,
    /// The sets of tools, sorted by name. Their members are among [`all_tools`](Program::all_tools).
    pub toolsets: Vec<Toolset>,
    /// The contexts in which the tools may run, sorted by name.
    pub contexts: Vec<ContextSpec>,
    /// The rules of the document itself on the calls of its tools and of imported ones.
    pub rules: Rules,
    /// The files that were read in addition to the document itself, sorted.
    pub sources: Vec<PathBuf>,
    /// The MCP servers that the document names, whether or not they have a lock yet.
    pub servers: Vec<McpSource>,
    /// The execution plans of tools that run elsewhere, by name, as a contract lock records them.
    pub calls: BTreeMap<String, Value>,
    /// The contract lock that the document names for its tools.
    pub lock: Option<PathBuf>,
    /// The severity levels that the document sets for its problems.
    pub levels: Levels,
    /// The names of the dialects that must express tools completely, as the document requires.
    pub deny_losses: Vec<String>,
    /// The token budget of the tools, as the document requires.
    pub token_budget: Option<TokenBudget>,
}

/// A token budget for tools, by the tokenizer `o200k_base`. A build that exceeds it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    /// The tokens of all tools of a build together; `None` means no limit.
    pub total: Option<usize>,
    /// The tokens of one tool; `None` means no limit.
    pub tool: Option<usize>,
    /// The name of the dialect in which they are counted, such as `openai`.
    pub dialect: String,
}

/// What a document declares about the service that it describes. Empty if it declares nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its title, as one short line.
    pub title: String,
    /// Its version, as one short line.
    pub version: String,
}

impl About {
    /// Reads the `title` and the `version` of an object, such as `info`.
    pub(crate) fn read(info: Option<&Value>) -> About {
        let info = about(info.unwrap_or(&Value::Null));
        let text = |key: &str| match info.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        About { title: text("title"), version: text("version") }
    }
}

/// An MCP server and the lock of its tools.
#[derive(Clone, Debug, PartialEq)]
pub struct McpSource {
    /// The server and how to reach it.
    pub server: McpServer,
    /// The file of its lock.
    pub lock: PathBuf,
}

/// An imported document.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name; the name of its module is derived from it.
    pub name: String,
    /// Its compiled form.
    pub program: Program,
}

impl Program {
    /// Returns the tools of the document and of all its imports, sorted by name.
    #[must_use]
    pub fn all_tools(&self) -> Vec<&Tool> {
        let mut tools = Vec::new();
        self.add_tools(&mut tools);
        tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
        tools
    }

    fn add_tools<'p>(&'p self, tools: &mut Vec<&'p Tool>) {
        tools.extend(&self.tools);
        self.parts.iter().for_each(|part| part.program.add_tools(tools));
    }

    /// Returns the tools of the document and of all its imports, sorted by name, without their origins.
    #[must_use]
    pub fn into_tools(self) -> Vec<toolgen_core::Tool> {
        self.all_tools().into_iter().cloned().map(toolgen_core::Tool::from).collect()
    }

    /// Returns the rules of the document and of all its imports.
    #[must_use]
    pub fn all_rules(&self) -> Rules {
        let imported: Vec<Rules> = self.parts.iter().map(|part| part.program.all_rules()).collect();
        let rules = std::iter::once(&self.rules).chain(&imported).flat_map(Rules::as_slice);
        rules.cloned().collect()
    }

    /// Removes the rules that are about no tool, because the options removed their tools.
    pub(crate) fn retain_rules(&mut self) {
        let tools: Vec<ToolSpec> = self.all_tools().into_iter().map(|tool| tool.spec.clone()).collect();
        self.retain_rules_about(&tools);
    }

    fn retain_rules_about(&mut self, tools: &[ToolSpec]) {
        self.rules = self.rules.about(tools);
        self.parts.iter_mut().for_each(|part| part.program.retain_rules_about(tools));
    }

    /// Returns the MCP servers of the document and of all its imports.
    #[must_use]
    pub fn all_servers(&self) -> Vec<&McpSource> {
        let parts = self.parts.iter().flat_map(|part| part.program.all_servers());
        self.servers.iter().chain(parts).collect()
    }

    /// Returns the tool with a name, including those of imported documents.
    pub(crate) fn find_mut(&mut self, name: &ToolName) -> Option<&mut Tool> {
        let parts = self.parts.iter_mut().find_map(|part| part.program.find_mut(name));
        parts.or_else(|| self.tools.iter_mut().find(|tool| tool.spec.name == *name))
    }

    /// Removes the tools with these names, and the imports that have no others.
    pub(crate) fn remove(&mut self, names: &BTreeSet<ToolName>) {
        self.tools.retain(|tool| !names.contains(&tool.spec.name));
        self.parts.retain_mut(|part| {
            let had_tools = !part.program.is_empty();
            part.program.remove(names);
            !(had_tools && part.program.is_empty())
        });
    }

    /// Whether neither the document nor its imports have a tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.parts.iter().all(|part| part.program.is_empty())
    }

    /// The number of operations in the document and in all its imports, before any filter.
    #[must_use]
    pub fn all_operations(&self) -> usize {
        self.operations + self.parts.iter().map(|part| part.program.all_operations()).sum::<usize>()
    }
}
