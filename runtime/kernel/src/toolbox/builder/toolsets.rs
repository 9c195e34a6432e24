//! Toolsets and contexts, which restrict the tools of a toolbox.

use std::collections::BTreeSet;

use toolgen_core::internal::closest_match;

use super::ToolboxBuilder;
use crate::base::frozen::Text;
use crate::layers::pages::READ_RESULT;
use crate::registry::UnknownTool;
use crate::registry::discovery::{Discovered, Discovery};
use crate::registry::toolsets::{self, ContextSpec, Toolset};
use crate::toolbox::ToolboxError;

impl ToolboxBuilder {
    /// Allows the tools of a toolset, as [`allow`](Self::allow) does, restricts the limits of the context to those of
    /// the toolset, and applies the context of the toolset, as [`context_spec`](Self::context_spec) does.
    #[must_use]
    pub fn toolset(mut self, set: &Toolset) -> ToolboxBuilder {
        self.toolsets.push(set.clone());
        match &set.context {
            Some(context) => self.context_spec(context),
            None => self,
        }
    }

    /// Restricts the toolbox to a context. The limits of the context apply in addition to the others, and tools that
    /// need scopes other than those of the context are not available. Its working directory is resolved within that of
    /// the toolbox's context. Its time limit applies to the tools that set none, unless that of the toolbox is shorter.
    #[must_use]
    pub fn context_spec(mut self, context: &ContextSpec) -> ToolboxBuilder {
        self.contexts.push(context.clone());
        self
    }

    /// Lists only three tools that let a model find, describe and call the others; see
    /// [`discovery`](crate::registry::discovery). They are available regardless of the lists and rules of the
    /// toolbox and of principals: they only give access to tools that the model may use anyway.
    #[must_use]
    pub fn discovery(mut self, discovery: Discovery) -> ToolboxBuilder {
        self.discovery = Some(discovery);
        self
    }

    /// Applies the toolsets and the contexts. Every name must be the name of a tool, even if a context excludes the
    /// tool.
    pub(super) fn apply_sets(&mut self) -> Result<(), ToolboxError> {
        toolsets::check_all(&self.toolsets, &self.registry).map_err(ToolboxError::Toolset)?;
        for set in std::mem::take(&mut self.toolsets) {
            self.context.limits = self.context.limits.and(&set.overlay);
            self.allowed
                .get_or_insert_default()
                .extend(set.members.iter().map(|name| name.as_str().to_owned()));
        }
        self.check_names()?;
        for context in std::mem::take(&mut self.contexts) {
            self.apply(&context);
        }
        Ok(())
    }

    /// Adds the discovery tools, with the toolsets as groups.
    pub(super) fn add_discovery(&mut self) -> Result<Option<Discovered>, ToolboxError> {
        let Some(mut discovery) = self.discovery.clone() else { return Ok(None) };
        self.check_known(discovery.pinned().iter().map(Text::as_str))?;
        for set in &self.toolsets {
            discovery = discovery.group(set.clone());
        }
        let discovered = discovery.build_tools(&self.registry).map_err(|(name, error)| {
            ToolboxError::Discovery(format!("'{name}' is not a valid tool name: {error}"))
        })?;
        for tool in &discovered.tools {
            if self.registry.index(tool.name()).is_some() {
                return Err(ToolboxError::Discovery(format!("there is another tool '{}'", tool.name())));
            }
        }
        let extended = self.registry.extend(discovered.tools.iter().cloned());
        self.registry = extended.map_err(ToolboxError::NotSealed)?;
        // The new tools shift the indices of the others.
        self.reader = self.reader.and_then(|_| self.registry.index(READ_RESULT));
        Ok(Some(discovered))
    }

    fn apply(&mut self, context: &ContextSpec) {
        let ContextSpec { name: _, limits, work_dir, scopes, timeout } = context;
        self.context.limits = self.context.limits.and(limits);
        if !work_dir.is_empty() {
            let base = self.context.work_dir.clone().unwrap_or_default();
            self.context = std::mem::take(&mut self.context).with_work_dir(base.join(work_dir.as_str()));
        }
        if let Some(timeout) = timeout {
            self.layers.default_timeout = self.layers.default_timeout.min(*timeout);
        }
        if let Some(scopes) = scopes {
            let permitted = self.registry.all_specs().filter(|spec| {
                spec.required_scopes().iter().all(|required| scopes.iter().any(|scope| scope == required))
            });
            let permitted: BTreeSet<String> = permitted.map(|spec| spec.name.to_string()).collect();
            match &mut self.allowed {
                Some(allowed) => allowed.retain(|name| permitted.contains(name)),
                allowed => *allowed = Some(permitted),
            }
        }
    }

    fn check_names(&self) -> Result<(), ToolboxError> {
        self.check_known(self.allowed.iter().flatten().map(String::as_str))
    }

    fn check_known<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), ToolboxError> {
        let tool_names = || self.registry.all_specs().map(|spec| spec.name.as_str());
        let existing: BTreeSet<&str> = tool_names().collect();
        let unknown = names.filter(|name| !existing.contains(name));
        let problem = |name: &str| {
            let suggestion = closest_match(name, tool_names()).map(Text::copy_of);
            UnknownTool { name: Text::copy_of(name), suggestion }
        };
        let unknown: Vec<UnknownTool> = unknown.map(problem).collect();
        if unknown.is_empty() { Ok(()) } else { Err(ToolboxError::UnknownTools(unknown)) }
    }
}
