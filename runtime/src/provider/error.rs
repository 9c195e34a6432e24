//! Why there is no provider, or no tool in it.

use std::fmt;

use super::FactoryError;
use crate::registry::RegistryError;
use crate::registry::toolsets::ToolsetError;

/// Why there is no provider, or no tool in it.
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
        /// What its factory said.
        why: FactoryError,
    },
    /// An allow-list names tools that the registry does not have; one line each, as `NotRegistered`.
    UnknownTools(Vec<String>),
    /// Sets of tools name what the registry does not have, or the same tool twice; one line each.
    Toolset(ToolsetError),
    /// A registry could not be sealed, or has a tool that the provider brings itself; displays as what is wrong.
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
