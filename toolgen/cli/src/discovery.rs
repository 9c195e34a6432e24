//! The tools by which a model discovers others, for the commands that show or serve tools.

use std::collections::BTreeMap;

use toolgen::Tool;
use toolgen_runtime::ToolSpec;
use toolgen_runtime::registry::discovery::Discovery;
use toolgen_runtime::registry::toolsets::Toolset;

/// The number of tools from which `serve` makes them discoverable by default: more than OpenAI and several clients
/// accept.
pub(super) const DISCOVERY_THRESHOLD: usize = 129;

/// Returns the discovery of tools, which can be searched by the groups that their documents put them in.
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
        .fold(discovery, |all, (name, members)| all.group(Toolset::new(name.to_owned(), members)))
}

/// Returns the specifications that a model is given: those of the tools, or those that discover them.
pub(super) fn visible_specs(discovers: bool, tools: &[&Tool]) -> Vec<ToolSpec> {
    if discovers {
        // The usual names are names.
        return Discovery::new().specs().map(Vec::from).unwrap_or_default();
    }
    tools.iter().map(|tool| tool.spec.clone()).collect()
}
