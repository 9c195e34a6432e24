//! The structured result that a tool declares.

use crate::base::frozen::List;
use crate::schema::shape::decode::{ArgumentProblem, result_problems};
use crate::schema::shape::{Def, Kind, Schema, resolved};
use crate::spec::ToolSpec;

use serde_json::Value;

/// The structured result that a tool declares: an object of this schema, as MCP's `outputSchema` has it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredOutput {
    /// The schema.
    pub schema: Schema,
    /// The shapes the schema refers to, sorted by name.
    pub defs: List<Def>,
    /// Whether results may differ from the schema, see [`ToolSpec::output_may_differ`].
    pub may_differ: bool,
}

impl StructuredOutput {
    /// Returns all problems of a result; empty if it is as declared.
    #[must_use]
    pub fn problems(&self, result: &Value) -> Vec<ArgumentProblem> {
        result_problems(result, &self.schema, &self.defs)
    }
}

impl ToolSpec {
    /// Returns the structured result that the tool declares, if its [`output`](Self::output) is an object: revision
    /// 2025-11-25 of MCP allows no other.
    #[must_use]
    pub fn structured_output(&self) -> Option<StructuredOutput> {
        let schema = self.output.as_ref()?;
        let is_object = matches!(resolved(schema, &self.defs)?.kind, Kind::Object(_));
        is_object.then(|| StructuredOutput {
            schema: schema.clone(),
            defs: self.defs.clone(),
            may_differ: self.output_may_differ,
        })
    }
}
