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

impl ApprovalRequest {
    /// `{"id", "name", "arguments", "reasons"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "id": self.id.as_str(),
            "name": self.name.as_str(),
            "arguments": self.arguments,
            "reasons": self.reasons,
        })
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<ApprovalRequest> {
        let text = |key: &str| Some(Text::from(value.get(key)?.as_str()?.to_owned()));
        let reasons = value.get("reasons")?.as_array()?;
        Some(ApprovalRequest {
            id: text("id")?,
            name: text("name")?,
            arguments: value.get("arguments")?.clone(),
            reasons: reasons
                .iter()
                .map(|reason| reason.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
        })
    }
}

/// What a call is answered with that waits for an approval.
pub(crate) fn not_yet(request: ApprovalRequest) -> ToolError {
    ToolError::ApprovalRequired(Box::new(request))
}
