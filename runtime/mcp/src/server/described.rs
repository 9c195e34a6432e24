//! Cache of tool descriptors: rendering the descriptor of a large tool takes many attempts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rmcp::model::Tool;
use toolgen_kernel::spec::ToolSpec;

/// Rendered descriptors by tool name, each with the specification that it was rendered from.
#[derive(Default)]
pub(super) struct Described(Mutex<BTreeMap<String, (ToolSpec, Tool)>>);

impl Described {
    /// Returns the descriptor of a tool, and renders it if it is not cached.
    pub(super) fn of<E>(
        &self,
        spec: &ToolSpec,
        describe: impl FnOnce(&ToolSpec) -> Result<Tool, E>,
    ) -> Result<Tool, E> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tool)) = known().get(spec.name.as_str())
            && of == spec
        {
            return Ok(tool.clone());
        }
        // Rendered without the lock, so that other requests do not wait.
        let tool = describe(spec)?;
        known().insert(spec.name.to_string(), (spec.clone(), tool.clone()));
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
        let described = Described::default();
        let mut made = 0;
        let mut describe = |spec: &ToolSpec| {
            let of = described.of(spec, |spec| {
                made += 1;
                let tool = serde_json::json!({"name": spec.name.as_str(), "inputSchema": {"type": "object"}});
                Ok::<Tool, Infallible>(serde_json::from_value(tool).unwrap())
            });
            assert_eq!(of.unwrap().name, spec.name.as_str());
        };
        let changed = ToolSpec { description: "Other.".into(), ..ToolSpec::EMPTY };
        for spec in [&ToolSpec::EMPTY, &ToolSpec::EMPTY, &changed, &changed, &changed] {
            describe(spec);
        }
        assert_eq!(made, 2);
        described.clear();
        assert!(described.0.lock().unwrap().is_empty());
    }
}
