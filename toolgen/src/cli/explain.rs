//! `explain`: explains the code of a problem.

use std::io;

use serde_json::json;
use toolgen::{Code, catalogue};

use super::Outcome;
use super::args::Explain;
use super::output::Output;

/// Prints the page of a code, or the list of all codes.
pub(super) fn run(task: &Explain, output: &mut Output) -> io::Result<Outcome> {
    let Some(wanted) = &task.code else {
        return list(task.json, output).map(|()| Outcome::Fine);
    };
    let Some(code) = catalogue::find(wanted) else {
        // `warnings` is a word for levels, which has no page.
        let near = catalogue::meant(wanted).filter(|near| catalogue::find(near).is_some());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        output
            .complain(&format!("there is no code `{wanted}`; {near}`cargo toolgen explain` lists them all"));
        return Ok(Outcome::Usage);
    };
    if task.json {
        output.json(&describe(code))?;
        output.line("")?;
    } else {
        let (severity, page) = (code.severity(), code.page());
        output.line(&format!("{severity}[{code}]: {}\n\n{}", page.title, page.text.trim()))?;
    }
    Ok(Outcome::Fine)
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
    output.line("\nThe first letter says how bad a problem is: E, something is left out; W, something is compiled less\nfaithfully; N, something is worth knowing. `cargo toolgen explain CODE` says more.")
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
