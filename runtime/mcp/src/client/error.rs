//! Errors for models and operators: a server, or a call to it, failed.

use std::time::Duration;

use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::structured::INVALID_OUTPUT;
use toolgen_kernel::spec::plan::{McpPlan, McpServer};

use super::connection::Failure;

/// The code of a call whose server is unreachable.
const UNREACHABLE: &str = "MCP_UNREACHABLE";
/// The code of a call whose connection was lost.
const LOST: &str = "MCP_LOST";
/// The code of a call that the server rejects.
const REFUSED: &str = "MCP_REFUSED";
/// The code of a tool that differs from its lock.
pub(super) const CHANGED: &str = "TOOL_CHANGED";
/// Start of a message about an HTTP status; `credential_code` matches it.
pub(super) const STATUS_PREFIX: &str = "the server answered with status ";
/// Part of a message about a variable that is not set; `credential_code` matches it.
pub(super) const UNSET_VARIABLE: &str = " is not set; it holds ";
/// The method that lists tools.
const LIST_METHOD: &str = "tools/list";
/// The code of a call that timed out.
const TIMEOUT: &str = "TIMEOUT";
/// The JSON-RPC code of invalid arguments.
const INVALID_PARAMS: i64 = -32602;

/// Returns the error for a server that is unreachable.
pub(super) fn unreachable(server: &McpServer, reason: &str) -> ToolError {
    let message =
        format!("the MCP server `{}` cannot be used: {}", server.alias, reason.trim_end_matches('.'));
    let text = format!("{message}. The call was not sent. Do not retry");
    ToolError::failed_with(credential_code(reason).unwrap_or(UNREACHABLE), text).with_operator_detail(message)
}

/// Returns the code of a failure that concerns a credential, detected by this crate's own messages.
fn credential_code(reason: &str) -> Option<&'static str> {
    let is_refused = ["401", "403"].iter().any(|status| reason.contains(&format!("{STATUS_PREFIX}{status}")));
    if is_refused {
        Some("CREDENTIAL_REFUSED")
    } else {
        reason.contains(UNSET_VARIABLE).then_some("MISSING_CREDENTIAL")
    }
}

/// Returns the error for a server whose circuit is open.
pub(super) fn circuit_open(server: &McpServer, reason: &str, remaining: Duration) -> ToolError {
    let text = format!(
        "the MCP server `{}` failed repeatedly; the last failure: {reason}. The call was not sent. Retry after {} \
         seconds",
        server.alias,
        remaining.as_secs() + 1
    );
    ToolError::failed_with(credential_code(reason).unwrap_or(UNREACHABLE), text)
}

/// Returns the error for a tool that cannot be compared with its lock.
pub(super) fn unverified(plan: &McpPlan, reason: Failure) -> ToolError {
    let error = failure(&plan.server, LIST_METHOD, reason);
    let text = format!(
        "the tool `{}` could not be verified against its lock: {error}. The call was not sent",
        plan.tool
    );
    ToolError::failed_with("TOOL_UNVERIFIED", text)
}

/// Returns the error for a request without a result.
pub(super) fn failure(server: &McpServer, subject: &str, failure: Failure) -> ToolError {
    let alias = &server.alias;
    match failure {
        Failure::Refused { code: INVALID_PARAMS, message, .. } => ToolError::invalid_args(message),
        Failure::Refused { code: 0, message, .. } => ToolError::failed_with(
            credential_code(&message).unwrap_or(REFUSED),
            format!("the MCP server `{alias}` returned no result for `{subject}`: {message}"),
        ),
        Failure::Refused { code, message, data } => {
            let text = format!("the MCP server `{alias}` rejects `{subject}`: {message} ({code})");
            let detail = if data.is_null() { String::new() } else { format!("{text}\n{data}") };
            ToolError::failed_with(REFUSED, text).with_operator_detail(detail)
        }
        Failure::NotSent(reason) => unreachable(server, &reason),
        Failure::ConnectionLost(reason) => {
            let text =
                format!("the connection to the MCP server `{alias}` was lost during `{subject}`: {reason}");
            // Listing tools has no effect.
            let warning = "\nThe call may have taken effect. Check its effect before you retry";
            ToolError::failed_with(
                LOST,
                if subject == LIST_METHOD { text } else { format!("{text}{warning}") },
            )
        }
        Failure::Unparsable(reason) => {
            let text =
                format!("the response of the MCP server `{alias}` to `{subject}` cannot be parsed: {reason}");
            let warning = "\nThe call was sent and may have taken effect. Check its effect before you retry";
            match subject {
                LIST_METHOD => ToolError::failed_with(REFUSED, text),
                _ => ToolError::failed_with(INVALID_OUTPUT, format!("{text}{warning}")),
            }
        }
        Failure::IdleTimeout(idle, strays) => ToolError::failed_with(
            TIMEOUT,
            format!(
                "the MCP server `{alias}` sent neither a result nor progress for {:?} during `{subject}`{strays}. The \
                 call was cancelled",
                rounded(idle)
            ),
        ),
        Failure::TotalTimeout(duration, strays) if strays.is_empty() => ToolError::Timeout { duration },
        Failure::TotalTimeout(duration, strays) => ToolError::failed_with(
            TIMEOUT,
            format!(
                "the MCP server `{alias}` returned no result for `{subject}` within {:?}{strays}",
                rounded(duration)
            ),
        ),
    }
}

/// Rounds a duration for messages: to whole seconds, if it has any.
pub(super) fn rounded(duration: Duration) -> Duration {
    match duration.as_secs_f64().round() {
        0.0 => duration,
        seconds => Duration::from_secs(seconds as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_or_refused_credential_has_a_code_and_variable() {
        let server = McpServer::http("shop", "https://shop.example/mcp");
        for (reason, code) in [
            (
                "the server answered with status 401 Unauthorized. Put a token that it accepts into A_TOKEN",
                "CREDENTIAL_REFUSED",
            ),
            (
                "the server answered with status 403 Forbidden. Put a token that it accepts into A_TOKEN",
                "CREDENTIAL_REFUSED",
            ),
            (
                "the environment variable A_TOKEN is not set; it holds the bearer token of the server",
                "MISSING_CREDENTIAL",
            ),
            ("the server answered with status 404 Not Found", UNREACHABLE),
        ] {
            let refused =
                || Failure::Refused { code: 0, message: reason.to_owned(), data: serde_json::Value::Null };
            let error = unreachable(&server, reason);
            assert_eq!(error.code(), code, "{reason}");
            assert_eq!(error.operator_text().contains("A_TOKEN"), code != UNREACHABLE);
            let error = failure(&server, "tools/call", refused());
            assert_eq!(error.code(), if code == UNREACHABLE { REFUSED } else { code }, "{reason}");
        }
    }
}
