//! The tools that a model can see: listed tools, tools that discovery finds, and tools added on demand.

use std::sync::Arc;

use toolgen_core::internal::closest_match;

use super::{Inner, Toolbox, ToolboxError};
use crate::call::error::ToolError;
use crate::call::principal::Principal;
use crate::call::tool::AgentTool;
use crate::spec::ToolSpec;

impl Toolbox {
    /// Returns the specifications of the tools that a principal can see: those of [`specs`](Self::specs) that it may
    /// call, and the tools of the toolbox itself, which every principal may call.
    pub fn specs_for(&self, principal: Option<&Principal>) -> impl Iterator<Item = &ToolSpec> {
        self.0.visible_tools().filter_map(move |(index, tool)| {
            let may_call = || principal.is_none_or(|principal| principal.check(tool.spec()).is_ok());
            (self.0.is_own(index) || may_call()).then(|| tool.spec())
        })
    }

    /// Returns the specifications of [`specs`](Self::specs) and of the tools that are otherwise added on demand, such
    /// as [`READ_RESULT`](crate::layers::pages::READ_RESULT): for a list that is built once for many requests.
    pub fn specs_with_on_demand(&self) -> impl Iterator<Item = &ToolSpec> {
        let tools = self.0.registry.iter().zip(&self.0.slots).enumerate();
        let visible =
            tools.filter(|(index, (_, slot))| slot.listed && !slot.found && self.0.refusal(*index).is_none());
        visible.map(|(_, (tool, _))| tool.spec())
    }
}

impl Inner {
    /// Whether discovery cannot find the tool at the index, so that no message to the model may mention the tool.
    pub(super) fn is_hidden(&self, index: usize, caller: Option<&Principal>) -> bool {
        let Some(slot) = self.slots.get(index).filter(|_| self.discovery.is_some()) else { return false };
        let spec = self.registry.at(index).spec();
        let is_permitted = || slot.is_builtin || caller.is_none_or(|caller| caller.check_tool(spec).is_ok());
        !slot.listed || self.refusal(index).is_some() || !is_permitted()
    }

    /// Returns the error for a call of a tool that does not exist, or that must be hidden from the model.
    pub(super) fn not_found(&self, name: &str, caller: Option<&Principal>) -> ToolError {
        match self.unknown(name) {
            ToolboxError::NotRegistered(name) => {
                let usable = self.usable().map(|(_, tool)| tool.spec());
                let permitted = usable.filter(|spec| caller.is_none_or(|caller| caller.check(spec).is_ok()));
                let suggestion = closest_match(&name, permitted.map(|spec| spec.name.as_str()));
                ToolError::NotFound { suggestion: suggestion.map(str::to_owned), name }
            }
            forbidden => ToolError::denied(forbidden.to_string()),
        }
    }

    /// Whether the toolbox itself added the tool at the index, regardless of lists, rules and principals.
    pub(crate) fn is_own(&self, index: usize) -> bool {
        self.slots.get(index).is_some_and(|slot| slot.is_builtin)
    }

    /// Iterates over the tools that a model can see, with their indices.
    pub(super) fn visible_tools(&self) -> impl Iterator<Item = (usize, &Arc<dyn AgentTool>)> {
        self.usable().filter(|(index, _)| self.slots.get(*index).is_some_and(|slot| !slot.found))
    }
}
