//! The defaults of a tool's arguments.

use serde_json::Value;

use crate::schema::shape::decode::fits;
use crate::schema::shape::{Kind, resolved};
use crate::spec::ToolSpec;

impl ToolSpec {
    /// Returns checked arguments with the schema's defaults for those that are not given, except for defaults
    /// that do not fit their own schema. Engines do so, except for HTTP requests whose services have their
    /// own [defaults](crate::RequestPlan::defaults).
    #[must_use]
    pub fn with_defaults(&self, mut arguments: Value) -> Value {
        if let Value::Object(given) = &mut arguments
            && let Some(Kind::Object(rules)) = resolved(&self.input, &self.defs).map(|shape| &shape.kind)
        {
            for field in &rules.fields {
                if let Some(default) = &field.shape.default
                    && !given.contains_key(field.wire_name())
                    && let value = default.to_json()
                    && (value.is_null() || fits(&value, &field.shape, &self.defs))
                {
                    given.insert(field.wire_name().to_owned(), value);
                }
            }
        }
        arguments
    }
}
