//! Handles the requests in results: effects and input.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Layers, Record};
use crate::base::depth::{MAX_DEPTH, shallow};
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::callback::{CallbackFailure, with_timeout};
use crate::call::context::ToolContext;
use crate::call::control::{Control, Effect, InputRequest, PendingInputCall};
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::resumption::WaitingRequest;
use crate::call::tool::AgentTool;
use crate::layers::control::{
    EFFECT_FAILED, EFFECT_UNHANDLED, EffectHandler, InputHandler, InputQuestion, InputReply,
    MAX_INPUT_ATTEMPTS, MAX_INPUT_ROUNDS,
};
use crate::layers::layer::{Invocation, Outcome};
use crate::registry::Registry;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind, decode};
use crate::schema::shape::read::read_document;
use crate::spec::ToolSpec;
use crate::toolbox::{Admitted, Toolbox};
use toolgen_core::internal::BorrowedValue;

/// The handlers of the requests in results.
#[derive(Clone, Default)]
pub(crate) struct Controls {
    pub(crate) effects: BTreeMap<Text, Arc<dyn EffectHandler>>,
    pub(crate) input: Option<Arc<dyn InputHandler>>,
}

/// The outcome of requesting input.
enum InputOutcome {
    Input(Value),
    Later(InputRequest),
}

impl Toolbox {
    /// Runs a call with checked arguments until its tool makes no more requests.
    pub(super) async fn perform<'a>(
        &'a self,
        admitted: Admitted<'a>,
        arguments: BorrowedValue<'a>,
        call: &ToolCall,
        invocation: &'a Invocation<'a>,
        record: &mut Record,
    ) -> Outcome {
        let (inner, spec, ctx) = (self.inner(), admitted.spec, invocation.ctx());
        let (layers, controls) = (&inner.layers, &inner.layers.controls);
        let tool = &**inner.build(admitted)?;
        // A tool can run again only if there is an input handler.
        let retained = controls.input.is_some().then(|| arguments.clone().into_value());
        let resumption = call.brings();
        // The schemas of inputs from before the call was resumed are unknown.
        resumption.inputs.iter().for_each(|input| ctx.hide(&layers.redactor.secrets_in_answer(None, input)));
        // Boxed: few calls resume, and all others would reserve the space for it.
        let resumed =
            (!resumption.inputs.is_empty()).then(|| Box::new(ctx.with_inputs(resumption.inputs.clone())));
        let first = resumed.as_deref().unwrap_or(ctx);
        let run = layers.execute((tool, invocation), arguments, first, record, &resumption.spends);
        let mut result = run.await.map_err(|error| nested_wait_error(error, call))?;
        let mut inputs = Vec::new();
        while !result.is_error() {
            match std::mem::take(&mut result.control) {
                Control::Continue => break,
                complete @ Control::Complete { .. } => {
                    result.control = complete;
                    return Ok(result);
                }
                Control::Effect(effect) => {
                    result = controls.perform(&effect, ctx, layers.callback_timeouts.people).await?;
                    break;
                }
                Control::NeedInput(request) => {
                    ctx.add_event("toolgen.input.requested", &[]);
                    if inputs.is_empty() {
                        inputs.clone_from(&resumption.inputs);
                    }
                    let schema = request.schema.clone();
                    let input = match controls
                        .ask(request, inputs.len(), ctx, layers.callback_timeouts.people)
                        .await?
                    {
                        InputOutcome::Input(input) => input,
                        InputOutcome::Later(request) => {
                            return Err(layers.input_required(
                                (&**inner.registry.at(admitted.index), &inner.registry),
                                request,
                                inputs,
                                call,
                                ctx,
                            ));
                        }
                    };
                    ctx.hide(&layers.redactor.secrets_in_answer(Some(&schema), &input));
                    inputs.push(input);
                    let (arguments, ctx_with_inputs) =
                        (retained.clone().unwrap_or_default(), ctx.with_inputs(inputs.clone()));
                    result = layers
                        .execute((tool, invocation), arguments.into(), &ctx_with_inputs, record, &[])
                        .await
                        .map_err(|error| nested_wait_error(error, call))?;
                }
            }
        }
        complete(spec, &mut result);
        Ok(result)
    }
}

impl Layers {
    /// Returns the error for a call whose tool needs more input.
    fn input_required(
        &self,
        (tool, registry): (&dyn AgentTool, &Registry),
        request: InputRequest,
        inputs: Vec<Value>,
        call: &ToolCall,
        ctx: &ToolContext,
    ) -> ToolError {
        let waiting = self.seals.waiting(call, call.name.clone(), call.arguments.clone(), inputs, ctx);
        let pending = PendingInputCall { call: waiting, request };
        let sealed = self.seals.seal(WaitingRequest::Input(Box::new(pending)), tool, registry);
        sealed.map_or_else(|error| error, WaitingRequest::into_error)
    }
}

impl Controls {
    async fn perform(
        &self,
        effect: &Effect,
        ctx: &ToolContext,
        limit: Option<Duration>,
    ) -> Result<ToolResult, ToolError> {
        let Some(handler) = self.effects.get(&effect.name) else {
            let text = format!("the effect '{}' has no handler", effect.name);
            return Err(ToolError::failed_with(EFFECT_UNHANDLED, text));
        };
        let handle = with_timeout(limit, async { handler.handle(effect, ctx).await });
        let result = match ctx.caller_token().run_until_cancelled(handle).await {
            None => return Err(ToolError::Cancelled),
            Some(Ok(outcome)) => outcome?,
            Some(Err(failure)) => {
                let problem = match failure {
                    CallbackFailure::Panicked => "failed",
                    CallbackFailure::TimedOut => "did not complete in time",
                };
                let text = format!("the effect '{}' {problem}", effect.name);
                return Err(ToolError::failed_with(EFFECT_FAILED, text));
            }
        };
        match result.control {
            Control::Continue | Control::Complete { .. } => Ok(result),
            Control::Effect(_) | Control::NeedInput(_) => {
                let text = format!("the effect '{}' made a request itself", effect.name);
                Err(ToolError::failed_with(EFFECT_FAILED, text))
            }
        }
    }

    /// Returns an input that matches the schema, or the request if there is no input yet.
    async fn ask(
        &self,
        request: InputRequest,
        rounds: usize,
        ctx: &ToolContext,
        limit: Option<Duration>,
    ) -> Result<InputOutcome, ToolError> {
        if rounds >= MAX_INPUT_ROUNDS {
            let text = format!("the tool requested input more than {MAX_INPUT_ROUNDS} times");
            return Err(ToolError::failed_with("INPUT_ROUNDS", text));
        }
        let Some(handler) = &self.input else { return Ok(InputOutcome::Later(request)) };
        let mut problems = Vec::new();
        for attempt in 1..=MAX_INPUT_ATTEMPTS {
            let question = InputQuestion { request: &request, attempt, problems: &problems };
            let ask = with_timeout(limit, async { handler.ask(question, ctx).await });
            let reply = match ctx.caller_token().run_until_cancelled(ask).await {
                None => return Err(ToolError::Cancelled),
                Some(Err(CallbackFailure::Panicked)) => {
                    return Err(ToolError::failed("asking for input failed"));
                }
                Some(Err(CallbackFailure::TimedOut)) => InputReply::Later,
                Some(Ok(reply)) => reply?,
            };
            match reply {
                InputReply::Given(input) => match decode_input(&request, input) {
                    Ok(input) => return Ok(InputOutcome::Input(input)),
                    Err(input_problems) => problems = input_problems,
                },
                InputReply::Declined => {
                    let text = format!("The tool needs input that was not given: {}", request.message);
                    return Err(ToolError::failed_with("INPUT_DECLINED", text));
                }
                InputReply::Later => return Ok(InputOutcome::Later(request)),
            }
        }
        let lines: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
        let text = format!("The tool needs input, and the given input is not valid: {}", request.message);
        Err(ToolError::failed_with("INPUT_INVALID", text).with_operator_detail(lines.join("\n")))
    }
}

/// If a tool that this tool called waits, turns the wait into a failure: resuming the nested call would not resume
/// this call.
fn nested_wait_error(error: ToolError, call: &ToolCall) -> ToolError {
    match error {
        ToolError::ApprovalRequired(request) if request.id != call.id => {
            let text = format!(
                "The call was not finished: it calls '{name}', which needs an approval first. {} Call '{name}' itself, \
                 so that it can be approved.",
                request.reasons.join(" "),
                name = request.name
            );
            ToolError::failed_with("APPROVAL_REQUIRED", text)
        }
        ToolError::InputRequired(pending) if pending.id != call.id => {
            ToolError::failed_with("INPUT_REQUIRED", ToolError::InputRequired(pending).to_string())
        }
        error => error,
    }
}

/// Checks and decodes the input for a request. Returns the input for the tool, or all problems.
pub(super) fn decode_input(request: &InputRequest, input: Value) -> Result<Value, Vec<ArgumentProblem>> {
    const KEY: &str = "answer";
    let Some(input) = shallow(input) else {
        let message = format!("the input is nested more than {MAX_DEPTH} levels deep");
        return Err(vec![ArgumentProblem {
            pointer: String::new(),
            kind: ArgumentProblemKind::Value,
            message,
        }]);
    };
    let read = |schema: &Value| read_document(schema, &mut Vec::new());
    let schema = &request.schema;
    if schema.get("type").is_none_or(|kind| kind == "object") && input.is_object() {
        let (shape, defs) = read(schema);
        return decode(&input, &shape, &defs, &JSON_SCHEMA);
    }
    // The decoder expects an object, so an input of another type is wrapped.
    let mut wrapper = json!({ "type": "object", "properties": { KEY: schema }, "required": [KEY] });
    for defs in ["$defs", "definitions"] {
        if let Some(definitions) = schema.get(defs) {
            wrapper[defs] = definitions.clone();
        }
    }
    let (shape, defs) = read(&wrapper);
    let decoded = decode(&json!({ KEY: input }), &shape, &defs, &JSON_SCHEMA);
    let mut decoded = decoded.map_err(|mut problems| {
        for problem in &mut problems {
            let pointer = std::mem::take(&mut problem.pointer);
            problem.pointer = pointer.strip_prefix("/answer").unwrap_or(&pointer).to_owned();
        }
        problems
    })?;
    Ok(decoded.get_mut(KEY).map(Value::take).unwrap_or_default())
}

/// If a completion tool has succeeded, makes its result end the agent loop, and adds the next state to the details.
fn complete(spec: &ToolSpec, result: &mut ToolResult) {
    if result.is_error() {
        result.control = Control::Continue;
    }
    let Some(completion) = &spec.completion else { return };
    if result.is_error() || result.control != Control::Continue {
        return;
    }
    let signal = match result.details.get("next_state").and_then(Value::as_str) {
        Some(state) => Text::from(state.to_owned()),
        None => completion.next_state.clone(),
    };
    if !signal.is_empty() && result.details.is_object() {
        let text_before = result.details.to_string();
        if result.details.get("next_state").is_none() {
            result.added_to_details("next_state");
        }
        result.details["next_state"] = Value::from(signal.as_str());
        // A model that reads the details as text must also see the next state.
        if let [Content::Text(text)] = &mut result.content[..]
            && *text == text_before
        {
            *text = result.details.to_string();
        }
    }
    result.control = Control::Complete { signal, data: result.details.clone() };
}
