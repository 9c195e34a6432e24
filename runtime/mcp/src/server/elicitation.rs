//! Elicitation of the input that a call waits for: input of its tool, or an approval. In a session, the server asks the
//! client during the call. Otherwise the result requests the input, and the client repeats the call with the input.

use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::call::Turn;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::resumption::WaitingRequest;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_kernel::toolbox::Toolbox;

/// The key of input whose schema has no title.
const DEFAULT_KEY: &str = "input";

/// The argument that holds a person's approval.
const APPROVE: &str = "approve";

/// Who provides the input.
const PERSON: &str = "the person at the client";

/// The state of a waiting call. It is sealed by the toolbox, so the client can hold it until it calls again.
pub(super) struct ClientQuestion(WaitingRequest);

/// The response of a client.
pub(super) enum ClientReply {
    Accepted(Value),
    Declined,
}

impl ClientQuestion {
    /// Returns the input that the call waits for, if the client may be asked.
    pub(super) fn of(response: &ToolResponse, client_approves: bool) -> Option<ClientQuestion> {
        match &response.outcome {
            Err(ToolError::InputRequired(pending)) => {
                Some(ClientQuestion(WaitingRequest::Input(pending.clone())))
            }
            Err(ToolError::ApprovalRequired(request)) if client_approves => {
                Some(ClientQuestion(WaitingRequest::Approval(request.clone())))
            }
            _ => None,
        }
    }

    /// Parses the state that a client returned. The seal of the state is checked when the call resumes.
    ///
    /// # Errors
    ///
    /// Returns an error if the state does not belong to a call of this tool.
    pub(super) fn parse(state: &str, tool: &str) -> Result<ClientQuestion, ErrorData> {
        let parse_input =
            || serde_json::from_str(state).map(|pending| WaitingRequest::Input(Box::new(pending)));
        let parsed = serde_json::from_str(state)
            .map(|request| WaitingRequest::Approval(Box::new(request)))
            .or_else(|_| parse_input());
        let parsed = parsed.ok().map(ClientQuestion).filter(|question| question.tool() == tool);
        parsed.ok_or_else(|| {
            let text = "Invalid requestState: pass it back with the same tool, unchanged, or call the tool without it";
            ErrorData::invalid_params(text, None)
        })
    }

    /// Whether the state that a client returned was forged.
    pub(super) fn is_forged(error: &ToolError) -> bool {
        matches!(error.code(), "INPUT_REQUEST_INVALID" | "APPROVAL_INVALID")
    }

    /// Returns the name of the tool that the client called.
    fn tool(&self) -> &str {
        let call = self.0.call();
        call.via.as_ref().unwrap_or(&call.name)
    }

    /// Whether the client supports elicitation.
    pub(super) fn is_supported_by(context: &RequestContext<RoleServer>) -> bool {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // Without modes, as before protocol version 2025-11-25, forms are supported.
        elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }

    /// Returns the error for a client that does not support elicitation.
    pub(super) fn unsupported_error() -> ErrorData {
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        let mut required = ClientCapabilities::default();
        required.elicitation = Some(forms);
        ErrorData::missing_required_client_capability(required)
    }

    /// Renders the input request as `elicitation/create`.
    fn elicitation(&self) -> Result<ElicitRequestParams, String> {
        let (message, schema) = match &self.0 {
            WaitingRequest::Input(pending) => {
                (pending.request.message.clone(), pending.request.schema.clone())
            }
            WaitingRequest::Approval(request) => {
                let reasons = request.reasons.join(" ");
                let message =
                    format!("{reasons}\nMay '{}' run with {}?", request.name, request.redacted_arguments);
                let message = visible(&message).into_owned();
                let approve = json!({ "type": "boolean", "title": "Approve" });
                (
                    message,
                    json!({ "type": "object", "properties": { APPROVE: approve }, "required": [APPROVE] }),
                )
            }
        };
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        serde_json::from_value(params).map_err(|error| {
            format!("The client was not asked, because elicitation supports only primitive fields: {error}")
        })
    }

    /// Returns the key of the input: the title of its schema, so that a client that knows the tool can send the input with
    /// the first call.
    fn key(&self) -> &str {
        let title = match &self.0 {
            WaitingRequest::Input(pending) => pending.request.schema.get("title").and_then(Value::as_str),
            WaitingRequest::Approval(_) => Some(APPROVE),
        };
        title.unwrap_or(DEFAULT_KEY)
    }

    /// Returns the result that requests the input.
    ///
    /// # Errors
    ///
    /// Returns the reason if this input cannot be requested from the client.
    pub(super) fn to_result(&self) -> Result<InputRequiredResult, String> {
        let request = InputRequest::Elicitation(ElicitRequest::new(self.elicitation()?));
        let state = match &self.0 {
            WaitingRequest::Input(pending) => serde_json::to_string(pending),
            WaitingRequest::Approval(request) => serde_json::to_string(request),
        };
        let state = state.map_err(|error| format!("The call cannot wait: {error}"))?;
        Ok(InputRequiredResult::new(
            Some(InputRequests::from([(self.key().to_owned(), request)])),
            Some(state),
        ))
    }

    /// Asks the client of a session, and waits for the response.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is no response.
    pub(super) async fn ask(
        &self,
        peer: &Peer<RoleServer>,
        timeout: Duration,
    ) -> Result<ClientReply, String> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(self.elicitation()?));
        let options = PeerRequestOptions::with_timeout(timeout);
        let no_response = |reason: &dyn std::fmt::Display| {
            format!("The client did not respond to the request for input: {reason}")
        };
        let sent_request =
            peer.send_request_with_option(request, options).await.map_err(|error| no_response(&error))?;
        match sent_request.await_response().await {
            Ok(ClientResult::ElicitResult(result)) => Ok(ClientReply::of(result)),
            Ok(_) => Err(no_response(&"it sent another kind of result")),
            Err(error) => Err(no_response(&error)),
        }
    }

    /// Returns the input for this call among the inputs that a client sent. If the client also sent a state, the input
    /// was requested. An approval is accepted only if it was requested: otherwise no person has seen the call.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is invalid.
    pub(super) fn find_reply(
        &self,
        responses: &InputResponses,
        was_requested: bool,
    ) -> Result<Option<ClientReply>, ErrorData> {
        if matches!(self.0, WaitingRequest::Approval(_)) && !was_requested {
            return Ok(None);
        }
        let Some(response) = responses.get(self.key()) else { return Ok(None) };
        let response: ElicitResult = serde_json::from_value(response.clone()).map_err(|error| {
            let text = format!(
                "Invalid inputResponses: '{}' is not a response to an elicitation: {error}",
                self.key()
            );
            ErrorData::invalid_params(text, None)
        })?;
        Ok(Some(ClientReply::of(response)))
    }

    /// Resumes the call. If the input is invalid, the call still waits for input.
    pub(super) async fn resume(&self, toolbox: &Toolbox, reply: ClientReply, turn: &Turn) -> ToolResponse {
        match (&self.0, reply) {
            (WaitingRequest::Input(pending), ClientReply::Accepted(reply)) => {
                match toolbox.resume_with_input((**pending).clone(), reply, turn).await {
                    Ok(response) => response,
                    Err(_) => self.pending_response(),
                }
            }
            (WaitingRequest::Input(pending), ClientReply::Declined) => {
                let text = format!("The tool needs input that was not given: {}", pending.request.message);
                let error = ToolError::failed_with("INPUT_DECLINED", text);
                toolbox.decline(self.0.clone(), PERSON, error, turn).await
            }
            (WaitingRequest::Approval(request), ClientReply::Accepted(reply))
                if reply.get(APPROVE) == Some(&Value::Bool(true)) =>
            {
                let request = (**request).clone().approved_by(PERSON);
                toolbox.resume(request, turn).await
            }
            (WaitingRequest::Approval(_), _) => {
                let error =
                    ToolError::denied(format!("The call was not executed: {PERSON} did not approve it."));
                toolbox.decline(self.0.clone(), PERSON, error, turn).await
            }
        }
    }

    /// The response of the call while it waits for input.
    pub(super) fn pending_response(&self) -> ToolResponse {
        let call = self.0.call();
        let call = ToolCall::new(call.id.as_str(), call.name.as_str(), Value::Null);
        ToolResponse::new(&call, Err(self.0.clone().into_error()))
    }
}

impl ClientReply {
    fn of(result: ElicitResult) -> ClientReply {
        match (result.action, result.content) {
            (ElicitationAction::Accept, Some(content)) => ClientReply::Accepted(content),
            (ElicitationAction::Accept, None) => ClientReply::Accepted(json!({})),
            _ => ClientReply::Declined,
        }
    }
}
