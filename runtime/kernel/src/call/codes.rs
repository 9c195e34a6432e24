//! The error codes of this crate, as used in tool results, audit records, spans and metrics.
//!
//! A tool may define additional codes.

/// The codes of this crate with their meanings.
pub const ALL: &[(&str, &str)] = &[
    ("AGENT_ABORTED", "A sub-agent was aborted."),
    ("AGENT_LIMIT", "A sub-agent reached its limit of turns, tokens or time."),
    ("AGENT_LOOPED", "A sub-agent was stopped because it repeated itself."),
    ("APPROVAL_EXPIRED", "The approval came after its request had expired."),
    ("APPROVAL_INVALID", "The approval is for another call, or was changed."),
    ("APPROVAL_NOT_QUEUED", "The approval queue could not store the call."),
    ("APPROVAL_NOT_SHOWN", "The call cannot be shown completely to its approver."),
    ("APPROVAL_REQUIRED", "The call waits for an approval."),
    ("APPROVAL_UNKNOWN", "It is unknown whether the approval was used before."),
    ("APPROVAL_USED", "The approval was used before."),
    ("AUDIT_FAILED", "A durable audit log could not write the intent, so the call was not made."),
    ("CALLS_EXCEEDED", "A tool made too many nested calls."),
    ("CALL_ENDED", "A tool called another tool after its own call had ended."),
    ("CANCELLED", "The caller cancelled the call."),
    ("CASSETTE_DIFFERENCE", "A request is not on the cassette."),
    ("COMMAND_FAILED", "A program failed."),
    ("CREDENTIAL_REFUSED", "A service rejected the credential (401), or denied access with it (403)."),
    ("DEPENDENCY_NOT_MET", "A dependency of the tool is not met, such as an earlier call of another tool."),
    ("DEPTH_EXCEEDED", "Calls of tools or agents are nested too deeply."),
    ("EFFECT_FAILED", "The program's handler of an effect failed."),
    ("EFFECT_UNHANDLED", "The program has no handler for an effect."),
    ("EXECUTION_ERROR", "The tool failed."),
    ("FILE_ERROR", "A file argument cannot be used."),
    ("HTTP_ERROR", "A request got no response because the network failed."),
    ("HTTP_STATUS", "A service responded with another error status; `details.status` has it."),
    ("INCOMPLETE_LIST", "A list ended before all of its items were returned."),
    ("INPUT_DECLINED", "The person declined to give input."),
    ("INPUT_INVALID", "The input does not match the request of the tool."),
    ("INPUT_REQUEST_EXPIRED", "The input came after its request had expired."),
    ("INPUT_REQUEST_INVALID", "The input is for another call, or its request was changed."),
    ("INPUT_REQUEST_UNKNOWN", "It is unknown whether the input was given before."),
    ("INPUT_REQUEST_USED", "The input was given before."),
    ("INPUT_REQUIRED", "The call waits for input."),
    ("INPUT_ROUNDS", "The tool requested input too many times."),
    ("INVALID_BODY", "The body is missing, or does not match its media type."),
    ("INVALID_HEADER", "A value is invalid in a header."),
    ("INVALID_INPUT", "The arguments are not an object."),
    ("INVALID_OUTPUT", "The result does not match the tool's output schema."),
    ("INVALID_PARAMS", "Arguments are invalid."),
    ("INVALID_REQUEST", "The request cannot be sent."),
    ("INVALID_SERVER", "The URL of the server is invalid: it is not an HTTP URL, or contains a user name."),
    ("INVALID_SERVER_VARIABLE", "A server variable has a value that is not allowed."),
    ("LIST_TOO_LONG", "A list has more items than its limit."),
    ("MALFORMED_CALL", "The model's call cannot be parsed."),
    ("MCP_FAILED", "A tool of an MCP server reported a failure."),
    ("MCP_LOST", "The connection to an MCP server was lost during the call."),
    ("MCP_REFUSED", "An MCP server rejected the call."),
    ("MCP_UNREACHABLE", "An MCP server cannot be reached."),
    ("MISSING_CREDENTIAL", "The call needs a credential that is not set."),
    ("MISSING_PARAMETER", "Arguments are missing."),
    ("NOT_FOUND", "A tool to describe, or the target of a request (404), does not exist."),
    ("NO_BASE_URL", "Neither the document nor the program sets a base URL."),
    ("NO_PAGINATION", "The operation is not paginated."),
    ("OAUTH_ERROR", "An authorization server issued no token."),
    ("PERMISSION_DENIED", "A policy forbids the call."),
    ("PROGRAM_MISSING", "A program is not installed."),
    ("PROXY_REFUSED", "A proxy requires a credential (407)."),
    ("RATE_LIMITED", "A rate limit of the program or of a service (429) was exceeded."),
    ("RATE_LIMIT_UNKNOWN", "The shared rate limit cannot be read."),
    ("READ_ERROR", "The response ended early."),
    ("REPEATED_FAILURE", "The same call failed too many times, and was not run again."),
    ("REPEATED_PAGE", "The next page of a list is a page that was already read."),
    ("REPLAY_DIFFERENCE", "A call is not in the recording."),
    ("RESULT_NOT_FOUND", "The result to read does not exist, or is no longer stored."),
    ("RESULT_UNKNOWN", "The shared store of results cannot be read."),
    ("SERVICE_UNAVAILABLE", "A service is unavailable, or failed too many times to be called now."),
    ("SESSION_UNKNOWN", "The shared store of sessions cannot be read."),
    ("SKIPPED", "The call was skipped."),
    ("STOPPED", "The model's turn was stopped before the call was complete."),
    ("TIMEOUT", "The call reached its timeout."),
    ("TOOL_CHANGED", "A tool of an MCP server differs from its lock."),
    ("TOOL_NOT_FOUND", "The tool does not exist."),
    ("TOOL_UNVERIFIED", "A tool of an MCP server could not be compared with its lock."),
    ("TOO_MANY_CALLS", "The turn has too many calls."),
    ("TRUNCATED", "The model's turn was truncated, and the call with it."),
    ("UNKNOWN", "The outcome of the call is unknown."),
    ("UNSAFE_PATH_PARAM", "A value would change the structure of the path that contains it."),
    ("UNUSABLE_NEXT_PAGE", "The URL of the next page cannot be used."),
    ("URL_TOO_LONG", "The URL is too long."),
    ("WRONG_ENGINE", "The engine does not support this kind of tool."),
];

/// The codes of failures that concern a credential, which only the operator of the program can fix.
#[cfg(feature = "tracing")]
pub(crate) const CREDENTIALS: &[&str] =
    &["CREDENTIAL_REFUSED", "MISSING_CREDENTIAL", "OAUTH_ERROR", "PROXY_REFUSED"];

/// The codes that were lower case before version 0.2.
const RENAMED: &[&str] = &[
    "DEPENDENCY_NOT_MET",
    "FILE_ERROR",
    "HTTP_ERROR",
    "INCOMPLETE_LIST",
    "INVALID_BODY",
    "INVALID_HEADER",
    "INVALID_REQUEST",
    "INVALID_SERVER_VARIABLE",
    "LIST_TOO_LONG",
    "MISSING_CREDENTIAL",
    "NO_BASE_URL",
    "NO_PAGINATION",
    "OAUTH_ERROR",
    "READ_ERROR",
    "REPEATED_PAGE",
    "SERVICE_UNAVAILABLE",
    "TOOL_CHANGED",
    "TOOL_UNVERIFIED",
    "UNSAFE_PATH_PARAM",
    "UNUSABLE_NEXT_PAGE",
    "URL_TOO_LONG",
    "WRONG_ENGINE",
];

/// Returns the current form of a code. Audit records, cassettes and recordings of earlier versions contain some codes
/// in lower case, such as `missing_credential`. The readers in this crate convert them, until the next minor version.
#[must_use]
pub fn current(code: &str) -> &str {
    let is_old_form =
        |new: &&&str| code.eq_ignore_ascii_case(new) && code.bytes().all(|byte| !byte.is_ascii_uppercase());
    RENAMED.iter().find(is_old_form).copied().unwrap_or(code)
}

/// Whether this crate defines the code.
#[cfg(any(test, feature = "otel"))]
pub(crate) fn is_own(code: &str) -> bool {
    ALL.binary_search_by_key(&code, |(other, _)| other).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_uniform() {
        assert!(ALL.is_sorted_by(|(code, _), (next, _)| code < next));
        for (code, meaning) in ALL {
            assert!(code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{code}");
            assert!(meaning.ends_with('.'), "{code}: {meaning}");
        }
        assert!(RENAMED.iter().all(|code| is_own(code)));
    }

    #[test]
    fn old_codes_are_renamed_and_tool_codes_kept() {
        assert_eq!(current("missing_credential"), "MISSING_CREDENTIAL");
        assert_eq!(current("MCP_LOST"), "MCP_LOST");
        for code in ["resource_locked", "timeout", "Missing_Credential", ""] {
            assert_eq!(current(code), code);
        }
    }
}
