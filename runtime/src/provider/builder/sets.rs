//! Toolsets and contexts, which narrow what a provider offers.

use std::collections::BTreeSet;

use super::ProviderBuilder;
use crate::base::frozen::Text;
use crate::provider::ProviderError;
use crate::registry::UnknownTool;
use crate::registry::toolsets::{self, ContextSpec, Toolset};
use crate::schema::shape::decode::say::meant;

impl ProviderBuilder {
    /// Allows the tools of a toolset, as [`allow`](Self::allow) does, narrows the limits of the context by those of the
    /// toolset, and applies the context that the toolset is meant for, as [`within`](Self::within) does.
    #[must_use]
    pub fn toolset(mut self, set: &Toolset) -> ProviderBuilder {
        self.toolsets.push(set.clone());
        match &set.context {
            Some(context) => self.within(context),
            None => self,
        }
    }

    /// Narrows the provider to a context: its limits apply in addition to the others, tools that need other scopes than
    /// its own are not available, its working directory is looked for in that of the provider's context, and its time
    /// limit holds for the tools that set none, unless the provider's is shorter.
    #[must_use]
    pub fn within(mut self, context: &ContextSpec) -> ProviderBuilder {
        self.contexts.push(context.clone());
        self
    }

    /// Applies the toolsets and the contexts. Every name must be that of a tool, also one that a context takes away.
    pub(super) fn apply_sets(&mut self) -> Result<(), ProviderError> {
        toolsets::check_all(&self.toolsets, &self.registry).map_err(ProviderError::Toolset)?;
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
            let fits = self.registry.all_specs().filter(|spec| {
                spec.required_scopes().iter().all(|needed| scopes.iter().any(|scope| scope == needed))
            });
            let fits: BTreeSet<String> = fits.map(|spec| spec.name.to_string()).collect();
            match &mut self.allowed {
                Some(allowed) => allowed.retain(|name| fits.contains(name)),
                none => *none = Some(fits),
            }
        }
    }

    fn check_names(&self) -> Result<(), ProviderError> {
        let names = || self.registry.all_specs().map(|spec| spec.name.as_str());
        let known: BTreeSet<&str> = names().collect();
        let unknown = self.allowed.iter().flatten().filter(|name| !known.contains(name.as_str()));
        let told = |name: &String| {
            let suggestion = meant(name, names()).map(Text::copy_of);
            UnknownTool { name: Text::copy_of(name), suggestion }
        };
        let unknown: Vec<UnknownTool> = unknown.map(told).collect();
        if unknown.is_empty() { Ok(()) } else { Err(ProviderError::UnknownTools(unknown)) }
    }
}
