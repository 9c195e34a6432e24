//! Errors of toolboxes.

use std::fmt;

use super::FactoryError;
use crate::layers::pages::READ_RESULT;
use crate::registry::toolsets::ToolsetError;
use crate::registry::unknown::suggest;
use crate::registry::{RegistryError, UnknownTool};

/// The reason why a toolbox could not be built, or why it does not provide a tool.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolboxError {
    /// `tool '{name}' not allowed in this context`
    NotAllowed(String),
    /// `tool '{name}' not registered`
    NotRegistered(String),
    /// `failed to create tool '{name}': {source}`
    Create {
        /// The tool.
        name: String,
        /// The error of the factory.
        source: FactoryError,
    },
    /// An allow-list names tools that do not exist; one line per tool, as for `NotRegistered`, with `; did you mean
    /// '{suggestion}'?` if there is a similar name, and a hint if the name is a pattern, which only
    /// [rules](crate::layers::policy::PolicyRules) accept.
    UnknownTools(Vec<UnknownTool>),
    /// Rules name tools or categories that do not exist, so they would have no effect; one line per rule: `rule
    /// '{rule}' matches no tool`, with `; did you mean '{suggestion}'?` if there is a similar name.
    UnusedRules(Vec<UnknownTool>),
    /// Toolsets name tools that the registry does not have, or the same tool twice; one line per problem.
    Toolset(ToolsetError),
    /// The tools of a [discovery](crate::registry::discovery) cannot have their names: `` discovery: {reason}; choose
    /// other names with `Discovery::names` ``
    Discovery(String),
    /// A rule excludes a tool that the toolbox itself adds, which every principal may call: `rule '{0}' excludes a
    /// tool that the toolbox itself adds, …`
    OwnTool(String),
    /// The `approval_key` has fewer than 32 bytes: `the approval key has {0} bytes and needs at least 32; …`
    ShortKey(usize),
    /// An entry of the limits is not a host, so it would allow no host: `limits: {reason}`
    Host(String),
    /// A [layer](crate::layers::Layer::check) does not fit the tools, for this reason.
    Layer(String),
    /// A registry could not be sealed, or has a tool that the toolbox itself adds; displays as the registry error.
    NotSealed(RegistryError),
}

impl fmt::Display for ToolboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolboxError::NotAllowed(name) => write!(f, "tool '{name}' not allowed in this context"),
            ToolboxError::NotRegistered(name) => write!(f, "tool '{name}' not registered"),
            ToolboxError::Create { name, source: error } => {
                write!(f, "failed to create tool '{name}': {error}")
            }
            ToolboxError::Toolset(error) => error.fmt(f),
            ToolboxError::UnknownTools(names) => {
                write_lines(f, names, |name| match name.contains(['*', '?', ':']) {
                    true => format!(
                        "tool '{name}' not registered: a list of allowed tools takes exact names; for patterns, \
                         use rules (`PolicyRules::builder().include([\"{name}\"])`)"
                    ),
                    false => format!("tool '{name}' not registered"),
                })
            }
            ToolboxError::UnusedRules(rules) => {
                write_lines(f, rules, |rule| format!("rule '{rule}' matches no tool"))
            }
            ToolboxError::Discovery(reason) => {
                write!(f, "discovery: {reason}; choose other names with `Discovery::names`")
            }
            ToolboxError::OwnTool(name) => {
                let help = if name == READ_RESULT { "with `without_paging`" } else { "without `discovery`" };
                write!(
                    f,
                    "rule '{name}' excludes a tool that the toolbox itself adds, and that gives a model no additional \
                     access: remove the rule, or build the toolbox {help}"
                )
            }
            ToolboxError::ShortKey(length) => write!(
                f,
                "the approval key has {length} bytes and needs at least 32; generate random bytes, for example with \
                 `openssl rand 32`"
            ),
            ToolboxError::Layer(reason) => f.write_str(reason),
            ToolboxError::Host(reason) => write!(f, "limits: {reason}"),
            ToolboxError::NotSealed(error) => error.fmt(f),
        }
    }
}

/// Writes one line per name, with the suggestion for it.
fn write_lines(
    f: &mut fmt::Formatter<'_>,
    unknown: &[UnknownTool],
    problem: impl Fn(&str) -> String,
) -> fmt::Result {
    for (index, UnknownTool { name, suggestion, .. }) in unknown.iter().enumerate() {
        let line_break = if index == 0 { "" } else { "\n" };
        write!(f, "{line_break}{}", problem(name))?;
        suggest(f, suggestion.as_deref())?;
    }
    Ok(())
}

toolgen_core::__readable_debug!(ToolboxError);

impl std::error::Error for ToolboxError {}
