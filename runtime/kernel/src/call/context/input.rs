//! The input that a tool requested and received.

use serde_json::Value;

use super::ToolContext;

impl ToolContext {
    /// The input for the tool's last [`Control::NeedInput`](crate::Control::NeedInput), checked against the schema of
    /// that request. A tool that requests input runs again from the beginning.
    #[must_use]
    pub fn input(&self) -> Option<&Value> {
        self.inputs().last()
    }

    /// All inputs that the tool received in this call, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Value] {
        self.inputs.as_deref().unwrap_or_default()
    }

    /// A copy of this context with inputs.
    pub(crate) fn with_inputs(&self, inputs: Vec<Value>) -> ToolContext {
        ToolContext { inputs: Some(inputs.into()), ..self.clone() }
    }
}
