//! Tools of a [`Toolbox`] for agents of [rig](https://docs.rs/rig).
//!
//! ```no_run
//! # fn agent(toolbox: toolgen_runtime::Toolbox) -> Result<(), Box<dyn std::error::Error>> {
//! use rig_agent::AgentBuilder;
//! use rig_core::providers::anthropic::{Anthropic, CLAUDE_SONNET_5_5};
//!
//! let model = Anthropic::from_env()?.completion(CLAUDE_SONNET_5_5);
//! let agent = AgentBuilder::new(model).dynamic_tools(toolgen_rig::tools(&toolbox)).default_max_turns(10).build();
//! # Ok(())
//! # }
//! ```
//!
//! By default, rig sends only one request to a model: after the first tool result, and after a call that the model
//! should correct, `prompt` ends with `MaxTurns { max_turns: 1 }`. Therefore set `default_max_turns`.
//!
//! A call of the agent passes the whole pipeline of the toolbox: rules, limits, argument validation, approvals,
//! audit. Errors are reported to the model with the message of the toolbox, and to hooks of rig as a
//! [`ToolExecutionError`] with kind and code.
//!
//! Text and images are passed to the model unchanged. Content that rig's results do not support (audio, documents) is
//! replaced by a line that describes it. A call is cancelled when rig drops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rig_core::message::{ImageMediaType, MimeType, ToolName, ToolResultContent};
use rig_core::tool::{DynamicTool, ToolErrorKind, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::wire::{RefusedTools, ToolResultOptions, WireFormat};
use toolgen_runtime::{Content, ToolCall, ToolError, ToolResponse, ToolResult, ToolSpec, Toolbox, Turn};

/// Returns the tools of a toolbox for an agent, with schemas in plain JSON Schema.
///
/// The list is built once, for all conversations of the agent. Therefore calls have no session, and only the
/// principal of the program. For tools that depend on earlier calls, and for users with individual permissions, use
/// [`tools_in`].
#[must_use]
pub fn tools(toolbox: &Toolbox) -> Vec<DynamicTool> {
    let turn = Arc::new(|_: &rig_core::tool::ToolContext| Turn::new("rig"));
    let tools = toolbox.specs_with_on_demand().filter_map(|spec| {
        // Plain JSON Schema can express everything; the fallback accepts any value.
        let schema =
            spec.schema(&JSON_SCHEMA).map_or_else(|_| json!({ "type": "object" }), |told| told.schema);
        tool(toolbox, spec, schema, &JSON_SCHEMA, &turn)
    });
    tools.collect()
}

/// Returns the tools of a toolbox for an agent, with schemas in a dialect, and with a context for each call: its
/// session, principal and cancellation token.
///
/// The function creates this context from the context of rig, where a program can set values for each prompt:
///
/// ```no_run
/// # fn agent(toolbox: toolgen_runtime::Toolbox) -> Result<(), Box<dyn std::error::Error>> {
/// use rig_core::tool::ContextValue;
/// use toolgen_runtime::schema::dialect::ANTHROPIC;
/// use toolgen_runtime::{Principal, Turn};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct User(String);
///
/// impl ContextValue for User {
///     const KEY: &'static str = "user";
/// }
///
/// // `agent.prompt("…").tool_context(context)`, where `context.insert(User("ada".into()))` was called before.
/// let tools = toolgen_rig::tools_in(&toolbox, &ANTHROPIC, |context| match context.get::<User>() {
///     Ok(Some(User(name))) => Turn::new("rig").with_principal(Principal::new(name).with_scopes(["read"])),
///     _ => Turn::new("rig"),
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns all tools that the dialect cannot express, with all reasons.
pub fn tools_in(
    toolbox: &Toolbox,
    dialect: &'static Dialect,
    turn: impl Fn(&rig_core::tool::ToolContext) -> Turn + Send + Sync + 'static,
) -> Result<Vec<DynamicTool>, RefusedTools> {
    let turn = Arc::new(turn);
    // The simplest format: `{"name", "description", "input_schema"}`.
    let told = WireFormat::Anthropic.tools_in(dialect, toolbox.specs_with_on_demand())?;
    let told = told.as_array().map(Vec::as_slice).unwrap_or_default();
    let tools = toolbox.specs_with_on_demand().zip(told).filter_map(|(spec, told)| {
        let description = told["description"].as_str().unwrap_or_default().to_owned();
        let spec = ToolSpec { description: description.into(), ..spec.clone() };
        tool(toolbox, &spec, told["input_schema"].clone(), dialect, &turn)
    });
    Ok(tools.collect())
}

/// Returns one tool. The name of a tool is never empty, so this always succeeds.
fn tool<F>(
    toolbox: &Toolbox,
    spec: &ToolSpec,
    schema: Value,
    dialect: &'static Dialect,
    turn: &Arc<F>,
) -> Option<DynamicTool>
where
    F: Fn(&rig_core::tool::ToolContext) -> Turn + Send + Sync + 'static,
{
    // rig does not pass the model's call ID.
    static CALLS: AtomicU64 = AtomicU64::new(1);
    let (toolbox, turn) = (toolbox.clone(), Arc::clone(turn));
    let name = ToolName::new(spec.name.as_str()).ok()?;
    let called = spec.name.to_text();
    let run = DynamicTool::new_with_context(
        name,
        spec.description.as_str(),
        schema,
        move |context: &mut rig_core::tool::ToolContext, arguments: Value| {
            let turn = turn(context).with_dialect(dialect);
            let call = ToolCall::new(id(&CALLS), called.as_str(), arguments);
            let toolbox = toolbox.clone();
            Box::pin(async move { output(&toolbox.run(call, &turn).await) })
        },
    );
    Some(run)
}

fn id(calls: &AtomicU64) -> String {
    format!("rig-{}", calls.fetch_add(1, Ordering::Relaxed))
}

/// Converts a result for the model.
fn output(response: &ToolResponse) -> Result<ToolOutput, ToolExecutionError> {
    let content = response.content().iter().map(|piece| block(response, piece)).collect::<Vec<_>>();
    let content = if content.is_empty() { vec![ToolResultContent::text(told(response))] } else { content };
    let shown = ToolOutput::content(content)?;
    match &response.outcome {
        Ok(_) if !response.is_error() => Ok(shown),
        Ok(_) => Err(ToolExecutionError::other(response.text()).with_model_output(shown)),
        Err(why) => {
            let error = ToolExecutionError::new(kind(why), why.operator_text());
            let error = if denied(why) { ToolExecutionError::refused(why.operator_text()) } else { error };
            Err(error.with_code(why.code()).with_model_output(shown))
        }
    }
}

/// Converts a piece of content, or returns a line that replaces it.
fn block(response: &ToolResponse, piece: &Content) -> ToolResultContent {
    match piece {
        Content::Text(text) => ToolResultContent::text(text),
        Content::Image { data, mime_type } if ImageMediaType::from_mime_type(mime_type).is_some() => {
            ToolResultContent::image_base64(data, ImageMediaType::from_mime_type(mime_type), None)
        }
        other => {
            let call = ToolCall::new(response.id.as_str(), response.name.as_str(), Value::Null);
            let alone = ToolResult::empty().with_content(other.clone());
            ToolResultContent::text(told(&ToolResponse::new(&call, Ok(alone))))
        }
    }
}

/// Returns a result as text, with a line instead of each non-text content.
fn told(response: &ToolResponse) -> String {
    let options = ToolResultOptions::default().text_only();
    let answers = WireFormat::OpenAiChat.tool_results_with(std::slice::from_ref(response), &options);
    answers.iter().filter_map(|answer| answer["content"].as_str()).collect()
}

fn denied(why: &ToolError) -> bool {
    matches!(why, ToolError::Denied { .. } | ToolError::ApprovalRequired(_))
}

fn kind(why: &ToolError) -> ToolErrorKind {
    match why {
        ToolError::NotFound { .. } => ToolErrorKind::NotFound,
        ToolError::InvalidArgs { .. } => ToolErrorKind::InvalidArgs,
        ToolError::Cancelled => ToolErrorKind::Cancelled,
        ToolError::Timeout { .. } => ToolErrorKind::Timeout,
        ToolError::Denied { .. } | ToolError::ApprovalRequired(_) => ToolErrorKind::PermissionDenied,
        _ => ToolErrorKind::Other,
    }
}
