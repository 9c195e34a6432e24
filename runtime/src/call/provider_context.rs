//! What a provider lends its tools and lets them do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::frozen::Text;
use crate::call::limits::Limits;
use crate::call::roots::Roots;
use crate::call::services::Services;
use crate::call::values::ContextValues;

/// What surrounds all tools of a [`Provider`](crate::provider::Provider): whose they are, what they are lent and what they may
/// do. A [`ToolFactory`](crate::provider::ToolFactory) builds its tool from it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProviderContext {
    /// The agent whose tools they are.
    pub agent_id: Option<Text>,
    /// The directory the agent works in; paths find it as the root `workdir`.
    pub work_dir: Option<PathBuf>,
    /// The most a tool may do: read only, without network, and so on. No limits unless set.
    pub limits: Limits,
    /// What the program lends its tools, beside what a call brings.
    pub services: Services,
    /// What is known of every call, beside what a call brings.
    pub values: ContextValues,
    pub(crate) roots: Roots,
}

impl ProviderContext {
    /// Nothing lent and nothing forbidden.
    #[must_use]
    pub fn new() -> ProviderContext {
        ProviderContext::default()
    }

    /// Says whose tools they are.
    #[must_use]
    pub fn with_agent_id(mut self, agent_id: impl Into<String>) -> ProviderContext {
        self.agent_id = Some(agent_id.into().into());
        self
    }

    /// Sets the directory the agent works in.
    #[must_use]
    pub fn with_work_dir(mut self, directory: impl Into<PathBuf>) -> ProviderContext {
        let directory = directory.into();
        self.roots.insert("workdir".to_owned(), directory.clone());
        self.work_dir = Some(directory);
        self
    }

    /// Names another directory that paths may be asked to stay in.
    #[must_use]
    pub fn with_root(mut self, name: impl Into<String>, directory: impl Into<PathBuf>) -> ProviderContext {
        self.roots.insert(name.into(), directory.into());
        self
    }

    /// Sets the most a tool may do.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> ProviderContext {
        self.limits = limits;
        self
    }

    /// Lends a service, which takes the place of one of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + ?Sized + 'static>(mut self, service: Arc<T>) -> ProviderContext {
        self.services = self.services.with(service);
        self
    }

    /// Says what is known of every call.
    #[must_use]
    pub fn with_values(mut self, values: ContextValues) -> ProviderContext {
        self.values = values;
        self
    }

    /// The service of a type.
    #[must_use]
    pub fn service<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.services.get()
    }
}

/// Why a tool could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactoryError(Text);

impl FactoryError {
    /// For a reason.
    pub fn new(why: impl Into<Text>) -> FactoryError {
        FactoryError(why.into())
    }

    /// `{tool} tool requires {what}`, with its article: `an executor`, `a chat service`.
    #[must_use]
    pub fn requires(tool: &str, what: &str) -> FactoryError {
        FactoryError(format!("{tool} tool requires {what}").into())
    }
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FactoryError {}
