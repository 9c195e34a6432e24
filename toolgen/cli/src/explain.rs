//! `explain`: explains the code of a problem.

use std::io;

use serde_json::json;
use toolgen::{Code, catalogue};
use toolgen_runtime::call::codes;

use super::Outcome;
use super::args::Explain;
use super::output::Output;

/// Prints the page of a code, or the list of all codes.
pub(super) fn run(task: &Explain, output: &mut Output) -> io::Result<Outcome> {
    let Some(wanted) = &task.code else {
        return list(task.format.json, output).map(|()| Outcome::Fine);
    };
    let upper = wanted.to_ascii_uppercase();
    if let Some((code, meaning)) = codes::ALL.iter().find(|(code, _)| *code == upper) {
        let page = [*meaning, remedy(code), FOUND];
        if task.format.json {
            output.json(
                &json!({ "code": code, "severity": "failure", "title": meaning, "text": page.join("\n\n") }),
            )?;
            return output.line("").map(|()| Outcome::Fine);
        }
        output.line(&format!("failure[{code}]: {}", page.join("\n\n")))?;
        return Ok(Outcome::Fine);
    }
    let Some(code) = catalogue::find(wanted) else {
        // `warnings` is a word for levels, which has no page.
        let near = catalogue::closest_code(wanted).filter(|near| catalogue::find(near).is_some());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        output
            .complain(&format!("there is no code `{wanted}`; {near}`cargo toolgen explain` lists them all"));
        return Ok(Outcome::Usage);
    };
    if task.format.json {
        output.json(&describe(code))?;
        output.line("")?;
    } else {
        let (severity, page) = (code.severity(), code.page());
        output.line(&format!("{severity}[{code}]: {}\n\n{}", page.title, page.text.trim()))?;
    }
    Ok(Outcome::Fine)
}

/// Where the code of a failed call is found.
const FOUND: &str = "Answers of tools have this code, and so have audit records (`error_code`), spans and metrics (`error.type`). All such\ncodes are listed in docs/codes.md.";

/// Says what to do about a failed call.
fn remedy(code: &str) -> &'static str {
    match code {
        "MISSING_CREDENTIAL" => {
            "Set the variable that the message names, or name another one by `--auth SCHEME=ENV_VAR`."
        }
        "CREDENTIAL_REFUSED" | "OAUTH_ERROR" | "PROXY_REFUSED" => {
            "Check the credential: that it has not expired, is for this host, and has the scopes that the operation needs."
        }
        "HTTP_STATUS" | "NOT_FOUND" | "INVALID_REQUEST" => {
            "Read the answer of the service, which the result contains; `cargo toolgen call --dry-run` shows the request."
        }
        "HTTP_ERROR" | "READ_ERROR" | "TIMEOUT" => {
            "Try again later if the call may be repeated. Check the host and the network, and the `timeout` of the tool."
        }
        "NO_BASE_URL" | "INVALID_SERVER" => {
            "Say where requests go: `--base-url URL`, or `HttpEngineBuilder::base_url`."
        }
        "MCP_LOST" => {
            "The server ended or closed the connection, so whether the call had an effect is unknown. Read its standard\nerror; the next call starts it again."
        }
        "MCP_UNREACHABLE" | "MCP_REFUSED" | "MCP_FAILED" => {
            "Start the command of the server by hand, or call its URL, and compare its versions with the lock."
        }
        "TOOL_CHANGED" | "TOOL_UNVERIFIED" => {
            "`cargo toolgen mcp verify` shows what changed; if it is fine, `cargo toolgen mcp lock` writes the lock again."
        }
        "PERMISSION_DENIED" => {
            "Change the policy, the scopes of the principal, or the limits of the context."
        }
        "RATE_LIMITED" => "Wait, or raise the limit: that of the program, or that of the service.",
        "PROGRAM_MISSING" => {
            "Install the program where the tool runs: on this machine, or in the image of its container."
        }
        "APPROVAL_REQUIRED" => {
            "Someone approves or refuses the call: `cargo toolgen approvals` shows those that wait."
        }
        "INVALID_PARAMS" | "INVALID_INPUT" | "MISSING_PARAMETER" | "MALFORMED_CALL" => {
            "The caller corrects the call: the message says what is wrong with which argument."
        }
        "INVALID_OUTPUT" => "Correct the tool, or what it declares as its `output`.",
        _ => "The message of the failure, and the operator's text in the audit log, say what to do.",
    }
}

fn list(json: bool, output: &mut Output) -> io::Result<()> {
    if json {
        let codes: Vec<_> = catalogue::codes().into_iter().map(describe).collect();
        output.json(&json!({ "codes": codes }))?;
        return output.line("");
    }
    for code in catalogue::codes() {
        output.line(&format!("{code}  {:7}  {}", code.severity().as_str(), code.page().title))?;
    }
    output.line("\nThe first letter says how bad a problem is: E, something is left out; W, something is compiled less\nfaithfully; N, something is worth knowing. `cargo toolgen explain CODE` says more,\nalso about the codes of failed calls, such as HTTP_STATUS: docs/codes.md lists those.")
}

fn describe(code: Code) -> serde_json::Value {
    let page = code.page();
    json!({
        "code": code.id(),
        "severity": code.severity().as_str(),
        "title": page.title,
        "text": page.text.trim(),
    })
}
