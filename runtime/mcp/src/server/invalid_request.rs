//! Errors for requests that violate the protocol: which parameter is invalid, or that the method is unknown. `rmcp`
//! passes such requests as custom requests without a reason.

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcError, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde_json::Value;
use toolgen_core::internal::closest_match;

/// Maximum length of a quoted method name, in characters.
const MAX_METHOD_CHARS: usize = 100;

/// The expected type of a parameter.
#[derive(Clone, Copy)]
enum Type {
    String,
    Object,
}

/// A parameter of a method: its location in `params`, its type, and whether it is required.
struct Parameter(&'static str, Type, bool);

/// The methods of this server, with the parameters that `rmcp` requires.
const METHODS: [(&str, &[Parameter]); 6] = [
    (
        "initialize",
        &[
            Parameter("/protocolVersion", Type::String, true),
            Parameter("/capabilities", Type::Object, true),
            Parameter("/clientInfo", Type::Object, true),
            Parameter("/clientInfo/name", Type::String, true),
            Parameter("/clientInfo/version", Type::String, true),
        ],
    ),
    ("tools/call", &[Parameter("/name", Type::String, true), Parameter("/arguments", Type::Object, false)]),
    ("tools/list", &[]),
    ("subscriptions/listen", &[Parameter("/notifications", Type::Object, true)]),
    ("ping", &[]),
    ("server/discover", &[]),
];

/// Returns the error for a request with invalid parameters.
pub(super) fn invalid_params(method: &str, params: Option<&Value>) -> ErrorData {
    let Some((_, parameters)) = METHODS.iter().find(|(name, _)| *name == method) else {
        return unknown_method(method);
    };
    let mut problems: Vec<String> = Vec::new();
    let params = params.unwrap_or(&Value::Null);
    for Parameter(pointer, expected, required) in *parameters {
        // If a parent is missing, only the parent is reported.
        let parent = pointer.rsplit_once('/').and_then(|(parent, _)| params.pointer(parent));
        if !pointer[1..].contains('/') || parent.is_some_and(Value::is_object) {
            problems.extend(problem(pointer, params.pointer(pointer), *expected, *required));
        }
    }
    if problems.is_empty() {
        problems.push("its `params` are invalid for the method".to_owned());
    }
    ErrorData::invalid_params(
        format!("Invalid request {}: {}.", Value::from(method), problems.join("; ")),
        None,
    )
}

/// Returns the error for a request with the ID of a pending request.
pub(super) fn duplicate_id(id: &Value) -> ErrorData {
    let id: String = id.to_string().chars().take(MAX_METHOD_CHARS).collect();
    let reason = format!("A request with the ID {id} is pending: use a unique ID for each request.");
    ErrorData::invalid_request(reason, None)
}

/// Returns the error for an unknown method.
pub(super) fn unknown_method(method: &str) -> ErrorData {
    let methods = METHODS.iter().map(|(name, _)| *name).filter(|name| *name != method);
    let hint = closest_match(method, methods)
        .map(|suggestion| format!("; did you mean {}?", Value::from(suggestion)));
    let method = Value::from(method.chars().take(MAX_METHOD_CHARS).collect::<String>());
    let reason = format!("unknown method {method}{}", hint.unwrap_or_default());
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, reason, None)
}

/// Describes the problem of a parameter, if there is one.
fn problem(location: &str, value: Option<&Value>, expected: Type, required: bool) -> Option<String> {
    let (is_valid, expected) = match expected {
        Type::String => (value.is_some_and(Value::is_string), "a string"),
        Type::Object => (value.is_some_and(Value::is_object), "an object"),
    };
    let value = match value {
        _ if is_valid => return None,
        None | Some(Value::Null) if !required => return None,
        None => {
            return Some(format!("`params{}` is missing (expected {expected})", location.replace('/', ".")));
        }
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(_)) => "a number",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    };
    Some(format!("`params{}` must be {expected}, not {value}", location.replace('/', ".")))
}

/// Returns the error for an HTTP body that should start a session but does not; `None` if it is not a request.
pub(super) fn missing_initialize(body: &[u8]) -> Option<JsonRpcError> {
    let message: RxJsonRpcMessage<RoleServer> = serde_json::from_slice(body).ok()?;
    let error = check_first_message(&message).err()?;
    let RxJsonRpcMessage::<RoleServer>::Request(request) = message else { return None };
    Some(JsonRpcError::new(Some(request.id), error))
}

/// Checks whether a message may start a connection: a session starts with `initialize`, and a request without a
/// session carries its own metadata.
pub(super) fn check_first_message(message: &RxJsonRpcMessage<RoleServer>) -> Result<bool, ErrorData> {
    let RxJsonRpcMessage::<RoleServer>::Request(message) = message else { return Ok(false) };
    let missing = message.request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
    match &message.request {
        ClientRequest::InitializeRequest(_) => Ok(true),
        ClientRequest::PingRequest(_) => Ok(false),
        ClientRequest::CustomRequest(request) if request.method == "initialize" => {
            Err(invalid_params(&request.method, request.params.as_ref()))
        }
        request if missing.is_empty() => Ok(!matches!(request, ClientRequest::DiscoverRequest(_))),
        request => {
            let (method, missing) = (Value::from(request.method()), missing.join("`, `"));
            let reason = format!(
                "{method} was sent before `initialize`. Without `initialize`, as of protocol version {}, each request \
                 needs `params._meta`, where these members are missing or invalid: `{missing}`.",
                ProtocolVersion::V_2026_07_28
            );
            Err(ErrorData::invalid_params(reason, None))
        }
    }
}
