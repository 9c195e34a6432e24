//! One `tools/call`: runs the call through the toolbox, forwards its progress, and renders its result.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ProgressNotificationParam,
    ProgressToken, ResultType,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::principal::Principal;
use toolgen_kernel::call::session::Session;
use toolgen_kernel::call::{ToolCall, ToolResponse, shown_id};
use toolgen_kernel::layers::control::MAX_INPUT_ROUNDS;
use toolgen_wire::{ToolResultOptions, WireFormat, mcp};

use super::SharedState;
use super::elicitation::ClientQuestion;
use super::otel::RequestSpan;

/// Maximum number of queued progress reports for a slow client; later ones are dropped.
const MAX_QUEUED_REPORTS: usize = 64;

/// Error for a client that does not support elicitation.
const NO_ELICITATION: &str =
    "The client cannot be asked: it does not declare support for elicitation with forms.";

/// Error for a client that closed its output before it responded to an elicitation.
const CLIENT_CLOSED: &str = "The client did not respond to the request for input: it has closed its output.";

/// How long a response waits for queued progress reports.
const REPORT_DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The caller of a request: its principal and its session.
pub(super) struct Caller {
    pub(super) principal: Option<Principal>,
    pub(super) session: Option<Session>,
    /// Whether the request uses a protocol version without sessions.
    pub(super) is_stateless: bool,
    /// Fires when the caller's input has ended, so that it cannot answer elicitations.
    pub(super) input_ended: CancellationToken,
    /// Fires when the caller ends the session, over HTTP.
    pub(super) session_ended: CancellationToken,
}

/// Answers a request.
///
/// # Errors
///
/// Returns an error if the request itself is invalid: an unknown tool, or a forged state.
pub(super) async fn handle_call(
    state: &SharedState,
    caller: &Caller,
    mut request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let id = shown_id(&Text::from(context.id.to_string()));
    let mut turn = Turn::new(id).with_dialect(WireFormat::Mcp.dialect()).with_cancel(context.ct.clone());
    if let Some(session) = &caller.session {
        turn = turn.with_session(session.clone());
    }
    if let Some(principal) = &caller.principal {
        turn = turn.with_principal(principal.clone());
    }
    let toolbox = state.tools.toolbox();
    let spec = toolbox.specs_for(caller.principal.as_ref()).find(|spec| spec.name.as_str() == request.name);
    let values = state.client_values.take(spec, &mut request.arguments, &context.meta);
    if !values.is_empty() {
        turn = turn.with_values(values);
    }
    let span = RequestSpan::begin(state, &request, context);
    let response = call_with_progress(state, caller, request, span.add_to(turn), context).await;
    span.end(&response);
    response
}

/// Calls the tool, and forwards its progress if the client requested it.
async fn call_with_progress(
    state: &SharedState,
    caller: &Caller,
    request: CallToolRequestParams,
    turn: Turn,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let Some(token) = context.meta.get_progress_token() else {
        return call_with_elicitation(state, caller, request, &turn, context).await;
    };
    let (sender, reports) = mpsc::channel(MAX_QUEUED_REPORTS);
    let update_sender = sender.clone();
    let turn = turn
        // A report is dropped if the queue is full; the next one supersedes it.
        .with_on_progress(move |line| drop(sender.try_send(line)))
        .with_on_update(move |partial| drop(update_sender.try_send(partial.to_text())));
    let done = CancellationToken::new();
    let mut forwarding = pin!(forward_reports(&context.peer, token, reports, done.clone()));
    let mut call = pin!(call_with_elicitation(state, caller, request, &turn, context));
    let response = tokio::select! {
        response = &mut call => response,
        () = &mut forwarding => return call.await,
    };
    done.cancel();
    // A client that does not read must not delay the call forever.
    let _ = tokio::time::timeout(REPORT_DRAIN_TIMEOUT, forwarding).await;
    response
}

/// Sends reports to the client until the call completes, or the client disconnects.
async fn forward_reports(
    peer: &Peer<RoleServer>,
    token: ProgressToken,
    mut reports: mpsc::Receiver<String>,
    done: CancellationToken,
) {
    let mut number = 0.0;
    loop {
        let report = match reports.try_recv() {
            Ok(report) => Some(report),
            Err(_) if done.is_cancelled() => None,
            Err(_) => tokio::select! {
                report = reports.recv() => report,
                () = done.cancelled() => continue,
            },
        };
        let Some(report) = report else { return };
        number += 1.0;
        let progress = ProgressNotificationParam::new(token.clone(), number).with_message(report);
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

/// Calls the tool, and asks the client each time the tool needs input.
async fn call_with_elicitation(
    state: &SharedState,
    caller: &Caller,
    mut request: CallToolRequestParams,
    turn: &Turn,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let toolbox = state.tools.toolbox();
    let mut inputs = request.input_responses.take().unwrap_or_default();
    let was_requested = request.request_state.is_some();
    let mut response = match &request.request_state {
        // The client returned the state of a call: resume that call instead of starting a new call.
        Some(request_state) => ClientQuestion::parse(request_state, &request.name)?.pending_response(),
        None => {
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            let call = ToolCall::new(turn.id(), request.name, arguments);
            toolbox.run(call, turn).await
        }
    };
    for _ in 0..=MAX_INPUT_ROUNDS {
        let Some(question) = ClientQuestion::of(&response, state.client_approves) else { break };
        let reply = match question.find_reply(&inputs, was_requested)? {
            Some(reply) => {
                // An input answers only one elicitation.
                inputs.clear();
                reply
            }
            None if !ClientQuestion::is_supported_by(context) => {
                // Protocol versions without sessions have an error for this, which names the capability to declare.
                return if caller.is_stateless {
                    Err(ClientQuestion::unsupported_error())
                } else {
                    Ok(input_unavailable(&response, NO_ELICITATION))
                };
            }
            None if caller.is_stateless => {
                return Ok(question
                    .to_result()
                    .map_or_else(|reason| input_unavailable(&response, &reason), Into::into));
            }
            None => {
                let reply = question.ask(&context.peer, state.elicitation_timeout);
                let reply = tokio::select! {
                    // A response may be the last message of the client.
                    biased;
                    reply = reply => reply,
                    () = context.ct.cancelled() => Err("Cancelled".to_owned()),
                    () = caller.input_ended.cancelled() => Err(CLIENT_CLOSED.to_owned()),
                };
                match reply {
                    Ok(reply) => reply,
                    Err(reason) => return Ok(input_unavailable(&response, &reason)),
                }
            }
        };
        response = question.resume(&toolbox, reply, turn).await;
        if let Err(reason) = &response.outcome
            && ClientQuestion::is_forged(reason)
        {
            return Err(ErrorData::invalid_params(reason.to_string(), None));
        }
    }
    render_result(&response)
}

/// Renders the result of a call that needs no more input.
fn render_result(response: &ToolResponse) -> Result<CallToolResponse, ErrorData> {
    if let Some(text) = mcp::refusal(response) {
        return Err(ErrorData::invalid_params(text, None));
    }
    let result = mcp::result(response, &ToolResultOptions::default());
    let mut result: CallToolResult = serde_json::from_value(result)
        .map_err(|error| ErrorData::internal_error(format!("The result cannot be sent: {error}"), None))?;
    result.result_type = Some(ResultType::COMPLETE);
    Ok(result.into())
}

/// Renders the result of a call that needs input, with the reason why it cannot be requested.
fn input_unavailable(response: &ToolResponse, reason: &str) -> CallToolResponse {
    let text = format!("{}\n{reason}", response.text());
    CallToolResult::error(vec![rmcp::model::ContentBlock::text(text)]).into()
}
