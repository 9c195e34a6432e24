//! A call that waits for an approval, as plain data.

use serde_json::Value;

use crate::base::data::plain_data;
use crate::base::frozen::Text;
use crate::call::error::ToolError;

/// A call that waits for somebody to approve of it. Plain data: keep it as long as it takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The model's name for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments as the model names them.
    pub arguments: Value,
    /// Everything that somebody is asked for: the reasons of all middleware, in order.
    pub reasons: Vec<String>,
}

plain_data!(ApprovalRequest: id, name, arguments, reasons);

/// What a call is answered with that waits for an approval.
pub(crate) fn not_yet(request: ApprovalRequest) -> ToolError {
    ToolError::ApprovalRequired(Box::new(request))
}
