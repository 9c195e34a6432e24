//! What a result asks for, and what comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Layers, Record};
use crate::base::frozen::Text;
use crate::base::future::caught;
use crate::call::context::ToolContext;
use crate::call::control::{Control, Effect, InputRequest, PendingInput};
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::tool::AgentTool;
use crate::call::{ToolCall, ToolResponse};
use crate::function::input::BorrowedValue;
use crate::layers::control::{
    EFFECT_FAILED, EFFECT_UNHANDLED, EffectHandler, INPUT_ATTEMPTS, INPUT_ROUNDS, InputAnswer, InputHandler,
    InputQuestion,
};
use crate::provider::Provider;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::{ArgumentProblem, decode};
use crate::schema::shape::read::read_document;
use crate::spec::ToolSpec;

/// Who answers what results ask for.
#[derive(Clone, Default)]
pub(crate) struct Controls {
    pub(crate) effects: BTreeMap<Text, Arc<dyn EffectHandler>>,
    pub(crate) input: Option<Arc<dyn InputHandler>>,
}

impl Provider {
    /// Goes on with a call that was answered with `INPUT_REQUIRED`, now that what its tool must know is known. All
    /// layers look at the call once more, and the tool runs from its beginning with all answers so far.
    ///
    /// # Errors
    ///
    /// [`ToolError::InvalidArgs`] with all problems, and nothing is run, if the answer does not fit the schema of the
    /// request. What comes of the call is in the response.
    pub async fn resume_with_input(
        &self,
        pending: PendingInput,
        answer: Value,
        turn: &ToolContext,
    ) -> Result<ToolResponse, ToolError> {
        let answer = fitted(&pending.request, &answer).map_err(ToolError::from_problems)?;
        let mut call = ToolCall::new("", "", pending.arguments);
        (call.id, call.name, call.approved, call.inputs) =
            (pending.id, pending.name, pending.approved, pending.inputs);
        call.inputs.push(answer);
        Ok(self.call(call, turn).await)
    }
}

impl Layers {
    /// Runs a tool until it asks for nothing more.
    pub(super) async fn controlled<'a>(
        &self,
        tool: &'a dyn AgentTool,
        spec: &ToolSpec,
        arguments: BorrowedValue<'a>,
        call: &ToolCall,
        ctx: &'a ToolContext,
        record: &mut Record,
    ) -> Result<ToolResult, ToolError> {
        let controls = &self.controls;
        // Only where somebody can be asked a tool may run again.
        let kept = controls.input.is_some().then(|| arguments.clone().into_value());
        // Of what was asked before the call was resumed nobody remembers the questions.
        call.inputs.iter().for_each(|answer| record.answered(None, answer));
        let mut result = if call.inputs.is_empty() {
            self.execute(tool, spec, arguments, ctx, record).await
        } else {
            self.execute(tool, spec, arguments, &ctx.with_inputs(call.inputs.clone()), record).await
        }
        .map_err(|why| own(why, call))?;
        let mut inputs = Vec::new();
        while !result.is_error() {
            match std::mem::take(&mut result.control) {
                Control::Continue => break,
                complete @ Control::Complete { .. } => {
                    result.control = complete;
                    return Ok(result);
                }
                Control::Effect(effect) => {
                    result = controls.perform(&effect, ctx).await?;
                    break;
                }
                Control::NeedInput(request) => {
                    if inputs.is_empty() {
                        inputs.clone_from(&call.inputs);
                    }
                    let schema = request.schema.clone();
                    let answer = controls.ask(request, &inputs, call, ctx).await?;
                    record.answered(Some(&schema), &answer);
                    inputs.push(answer);
                    let (arguments, again) =
                        (kept.clone().unwrap_or_default(), ctx.with_inputs(inputs.clone()));
                    result = self
                        .execute(tool, spec, arguments.into(), &again, record)
                        .await
                        .map_err(|why| own(why, call))?;
                }
            }
        }
        Ok(completed(spec, result))
    }
}

impl Controls {
    async fn perform(&self, effect: &Effect, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
        let Some(handler) = self.effects.get(&effect.name) else {
            let text = format!("nobody handles the effect '{}'", effect.name);
            return Err(ToolError::failed_with(EFFECT_UNHANDLED, text));
        };
        let handled = caught(async { handler.handle(effect, ctx).await });
        let result = match ctx.caller_token().run_until_cancelled(handled).await {
            None => return Err(ToolError::Cancelled),
            Some(Some(handled)) => handled?,
            Some(None) => {
                let text = format!("the effect '{}' failed", effect.name);
                return Err(ToolError::failed_with(EFFECT_FAILED, text));
            }
        };
        match result.control {
            Control::Continue | Control::Complete { .. } => Ok(result),
            Control::Effect(_) | Control::NeedInput(_) => {
                let text = format!("the effect '{}' asked for something itself", effect.name);
                Err(ToolError::failed_with(EFFECT_FAILED, text))
            }
        }
    }

    /// An answer that fits.
    async fn ask(
        &self,
        request: InputRequest,
        inputs: &[Value],
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> Result<Value, ToolError> {
        if inputs.len() >= INPUT_ROUNDS {
            let text = format!("the tool asked for input more than {INPUT_ROUNDS} times");
            return Err(ToolError::failed_with("INPUT_ROUNDS", text));
        }
        let later = |request| {
            ToolError::InputRequired(Box::new(PendingInput {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
                request,
                inputs: inputs.to_vec(),
                approved: call.approved.clone(),
            }))
        };
        let Some(handler) = &self.input else { return Err(later(request)) };
        let mut problems = Vec::new();
        for attempt in 1..=INPUT_ATTEMPTS {
            let question = InputQuestion { request: &request, attempt, problems: &problems };
            let asked = caught(async { handler.ask(question, ctx).await });
            let answer = match ctx.caller_token().run_until_cancelled(asked).await {
                None => return Err(ToolError::Cancelled),
                Some(None) => return Err(ToolError::failed("asking for input failed")),
                Some(Some(answer)) => answer?,
            };
            match answer {
                InputAnswer::Given(answer) => match fitted(&request, &answer) {
                    Ok(answer) => return Ok(answer),
                    Err(wrong) => problems = wrong,
                },
                InputAnswer::Declined => {
                    let text = format!("The tool needs input that nobody gave: {}", request.message);
                    return Err(ToolError::failed_with("INPUT_DECLINED", text));
                }
                InputAnswer::Later => return Err(later(request)),
            }
        }
        let lines: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
        let text = format!("The tool needs input that nobody gave as it must be: {}", request.message);
        Err(ToolError::failed_with("INPUT_INVALID", text).with_operator_detail(lines.join("\n")))
    }
}

/// A tool that calls another may be told that the other waits for something; going on with that would not go on with
/// this call, so to the outside it has failed.
fn own(why: ToolError, call: &ToolCall) -> ToolError {
    match why {
        ToolError::InputRequired(pending) if pending.id != call.id => {
            ToolError::failed_with("INPUT_REQUIRED", ToolError::InputRequired(pending).to_string())
        }
        why => why,
    }
}

/// The answer to a request as the tool gets it, or everything that is wrong with it.
fn fitted(request: &InputRequest, answer: &Value) -> Result<Value, Vec<ArgumentProblem>> {
    const KEY: &str = "answer";
    let read = |schema: &Value| read_document(schema, &mut Vec::new());
    let schema = &request.schema;
    if schema.get("type").is_none_or(|kind| kind == "object") && answer.is_object() {
        let (shape, defs) = read(schema);
        return decode(answer, &shape, &defs, &JSON_SCHEMA);
    }
    // Arguments are always objects, so an answer that may be something else is put into one to be checked.
    let mut around = json!({ "type": "object", "properties": { KEY: schema }, "required": [KEY] });
    for defs in ["$defs", "definitions"] {
        if let Some(named) = schema.get(defs) {
            around[defs] = named.clone();
        }
    }
    let (shape, defs) = read(&around);
    let checked = decode(&json!({ KEY: answer }), &shape, &defs, &JSON_SCHEMA);
    let mut checked = checked.map_err(|mut problems| {
        for problem in &mut problems {
            let pointer = std::mem::take(&mut problem.pointer);
            problem.pointer = pointer.strip_prefix("/answer").unwrap_or(&pointer).to_owned();
        }
        problems
    })?;
    Ok(checked.get_mut(KEY).map(Value::take).unwrap_or_default())
}

/// A completion tool that succeeded ends the loop, and says so in its details, too.
fn completed(spec: &ToolSpec, mut result: ToolResult) -> ToolResult {
    if result.is_error() {
        result.control = Control::Continue;
    }
    let Some(completion) = &spec.completion else { return result };
    if result.is_error() || result.control != Control::Continue {
        return result;
    }
    let signal = match result.details.get("next_state").and_then(Value::as_str) {
        Some(own) => Text::from(own.to_owned()),
        None => completion.next_state.clone(),
    };
    if !signal.is_empty() && result.details.is_object() {
        let before = result.details.to_string();
        if result.details.get("next_state").is_none() {
            result.added_to_details("next_state");
        }
        result.details["next_state"] = Value::from(signal.as_str());
        // A model that reads the value reads all of it.
        if let [Content::Text(text)] = &mut result.content[..]
            && *text == before
        {
            *text = result.details.to_string();
        }
    }
    result.control = Control::Complete { signal, data: result.details.clone() };
    result
}
