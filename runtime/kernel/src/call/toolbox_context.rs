//! The services and limits that a toolbox gives its tools.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::frozen::Text;
use crate::call::context_values::ContextValues;
use crate::call::limits::EffectLimits;
use crate::call::roots::Roots;
use crate::call::services::Services;
use crate::spec::{RequirementKind, ToolSpec};

/// The context of all tools of a [`Toolbox`](crate::toolbox::Toolbox): their agent, services and limits. A
/// [`ToolFactory`](crate::toolbox::ToolFactory) builds its tool from it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolboxContext {
    /// The ID of the agent that owns the tools.
    pub agent_id: Option<Text>,
    /// The working directory of the agent; paths refer to it as the root `workdir`.
    pub work_dir: Option<PathBuf>,
    /// The limits of the tools: read-only, without network, and so on. No limits by default.
    pub limits: EffectLimits,
    /// The services for the tools, in addition to those of a call.
    pub services: Services,
    /// The values known about every call, in addition to those of a call.
    pub values: ContextValues,
    pub(crate) roots: Roots,
}

impl ToolboxContext {
    /// Creates a context without services and limits.
    #[must_use]
    pub fn new() -> ToolboxContext {
        ToolboxContext::default()
    }

    /// Sets the ID of the agent that owns the tools.
    #[must_use]
    pub fn with_agent_id(mut self, agent_id: impl Into<String>) -> ToolboxContext {
        self.agent_id = Some(agent_id.into().into());
        self
    }

    /// Sets the working directory of the agent.
    #[must_use]
    pub fn with_work_dir(mut self, directory: impl Into<PathBuf>) -> ToolboxContext {
        let directory = directory.into();
        self.roots.insert("workdir".to_owned(), directory.clone());
        self.work_dir = Some(directory);
        self
    }

    /// Adds a named directory to which paths can be restricted.
    #[must_use]
    pub fn with_root(mut self, name: impl Into<String>, directory: impl Into<PathBuf>) -> ToolboxContext {
        self.roots.insert(name.into(), directory.into());
        self
    }

    /// Sets the limits of the tools.
    #[must_use]
    pub fn with_limits(mut self, limits: EffectLimits) -> ToolboxContext {
        self.limits = limits;
        self
    }

    /// Provides a service, replacing any other of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + ?Sized + 'static>(mut self, service: Arc<T>) -> ToolboxContext {
        self.services = self.services.with(service);
        self
    }

    /// Provides a service with a name by which tools [require](crate::spec::Requirement::service) it, replacing any
    /// other of the same type. A service whose type already has that name needs no explicit name: `executor` is a `dyn
    /// Executor`.
    #[must_use]
    pub fn with_named_service<T: Send + Sync + ?Sized + 'static>(
        mut self,
        name: &str,
        service: Arc<T>,
    ) -> ToolboxContext {
        self.services = self.services.with_named(name, service);
        self
    }

    /// Sets the values known about every call.
    #[must_use]
    pub fn with_values(mut self, values: ContextValues) -> ToolboxContext {
        self.values = values;
        self
    }

    /// Returns the service of type `T`, if there is one.
    #[must_use]
    pub fn service<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.services.get()
    }
}

/// Why a tool could not be built.
#[derive(Clone, PartialEq, Eq)]
pub struct FactoryError(Text);

impl FactoryError {
    /// Creates an error with a reason.
    pub fn new(reason: impl Into<Text>) -> FactoryError {
        FactoryError(reason.into())
    }

    /// `{tool} tool requires {requirement}`, with its article: `an executor`, `a chat service`.
    #[must_use]
    pub fn requires(tool: &str, requirement: &str) -> FactoryError {
        FactoryError(format!("{tool} tool requires {requirement}").into())
    }

    /// Returns the error for a tool that requires a missing service, if it does.
    pub(crate) fn lacking(spec: &ToolSpec, services: &Services) -> Option<FactoryError> {
        let required = spec
            .requires
            .iter()
            .filter(|requirement| requirement.kind == RequirementKind::Service && !requirement.optional);
        let mut missing = required.filter(|requirement| !services.provides(&requirement.name));
        let requirement = missing.next()?;
        Some(FactoryError(requirement.message_for(spec.name.as_str()).into_owned().into()))
    }
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(FactoryError);

impl std::error::Error for FactoryError {}
