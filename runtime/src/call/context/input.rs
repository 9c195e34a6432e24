//! What a tool asked for and was told.

use serde_json::Value;

use super::ToolContext;

impl ToolContext {
    /// The answer to what the tool last asked for with [`Control::NeedInput`](crate::Control::NeedInput), checked
    /// against the schema it asked with. A tool that asked runs again from its beginning.
    #[must_use]
    pub fn input(&self) -> Option<&Value> {
        self.inputs().last()
    }

    /// All answers to what the tool asked for in this call, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Value] {
        self.inputs.as_deref().unwrap_or_default()
    }

    /// The same call, with answers.
    pub(crate) fn with_inputs(&self, inputs: Vec<Value>) -> ToolContext {
        ToolContext { inputs: Some(inputs.into()), ..self.clone() }
    }
}
