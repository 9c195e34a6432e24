//! The codes of errors, as answers, audit records, spans and metrics have them.
//!
//! A tool may have codes of its own; those of this crate are all here, each with what it means.

/// The codes of this crate, and what each means.
pub const ALL: &[(&str, &str)] = &[
    ("AGENT_ABORTED", "A sub-agent gave up."),
    ("AGENT_LIMIT", "A sub-agent reached its limit of turns, tokens or time."),
    ("AGENT_LOOPED", "A sub-agent was stopped because it went in circles."),
    ("APPROVAL_EXPIRED", "An approval came too late."),
    ("APPROVAL_INVALID", "An approval is not of this call, or was changed."),
    ("APPROVAL_NOT_QUEUED", "The approval queue could not take the call."),
    ("APPROVAL_NOT_SHOWN", "The call cannot be shown whole to whoever approves it."),
    ("APPROVAL_REQUIRED", "The call waits for an approval."),
    ("APPROVAL_UNKNOWN", "Nobody can tell whether the approval was used before."),
    ("APPROVAL_USED", "The approval was used before."),
    ("AUDIT_FAILED", "A durable audit log could not write the intent, so the call was not made."),
    ("CALLS_EXCEEDED", "A tool made too many calls of its own."),
    ("CALL_ENDED", "A tool called another after its own call had ended."),
    ("CANCELLED", "The caller gave up."),
    ("CASSETTE_DIFFERENCE", "A request is not on the cassette."),
    ("COMMAND_FAILED", "A program failed."),
    (
        "CREDENTIAL_REFUSED",
        "A service refuses the credential that it was sent (401), or what it is asked for with it (403).",
    ),
    ("DEPENDENCY_NOT_MET", "What the tool requires does not hold, such as another call before it."),
    ("DEPTH_EXCEEDED", "Tools or agents call one another too deeply."),
    ("EFFECT_FAILED", "What a tool asked of the program failed."),
    ("EFFECT_UNHANDLED", "The program does not do what a tool asks of it."),
    ("EXECUTION_ERROR", "The tool failed."),
    ("FILE_ERROR", "A file argument cannot be used."),
    ("HTTP_ERROR", "A request got no answer: the network failed."),
    ("HTTP_STATUS", "A service answered with another status of failure; `details.status` has it."),
    ("INCOMPLETE_LIST", "A list ends before its own count of items."),
    ("INPUT_DECLINED", "The person who was asked gave no input."),
    ("INPUT_INVALID", "The input is not what the tool asked for."),
    ("INPUT_REQUEST_EXPIRED", "The input came too late."),
    ("INPUT_REQUEST_INVALID", "The input is not that of this call, or its request was changed."),
    ("INPUT_REQUEST_UNKNOWN", "Nobody can tell whether the input was given before."),
    ("INPUT_REQUEST_USED", "The input was given before."),
    ("INPUT_REQUIRED", "The call waits for input."),
    ("INPUT_ROUNDS", "The tool asked for input too often."),
    ("INVALID_BODY", "The body is missing, or is not what its media type needs."),
    ("INVALID_HEADER", "A value cannot be sent in a header."),
    ("INVALID_INPUT", "The arguments are not an object."),
    ("INVALID_OUTPUT", "The result is not as the tool declares it."),
    ("INVALID_PARAMS", "Arguments are wrong."),
    ("INVALID_REQUEST", "The request cannot be sent."),
    ("INVALID_SERVER", "The URL of the server cannot be called: it is not of HTTP, or holds a user name."),
    ("INVALID_SERVER_VARIABLE", "A variable of the server has a value that is not allowed."),
    ("LIST_TOO_LONG", "A list has more items than were to be read."),
    ("MALFORMED_CALL", "The model's call cannot be read."),
    ("MCP_FAILED", "A tool of an MCP server reports a failure."),
    ("MCP_LOST", "An MCP server went away during the call."),
    ("MCP_REFUSED", "An MCP server refuses the call."),
    ("MCP_UNREACHABLE", "An MCP server cannot be reached."),
    ("MISSING_CREDENTIAL", "The call needs a credential, and none is set."),
    ("MISSING_PARAMETER", "Arguments are missing."),
    ("NOT_FOUND", "What was asked for is not there: a tool to describe, or what a request names (404)."),
    ("NO_BASE_URL", "The document names no server, and the program no base URL."),
    ("NO_PAGINATION", "The operation does not come in pages."),
    ("OAUTH_ERROR", "An authorization server gives no token."),
    ("PERMISSION_DENIED", "A policy forbids the call."),
    ("PROGRAM_MISSING", "A program is not there."),
    ("PROXY_REFUSED", "A proxy asks for a credential (407)."),
    ("RATE_LIMITED", "There were too many calls, by a limit of the program or of a service (429)."),
    ("RATE_LIMIT_UNKNOWN", "The shared limit cannot be read."),
    ("READ_ERROR", "The answer broke off."),
    ("REPEATED_FAILURE", "The same call failed too often, and was not made again."),
    ("REPEATED_PAGE", "A service leads from one page back to the same."),
    ("REPLAY_DIFFERENCE", "A call is not in the recording."),
    ("RESULT_NOT_FOUND", "There is no more of a result to read."),
    ("RESULT_UNKNOWN", "The shared store of results cannot be read."),
    ("SERVICE_UNAVAILABLE", "A service is not there, or failed too often to be called now."),
    ("SESSION_UNKNOWN", "The shared store of sessions cannot be read."),
    ("SKIPPED", "The call was passed over."),
    ("STOPPED", "The model's turn was stopped before the call was whole."),
    ("TIMEOUT", "The call took too long."),
    ("TOOL_CHANGED", "A tool of an MCP server is not as its lock has it."),
    ("TOOL_NOT_FOUND", "There is no such tool."),
    ("TOOL_UNVERIFIED", "Whether a tool is as its lock has it cannot be told."),
    ("TOO_MANY_CALLS", "The turn has too many calls."),
    ("TRUNCATED", "The model's turn was cut off, and the call with it."),
    ("UNKNOWN", "How the call ended cannot be told."),
    ("UNSAFE_PATH_PARAM", "A value would change the path that it is inserted into."),
    ("UNUSABLE_NEXT_PAGE", "The address of the next page cannot be used."),
    ("URL_TOO_LONG", "The URL is too long to be sent."),
    ("WRONG_ENGINE", "The engine does not run this kind of tool."),
];

/// The codes of failures that are about a credential, which only the operator of the program can mend.
#[cfg(feature = "tracing")]
pub(crate) const CREDENTIALS: &[&str] =
    &["CREDENTIAL_REFUSED", "MISSING_CREDENTIAL", "OAUTH_ERROR", "PROXY_REFUSED"];

/// The codes that were written in small letters before version 0.2.
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

/// Returns a code as it is written now. Records, cassettes and recordings that an earlier version wrote have some in
/// small letters, such as `missing_credential`; readers in this crate have already changed those. The next minor
/// version no longer reads them.
#[must_use]
pub fn current(code: &str) -> &str {
    let is_old =
        |new: &&&str| code.eq_ignore_ascii_case(new) && code.bytes().all(|byte| !byte.is_ascii_uppercase());
    RENAMED.iter().find(is_old).copied().unwrap_or(code)
}

/// Whether a code is one of this crate.
#[cfg(any(test, feature = "otel"))]
pub(crate) fn is_own(code: &str) -> bool {
    ALL.binary_search_by_key(&code, |(known, _)| known).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_have_one_voice() {
        assert!(ALL.is_sorted_by(|(one, _), (next, _)| one < next));
        for (code, meaning) in ALL {
            assert!(code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{code}");
            assert!(meaning.ends_with('.'), "{code}: {meaning}");
        }
        assert!(RENAMED.iter().all(|code| is_own(code)));
    }

    #[test]
    fn old_spellings_are_read_and_codes_of_tools_are_left_alone() {
        assert_eq!(current("missing_credential"), "MISSING_CREDENTIAL");
        assert_eq!(current("MCP_LOST"), "MCP_LOST");
        for own in ["resource_locked", "timeout", "Missing_Credential", ""] {
            assert_eq!(current(own), own);
        }
    }
}
