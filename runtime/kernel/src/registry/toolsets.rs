//! Checks toolsets against the tools that exist.

use std::collections::BTreeSet;
use std::fmt;

use crate::base::frozen::Text;
use crate::registry::Registry;
use crate::registry::unknown::suggest;
use toolgen_core::internal::{Check, closest_match};

pub use crate::spec::toolset::{ContextSpec, Toolset};

/// The problems of toolsets, set by set.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolsetError {
    /// The problems, one entry per name, in the order of the members.
    pub problems: Vec<ToolsetProblem>,
}

/// A problem of a toolset.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsetProblem {
    /// The name of the toolset.
    pub set: Text,
    /// The name of the member.
    pub member: Text,
    /// The kind of problem.
    pub kind: ToolsetProblemKind,
    /// The name of a similar tool, if the tool is unknown.
    pub suggestion: Option<Text>,
}

/// The kinds of problems with a member of a toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolsetProblemKind {
    /// No tool has this name: `toolset '{set}': tool '{member}' not registered`, and
    /// `; did you mean '{suggestion}'?` if one is similar
    Unknown,
    /// The member is listed more than once: `toolset '{set}': tool '{member}' is listed twice`
    Duplicate,
}

impl Check<Registry, ToolsetError> for Toolset {
    fn checked(&self, registry: &Registry) -> Result<(), ToolsetError> {
        check_all([self], registry)
    }
}

fn problems(set: &Toolset, registry: &Registry) -> Vec<ToolsetProblem> {
    let (mut members, mut duplicates) = (BTreeSet::new(), BTreeSet::new());
    let tool_names = || registry.all_specs().map(|spec| spec.name.as_str());
    let mut problems = Vec::new();
    for member in &set.members {
        let (kind, suggestion) = if members.insert(member) {
            if registry.get(member).is_some() || tool_names().any(|name| member == name) {
                continue;
            }
            (ToolsetProblemKind::Unknown, closest_match(member, tool_names()).map(Text::copy_of))
        } else if duplicates.insert(member) {
            (ToolsetProblemKind::Duplicate, None)
        } else {
            continue;
        };
        problems.push(ToolsetProblem { set: set.name.clone(), member: member.clone(), kind, suggestion });
    }
    problems
}

/// Checks several toolsets.
///
/// # Errors
///
/// Returns all problems of all toolsets.
pub fn check_all<'a>(
    sets: impl IntoIterator<Item = &'a Toolset>,
    registry: &Registry,
) -> Result<(), ToolsetError> {
    let problems: Vec<ToolsetProblem> = sets.into_iter().flat_map(|set| problems(set, registry)).collect();
    if problems.is_empty() { Ok(()) } else { Err(ToolsetError { problems }) }
}

impl fmt::Display for ToolsetProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ToolsetProblem { set, member, kind, suggestion } = self;
        match kind {
            ToolsetProblemKind::Unknown => {
                write!(f, "toolset '{set}': tool '{member}' not registered")?;
                suggest(f, suggestion.as_deref())
            }
            ToolsetProblemKind::Duplicate => write!(f, "toolset '{set}': tool '{member}' is listed twice"),
        }
    }
}

impl fmt::Display for ToolsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(ToolsetError);

impl std::error::Error for ToolsetError {}
