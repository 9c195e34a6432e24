//! Error codes as shown in spans and metrics.

use std::borrow::Cow;

use serde_json::Value;

use crate::call::codes;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::schema::shape::Schema;
use crate::schema::shape::render::canonical;

/// The code that replaces an error code that is not shown.
pub(super) const OTHER_CODE: &str = "EXECUTION_ERROR";

/// A code that many tools use for a resource that another caller has locked.
const LOCKED: &str = "resource_locked";

/// The error codes that a tool declares.
pub(super) struct Codes(Option<Schema>);

impl Codes {
    /// Takes the schema of a tool's results, if there is one.
    pub(super) fn of(output: Option<&Schema>) -> Codes {
        Codes(output.cloned())
    }

    /// Returns the code of an error as it is shown; `None` if there is no error.
    pub(super) fn shown_code<'o>(&self, outcome: &'o Result<ToolResult, ToolError>) -> Option<&'o str> {
        let code = match outcome {
            Ok(result) if !result.is_error() => return None,
            Ok(result) => result.details.get("code").and_then(Value::as_str).unwrap_or_default(),
            Err(ToolError::Failed { code: Cow::Owned(code), .. }) => code,
            // The code is a constant of the program.
            Err(error) => return Some(error.code()),
        };
        let code = codes::current(code);
        Some(if codes::is_own(code) || code == LOCKED || self.declares(code) { code } else { OTHER_CODE })
    }

    /// Whether the schema allows this value for `code`.
    fn declares(&self, code: &str) -> bool {
        let Some(output) = &self.0 else { return false };
        let Ok(schema) = serde_json::from_str::<Value>(&canonical(output.shape())) else { return false };
        let branches = ["oneOf", "anyOf", "allOf", "x-oneOf", "x-anyOf", "x-all"];
        let branches = branches.into_iter().filter_map(|keyword| schema.get(keyword)?.as_array()).flatten();
        std::iter::once(&schema).chain(branches).filter_map(|branch| branch.pointer("/properties/code")).any(
            |property| {
                let values = property.get("enum").and_then(Value::as_array).into_iter().flatten();
                values.chain(property.get("const")).any(|value| value == code)
            },
        )
    }
}
