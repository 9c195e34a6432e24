//! Finds tools that a model cannot distinguish.

use std::collections::HashMap;

use super::words::{is_request, join_names, stems, words};
use crate::spec::ToolSpec;

/// Returns a message for each group of tools with the same description or name, with the index of its first tool.
/// Takes time proportional to the length of the descriptions.
pub(super) fn similar(specs: &[&ToolSpec]) -> Vec<(String, usize)> {
    let mut messages = Vec::new();
    let name_groups = groups(specs, |spec| {
        let mut words = words(spec.name.as_str());
        words.sort();
        words
    });
    for group in &name_groups {
        let Some(first) = group.first() else { continue };
        messages.push((
            format!("the tools {} have names made of the same words", join_tool_names(specs, group)),
            *first,
        ));
    }
    // Missing descriptions are reported by another lint.
    let has_description = |spec: &ToolSpec| !is_request(&spec.description);
    let description_groups =
        groups(specs, |spec| if has_description(spec) { stems(&spec.description) } else { Vec::new() });
    for group in description_groups.iter().filter(|group| !name_groups.contains(group)) {
        let Some(first) = group.first() else { continue };
        messages
            .push((format!("the tools {} have the same description", join_tool_names(specs, group)), *first));
    }
    messages
}

/// Returns the groups of tools that have the same words, in the order of their first tools.
fn groups(specs: &[&ToolSpec], words: impl Fn(&ToolSpec) -> Vec<String>) -> Vec<Vec<usize>> {
    let mut group_by_words: HashMap<Vec<String>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let words = words(spec);
        if words.is_empty() {
            continue;
        }
        let group = *group_by_words.entry(words).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups.iter_mut().skip(group).take(1).for_each(|group| group.push(index));
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn join_tool_names(specs: &[&ToolSpec], group: &[usize]) -> String {
    let names: Vec<String> =
        group.iter().filter_map(|index| specs.get(*index)).map(|spec| spec.name.to_string()).collect();
    join_names(&names)
}
