//! The graph of required tools, its order and its problems.
//!
//! A tool may require that another tool was called before it. These requirements form a graph, which has an order if
//! it has no cycle. [`problems`] lists the errors that prevent a registry from being sealed; [`Graph`] orders tools,
//! finds their dependents and draws them.

mod draw;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::require::{in_order, required_tools};
use super::{Requirement, RequirementKind, ToolSpec};
use crate::base::frozen::List;
use crate::schema::shape::{Access, Def, Extra, Field, Kind, Shape, find_def};

/// The tools of a program and their requirements.
///
/// ```
/// use toolgen_runtime::spec::graph::Graph;
/// use toolgen_runtime::spec::Requirement;
/// use toolgen_runtime::{ToolName, ToolSpec};
///
/// let start = ToolSpec { name: ToolName::new("session_start"), ..ToolSpec::EMPTY };
/// let log = ToolSpec {
///     name: ToolName::new("session_log"),
///     requires: vec![Requirement::tool("session_start")].into(),
///     ..ToolSpec::EMPTY
/// };
/// let graph = Graph::of([&log, &start]);
/// assert_eq!(graph.order(), ["session_start", "session_log"]);
/// assert_eq!(graph.dependents("session_start"), ["session_log"]);
/// ```
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    tools: BTreeMap<&'a str, &'a ToolSpec>,
    /// The pairs of a tool and a tool that it calls.
    calls: BTreeSet<(&'a str, &'a str)>,
}

/// A problem with the requirements of tools. `Display` describes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RequirementProblem {
    /// These tools require each other, so none of them could ever be called:
    /// `Circular dependency detected while validating [a]. The path is a -> b -> a.`
    Cycle(Vec<String>),
    /// A tool requires another that does not exist: `Tool [b] requires tool [a], which is not registered.`
    Unregistered {
        /// The tool.
        tool: String,
        /// The missing tool.
        requires: String,
    },
    /// An entity is identified by an argument that the tool does not have: `Tool [b] finds entity [plan] by argument
    /// [slug], which its input does not have.`
    Argument {
        /// The tool.
        tool: String,
        /// The kind of entity.
        entity: String,
        /// The argument. Empty if the requirement names none.
        argument: String,
    },
}

impl<'a> Graph<'a> {
    /// Builds the graph of these tools, in any order. If two tools have the same name, the tool whose requirements sort
    /// last is used.
    #[must_use]
    pub fn of(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Graph<'a> {
        let sort_key = |spec: &'a ToolSpec| {
            let keys = spec.requires.iter().map(|requirement| {
                (
                    requirement.kind,
                    requirement.name.as_str(),
                    requirement.argument.as_str(),
                    requirement.optional,
                )
            });
            keys.collect::<Vec<_>>()
        };
        let mut tools: BTreeMap<&str, &ToolSpec> = BTreeMap::new();
        for spec in specs {
            let existing = tools.entry(spec.name.as_str()).or_insert(spec);
            if !std::ptr::eq(*existing, spec) && sort_key(existing) < sort_key(spec) {
                *existing = spec;
            }
        }
        Graph { tools, calls: BTreeSet::new() }
    }

    /// Adds the calls of a tool, such as a composition, to the drawings. They do not affect the order of the tools.
    #[must_use]
    pub fn with_calls(mut self, tool: &'a str, called: impl IntoIterator<Item = &'a str>) -> Graph<'a> {
        self.calls.extend(called.into_iter().map(|called| (tool, called)));
        self
    }

    /// Returns the tools, each after all tools that it requires, otherwise by name. Cycles are broken at an arbitrary
    /// position.
    #[must_use]
    pub fn order(&self) -> Vec<&'a str> {
        in_order(self.tools.keys().copied(), |name| self.tools.get(name).copied(), |_| false)
    }

    /// Returns the tools that must be called before a tool, in order and without the tool itself.
    #[must_use]
    pub fn before(&self, tool: &str) -> Vec<&'a str> {
        let Some(spec) = self.tools.get(tool) else { return Vec::new() };
        let required = required_tools(spec).map(|requirement| requirement.name.as_str());
        in_order(required, |name| self.tools.get(name).copied(), |name| name == tool)
    }

    /// Returns the tools that require a tool, optionally or not, by name.
    #[must_use]
    pub fn dependents(&self, tool: &str) -> Vec<&'a str> {
        let requires_tool = |requirement: &Requirement| {
            requirement.kind == RequirementKind::Tool && requirement.name.as_str() == tool
        };
        let dependents = self.tools.iter().filter(|(_, spec)| spec.requires.iter().any(requires_tool));
        dependents.map(|(name, _)| *name).collect()
    }
}

/// Returns all problems with the requirements of tools, sorted. Optional requirements never block, so they form no
/// cycle and may name tools that do not exist.
#[must_use]
pub fn problems<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<RequirementProblem> {
    let specs: Vec<&ToolSpec> = specs.into_iter().collect();
    if specs.iter().all(|spec| spec.requires.is_empty()) {
        return Vec::new();
    }
    let graph = Graph::of(specs);
    let with_requirements = || graph.tools.values().filter(|spec| !spec.requires.is_empty());
    let mut problems = BTreeSet::new();
    for spec in with_requirements() {
        for missing in
            required_tools(spec).filter(|requirement| !graph.tools.contains_key(requirement.name.as_str()))
        {
            let (tool, requires) = (spec.name.to_string(), missing.name.to_string());
            problems.insert(RequirementProblem::Unregistered { tool, requires });
        }
        for entity in spec.requires.iter().filter(|requirement| requirement.kind == RequirementKind::Entity) {
            if matches!(find_field(spec, &entity.argument), ArgumentLookup::Nothing) {
                problems.insert(RequirementProblem::Argument {
                    tool: spec.name.to_string(),
                    entity: entity.name.to_string(),
                    argument: entity.argument.to_string(),
                });
            }
        }
    }
    problems.extend(cycles(&graph, with_requirements().map(|spec| spec.name.as_str())));
    problems.into_iter().collect()
}

/// Returns at least one cycle for each group of tools that require each other, starting at its first name.
fn cycles<'a>(
    graph: &Graph<'a>,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = RequirementProblem> {
    let mut cycles = BTreeSet::new();
    // `Some(depth)` on the current path, `None` once visited.
    let mut visited: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    let mut path = Vec::new();
    for name in names {
        let mut next = Some(name);
        loop {
            if let Some(name) = next.take() {
                match (visited.get(name), graph.tools.get(name)) {
                    (Some(Some(depth)), _) => {
                        cycles
                            .insert(rotate_to_first(path[*depth..].iter().map(|(name, _)| *name).collect()));
                    }
                    (None, Some(spec)) => {
                        visited.insert(name, Some(path.len()));
                        path.push((name, required_tools(spec)));
                    }
                    _ => {}
                }
            }
            let Some((name, required)) = path.last_mut() else { break };
            next = required.next().map(|requirement| requirement.name.as_str());
            if next.is_none() {
                visited.insert(*name, None);
                path.pop();
            }
        }
    }
    cycles.into_iter().map(|path| RequirementProblem::Cycle(path.into_iter().map(str::to_owned).collect()))
}

/// Rotates a cycle to start, and end, with its first name.
fn rotate_to_first(mut path: Vec<&str>) -> Vec<&str> {
    let first = path.iter().enumerate().min_by_key(|(_, name)| **name).map_or(0, |(index, _)| index);
    path.rotate_left(first);
    path.extend(path.first().copied());
    path
}

impl fmt::Display for RequirementProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequirementProblem::Cycle(path) => {
                let first = path.first().map_or("", String::as_str);
                let path = path.join(" -> ");
                write!(f, "Circular dependency detected while validating [{first}]. The path is {path}.")
            }
            RequirementProblem::Unregistered { tool, requires } => {
                write!(f, "Tool [{tool}] requires tool [{requires}], which is not registered.")
            }
            RequirementProblem::Argument { tool, entity, argument } if argument.is_empty() => {
                write!(f, "Tool [{tool}] requires entity [{entity}] and names no argument to find it by.")
            }
            RequirementProblem::Argument { tool, entity, argument } => {
                write!(
                    f,
                    "Tool [{tool}] finds entity [{entity}] by argument [{argument}], which its input does not have."
                )
            }
        }
    }
}

/// Maximum depth of nested references that are followed: references may be cyclic.
const MAX_DEPTH: usize = 16;

/// The result of a search for an argument in an input.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentLookup<'a> {
    /// The input has this field.
    Field(&'a Field),
    /// The input may have the argument, but does not declare it.
    Open,
    /// The input does not have the argument.
    Nothing,
}

/// Finds the field of a tool's input by the model's name, the data's name or an alias.
pub fn find_field<'a>(spec: &'a ToolSpec, name: &str) -> ArgumentLookup<'a> {
    if name.is_empty() { ArgumentLookup::Nothing } else { find(spec.input.shape(), &spec.defs, name, 0) }
}

fn find<'a>(shape: &'a Shape, defs: &'a List<Def>, name: &str, depth: usize) -> ArgumentLookup<'a> {
    let find_in = |shape| find(shape, defs, name, depth + 1);
    match &shape.kind {
        Kind::Object(rules) => {
            // An object with some fields that allows others declares its arguments; an object without fields is a map.
            let is_map = rules.fields.is_empty() && rules.extra != Extra::Closed;
            match rules.field(name, Access::ReadOnly) {
                Some(field) => ArgumentLookup::Field(field),
                None if is_map || !rules.patterns.is_empty() => ArgumentLookup::Open,
                None => ArgumentLookup::Nothing,
            }
        }
        _ if depth >= MAX_DEPTH => ArgumentLookup::Open,
        Kind::Ref(target) => find_def(defs, target).map_or(ArgumentLookup::Open, find_in),
        Kind::All(parts) => best(parts.iter().map(find_in)),
        Kind::Union(rules) => best(rules.variants.iter().map(find_in)),
        Kind::Any | Kind::Raw(_) => ArgumentLookup::Open,
        _ => ArgumentLookup::Nothing,
    }
}

/// Returns the first field, otherwise `Open` if any of the results is `Open`.
fn best<'a>(lookups: impl Iterator<Item = ArgumentLookup<'a>>) -> ArgumentLookup<'a> {
    lookups.fold(ArgumentLookup::Nothing, |best, lookup| match (best, lookup) {
        (ArgumentLookup::Field(field), _) => ArgumentLookup::Field(field),
        (_, ArgumentLookup::Nothing) => best,
        (_, lookup) => lookup,
    })
}

#[cfg(test)]
mod tests;
