//! `explain`: explains a diagnostic code, or the code of a failed call.

use std::io;

use serde_json::json;
use toolgen::{Code, catalogue};
use toolgen_runtime::call::codes;

use super::Outcome;
use super::args::Explain;
use super::output::Output;

/// Prints the description of a code, or the list of all codes.
pub(super) fn run(task: &Explain, output: &mut Output) -> io::Result<Outcome> {
    let Some(name) = &task.code else {
        return list(task.format.json, output).map(|()| Outcome::Fine);
    };
    let upper = name.to_ascii_uppercase();
    if let Some((code, meaning)) = codes::ALL.iter().find(|(code, _)| *code == upper) {
        let page = [*meaning, help_for(code), CODE_LOCATIONS];
        if task.format.json {
            output.json(
                &json!({ "code": code, "severity": "failure", "title": meaning, "text": page.join("\n\n") }),
            )?;
            return output.line("").map(|()| Outcome::Fine);
        }
        output.line(&format!("failure[{code}]: {}", page.join("\n\n")))?;
        return Ok(Outcome::Fine);
    }
    let Some(code) = catalogue::find(name) else {
        // `warnings` is a group of codes for `--deny`, which has no description.
        let hint = catalogue::closest_code(name).filter(|similar| catalogue::find(similar).is_some());
        let hint = hint.map_or_else(String::new, |similar| format!("did you mean `{similar}`? "));
        output.error(&format!("unknown code `{name}`; {hint}`cargo toolgen explain` lists all codes"));
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

/// Explains where codes of failed calls occur.
const CODE_LOCATIONS: &str = "Results of failed calls have this code, and so have audit records (`error_code`), spans and metrics (`error.type`).\ndocs/codes.md lists all codes.";

/// Returns the help for a failed call.
fn help_for(code: &str) -> &'static str {
    match code {
        "MISSING_CREDENTIAL" => {
            "Set the variable that the message names, or choose another one with `--auth SCHEME=ENV_VAR`."
        }
        "CREDENTIAL_REFUSED" | "OAUTH_ERROR" | "PROXY_REFUSED" => {
            "Check the credential: that it has not expired, is for this host, and has the scopes that the operation needs."
        }
        "HTTP_STATUS" | "NOT_FOUND" | "INVALID_REQUEST" => {
            "Read the response of the service in the result; `cargo toolgen call --dry-run` shows the request."
        }
        "HTTP_ERROR" | "READ_ERROR" | "TIMEOUT" => {
            "Retry later if the call is safe to repeat. Check the host and the network, and the `timeout` of the tool."
        }
        "NO_BASE_URL" | "INVALID_SERVER" => {
            "Set the base URL of requests: `--base-url URL`, or `HttpEngineBuilder::base_url`."
        }
        "MCP_LOST" => {
            "The server ended or closed the connection, so whether the call had an effect is unknown. Read its standard\nerror; the next call starts it again."
        }
        "MCP_UNREACHABLE" | "MCP_REFUSED" | "MCP_FAILED" => {
            "Start the command of the server by hand, or call its URL, and compare its versions with the lock."
        }
        "TOOL_CHANGED" | "TOOL_UNVERIFIED" => {
            "`cargo toolgen mcp verify` shows what changed; if the change is acceptable, `cargo toolgen mcp lock` updates the lock."
        }
        "PERMISSION_DENIED" => {
            "Change the policy, the scopes of the principal, or the limits of the context."
        }
        "RATE_LIMITED" => "Wait, or raise the limit of your program or of the service.",
        "PROGRAM_MISSING" => {
            "Install the program where the tool runs: on this machine, or in the image of its container."
        }
        "APPROVAL_REQUIRED" => {
            "Approve or deny the call: `cargo toolgen approvals` lists the calls that wait."
        }
        "INVALID_PARAMS" | "INVALID_INPUT" | "MISSING_PARAMETER" | "MALFORMED_CALL" => {
            "Correct the arguments of the call: the message names each invalid one."
        }
        "INVALID_OUTPUT" => "Correct the tool, or what it declares as its `output`.",
        _ => "Read the message of the failure, and the operator's text in the audit log.",
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
    output.line("\nThe first letter is the severity: E (error), something was skipped; W (warning), something was compiled with\na loss; N, a note. `cargo toolgen explain CODE` explains a code,\nalso one of a failed call, such as HTTP_STATUS: docs/codes.md lists those.")
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
