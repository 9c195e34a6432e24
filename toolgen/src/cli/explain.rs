//! `explain`: what the code of a problem means.

use std::io;

use serde_json::json;
use toolgen::problem::codes::{self, Page};

use super::Outcome;
use super::args::Explain;
use super::output::Output;

/// The page of a code, or the list of all codes.
pub(super) fn run(task: &Explain, output: &mut Output) -> io::Result<Outcome> {
    let Some(wanted) = &task.code else {
        return list(task.json, output).map(|()| Outcome::Fine);
    };
    let Some(page) = codes::Code::parse(wanted).and_then(codes::Code::page) else {
        output.complain(&format!("there is no code `{wanted}`; `cargo toolgen explain` lists them all"));
        return Ok(Outcome::Usage);
    };
    if task.json {
        output.json(&describe(page))?;
        output.line("")?;
    } else {
        let (severity, code) = (page.code.severity(), page.code);
        output.line(&format!("{severity}[{code}]: {}\n\n{}", page.title, page.text.trim()))?;
    }
    Ok(Outcome::Fine)
}

fn list(json: bool, output: &mut Output) -> io::Result<()> {
    if json {
        let pages: Vec<_> = codes::pages().map(describe).collect();
        output.json(&json!({ "codes": pages }))?;
        return output.line("");
    }
    for page in codes::pages() {
        output.line(&format!("{}  {:7}  {}", page.code, page.code.severity().as_str(), page.title))?;
    }
    output.line("\nThe first letter says how bad a problem is: E, something is left out; W, something is compiled less\nfaithfully; N, something is worth knowing. `cargo toolgen explain CODE` says more.")
}

fn describe(page: &Page) -> serde_json::Value {
    json!({
        "code": page.code.id(),
        "severity": page.code.severity().as_str(),
        "title": page.title,
        "text": page.text.trim(),
    })
}
