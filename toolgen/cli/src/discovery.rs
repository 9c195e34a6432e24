//! The tools that a model uses to discover other tools, for the commands that show or serve tools.

use std::collections::BTreeMap;

use toolgen::Tool;
use toolgen_runtime::ToolSpec;
use toolgen_runtime::registry::discovery::Discovery;
use toolgen_runtime::registry::toolsets::Toolset;

/// Number of tools from which `serve` enables discovery by default: OpenAI and several clients accept fewer.
pub(super) const DISCOVERY_THRESHOLD: usize = 129;

/// Returns the discovery tools for these tools. A model can also search the groups of their documents.
pub(super) fn of(tools: &[&Tool], pinned: &[String]) -> Discovery {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in tools {
        for group in &tool.origin.groups {
            groups.entry(group).or_default().push(tool.spec.name.as_str().to_owned());
        }
    }
    let discovery = Discovery::new().pin(pinned.iter().cloned());
    groups
        .into_iter()
        .fold(discovery, |discovery, (name, members)| discovery.group(Toolset::new(name.to_owned(), members)))
}

/// Returns the specifications for a model: those of the tools, or of the discovery tools.
pub(super) fn visible_specs(discovery: bool, tools: &[&Tool]) -> Vec<ToolSpec> {
    if discovery {
        // The default names are valid.
        return Discovery::new().specs().map(Vec::from).unwrap_or_default();
    }
    tools.iter().map(|tool| tool.spec.clone()).collect()
}
