//! Sends requests to the agent loop.

use serde_json::{Map, Value};

use crate::call::control::{Control, Effect};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::engine::arguments::missing;
use crate::spec::ToolSpec;
use crate::spec::plan::{CompletePlan, EffectPlan};
use crate::spec::template::{Scope, Template};

/// Ends the agent loop.
pub(super) fn complete(
    plan: &CompletePlan,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
) -> Result<ToolResult, ToolError> {
    let message = match &plan.message {
        Some(template) => template.fill_text(&Scope::of(&arguments)).map_err(missing)?,
        None => None,
    };
    let data = data(plan.data.as_ref(), arguments)?;
    let result = match message {
        Some(text) => ToolResult::text(text).with_details(data.clone()),
        None => ToolResult::json(data.clone()),
    };
    let next_state = spec.completion.as_ref().map(|completion| completion.next_state.clone());
    Ok(result.with_control(Control::complete(next_state.unwrap_or_default(), data)))
}

/// Requests an effect, whose outcome becomes the result.
pub(super) fn effect(plan: &EffectPlan, arguments: Map<String, Value>) -> Result<ToolResult, ToolError> {
    let effect = Effect::new(plan.name.clone(), data(plan.data.as_ref(), arguments)?);
    Ok(ToolResult::empty().with_control(Control::Effect(effect)))
}

fn data(template: Option<&Template>, arguments: Map<String, Value>) -> Result<Value, ToolError> {
    match template {
        Some(template) => Ok(template.fill(&Scope::of(&arguments)).map_err(missing)?.unwrap_or_default()),
        None => Ok(Value::Object(arguments)),
    }
}
