//! Errors of providers.

use std::fmt;

use super::FactoryError;
use crate::registry::RegistryError;
use crate::registry::toolsets::ToolsetError;

/// The reason why a provider could not be built, or why it does not provide a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderError {
    /// `tool '{name}' not allowed in this context`
    NotAllowed(String),
    /// `tool '{name}' not registered`
    NotRegistered(String),
    /// `failed to create tool '{name}': {why}`
    Create {
        /// The tool.
        name: String,
        /// What the factory reported.
        why: FactoryError,
    },
    /// An allow-list names tools that the registry does not have; one line per tool, as for `NotRegistered`.
    UnknownTools(Vec<String>),
    /// Toolsets name tools that the registry does not have, or the same tool twice; one line per problem.
    Toolset(ToolsetError),
    /// A registry could not be sealed, or has a tool that the provider itself adds; displays as the registry error.
    NotSealed(RegistryError),
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProviderError::NotAllowed(name) => write!(f, "tool '{name}' not allowed in this context"),
            ProviderError::NotRegistered(name) => write!(f, "tool '{name}' not registered"),
            ProviderError::Create { name, why } => write!(f, "failed to create tool '{name}': {why}"),
            ProviderError::Toolset(why) => why.fmt(f),
            ProviderError::UnknownTools(names) => {
                for (index, name) in names.iter().enumerate() {
                    let line_break = if index == 0 { "" } else { "\n" };
                    write!(f, "{line_break}tool '{name}' not registered")?;
                }
                Ok(())
            }
            ProviderError::NotSealed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for ProviderError {}
