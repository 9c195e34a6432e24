//! Typed calls from Rust.

use serde_json::Value;
use toolgen_kernel::base::frozen::Frozen;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::control::Control;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::structured::{INVALID_OUTPUT, Structured};
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::engine::Engine;
use toolgen_kernel::engine::deadline::within;
use toolgen_kernel::engine::typed::{FromJson, TypedTool};

use super::McpEngine;

/// The code of a call whose tool has failed, as reported by its server.
const FAILED: &str = "MCP_FAILED";

impl McpEngine {
    /// Calls a tool of a lock with arguments that the compiler has checked. The result is its structured content;
    /// without structured content, `serde_json::Value` receives the text.
    ///
    /// ```ignore
    /// let orders = engine.call(shop::ShopFindOrders::new(7)).await?;
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of a call by a model; also an error if the result is a failure, if the server requests
    /// input without a handler, or if the result does not match its type.
    pub async fn call<A: TypedTool>(&self, arguments: A) -> Result<A::Output, ToolError> {
        self.call_in(arguments, Turn::default()).await
    }

    /// Like [`call`](Self::call), but in a turn, or in that of a tool's context: its token cancels the call, and its timeout and allowed hosts
    /// apply.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call); [`ToolError::Cancelled`] if the token is cancelled.
    pub async fn call_in<A: TypedTool>(
        &self,
        arguments: A,
        turn: impl Into<Turn>,
    ) -> Result<A::Output, ToolError> {
        let turn = turn.into();
        let ctx = turn.base();
        let arguments = arguments
            .into_arguments()
            .map_err(|error| ToolError::invalid_args(format!("the arguments are not JSON: {error}")))?;
        let tool = self.make(Frozen::Static(A::tool()), &[]);
        let tool = tool.map_err(|error| ToolError::failed(error.to_string()))?;
        typed_value(&within(ctx.timeout(), ctx, tool.execute(arguments, ctx)).await??)
    }
}

/// Converts a result to its Rust type.
fn typed_value<T: FromJson>(result: &ToolResult) -> Result<T, ToolError> {
    if matches!(result.control, Control::NeedInput(_)) {
        let text = "the server requests input, but there is no handler: set `McpOptions::elicitation`";
        return Err(ToolError::failed_with(FAILED, text));
    }
    if result.is_error() {
        return Err(ToolError::failed_with(FAILED, result.to_text()));
    }
    let value = match (result.structured(), &result.structured) {
        (Ok(value), _) => value.into_owned(),
        // The type may round numbers.
        (Err(_), Structured::Json(_)) if !result.details.is_null() => result.details.clone(),
        (Err(_), _) => Value::String(result.to_text()),
    };
    T::from_json(value).map_err(|error| {
        let text = format!("the tool ran, but its result does not match its Rust type: {error}");
        let detail = format!("{text}\nIts result: {}", result.to_text());
        ToolError::failed_with(INVALID_OUTPUT, text).with_operator_detail(detail)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolgen_kernel::call::control::InputRequest;

    #[test]
    fn typed_result_is_a_value_or_an_error() {
        let response = ToolResult::text("sunny").with_details(json!({"degrees": 21}));
        assert_eq!(typed_value::<Value>(&response).unwrap(), json!({"degrees": 21}));
        let error = typed_value::<Vec<i64>>(&response).unwrap_err();
        assert_eq!(error.code(), "INVALID_OUTPUT");
        let mut text = ToolResult::text("sunny");
        text.structured = Structured::Missing("the tool declares none".into());
        assert_eq!(typed_value::<Value>(&text).unwrap(), "sunny");
        let failed = ToolResult::text("no such city").with_details(json!({"success": false}));
        assert!(typed_value::<Value>(&failed).unwrap_err().to_string().contains("no such city"));
        let question = InputRequest::new("Which city?", json!({"type": "object"}));
        let response = ToolResult::empty().with_control(Control::NeedInput(question));
        assert!(typed_value::<Value>(&response).unwrap_err().to_string().contains("McpOptions::elicitation"));
    }
}
