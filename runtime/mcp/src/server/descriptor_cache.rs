//! Cache of tool descriptors: rendering the descriptor of a large tool takes many attempts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rmcp::model::Tool;
use toolgen_kernel::spec::ToolSpec;

/// Rendered descriptors by tool name, each with the specification that it was rendered from.
#[derive(Default)]
pub(super) struct DescriptorCache(Mutex<BTreeMap<String, (ToolSpec, Tool)>>);

impl DescriptorCache {
    /// Returns the descriptor of a tool, and renders it if it is not cached.
    pub(super) fn get_or_render<E>(
        &self,
        spec: &ToolSpec,
        describe: impl FnOnce(&ToolSpec) -> Result<Tool, E>,
    ) -> Result<Tool, E> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached_spec, tool)) = lock().get(spec.name.as_str())
            && cached_spec == spec
        {
            return Ok(tool.clone());
        }
        // Render without the lock, so that other requests do not wait.
        let tool = describe(spec)?;
        lock().insert(spec.name.to_string(), (spec.clone(), tool.clone()));
        Ok(tool)
    }

    /// Removes all descriptors.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn tool_description_is_cached_until_it_changes() {
        let descriptor_cache = DescriptorCache::default();
        let mut rendered = 0;
        let mut describe = |spec: &ToolSpec| {
            let tool = descriptor_cache.get_or_render(spec, |spec| {
                rendered += 1;
                let tool = serde_json::json!({"name": spec.name.as_str(), "inputSchema": {"type": "object"}});
                Ok::<Tool, Infallible>(serde_json::from_value(tool).unwrap())
            });
            assert_eq!(tool.unwrap().name, spec.name.as_str());
        };
        let changed = ToolSpec { description: "Other.".into(), ..ToolSpec::EMPTY };
        for spec in [&ToolSpec::EMPTY, &ToolSpec::EMPTY, &changed, &changed, &changed] {
            describe(spec);
        }
        assert_eq!(rendered, 2);
        descriptor_cache.clear();
        assert!(descriptor_cache.0.lock().unwrap().is_empty());
    }
}
