//! Troubleshooting pages, generated from the specification of a tool.

use std::fmt::Write as _;

use super::write_line;
use crate::base::frozen::Text;
use crate::spec::{Requirement, RequirementKind, Timeout, ToolSpec};

/// Returns a Markdown page for callers whose calls of a tool fail. For each declared requirement, it has the error
/// message that a caller gets, and the fix.
///
/// The messages equal those of the errors, so you can search the page for a message from a log.
#[must_use]
pub fn troubleshooting(spec: &ToolSpec) -> String {
    let mut out = format!("# Troubleshooting `{}`\n", spec.name);
    for (text, help) in rejections(spec, true) {
        write_section(&mut out, &text, &help);
    }
    if let Timeout::Millis(millis) = spec.timeout {
        let text = format!("Tool exceeded timeout of {:?}", std::time::Duration::from_millis(millis));
        write_section(&mut out, &text, "The tool's time limit was reached. Request less data per call.");
    }
    let text = format!("Tool not found: {}", spec.name);
    write_section(&mut out, &text, "The program does not offer the tool, or the name is misspelled.");
    out
}

/// Returns the message and the fix of each rejection that the specification declares. A page also has the rejections
/// that every tool can have.
fn rejections(spec: &ToolSpec, is_page: bool) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let mut add = |text: String, help: String| entries.push((text, help));
    for requirement in spec.requires.iter().filter(|requirement| requirement.kind != RequirementKind::Service)
    {
        add(requirement.message_or_default().into_owned(), fix_for(requirement));
    }
    if is_page
        && spec
            .requires
            .iter()
            .any(|requirement| !requirement.optional && requirement.kind != RequirementKind::Service)
    {
        let text = format!("Cannot execute '{}': prerequisites not met.", spec.name);
        let help = "The lines below it list the missing prerequisites and the tools to call first, in order. The \
                      error code is `DEPENDENCY_NOT_MET`.";
        add(text, help.to_owned());
    }
    for requirement in spec.requires.iter().filter(|requirement| requirement.kind == RequirementKind::Service)
    {
        let help = format!("The program must provide the service `{}`.", requirement.name);
        let text = match requirement.optional {
            true => requirement.message_or_default().into_owned(),
            false => {
                format!(
                    "failed to create tool '{}': {}",
                    spec.name,
                    requirement.message_for(spec.name.as_str())
                )
            }
        };
        add(text, help);
    }
    for scope in if is_page { spec.required_scopes() } else { nondefault_scopes(spec) } {
        let text = format!("Permission denied: API key missing scope '{scope}' for tool '{}'", spec.name);
        add(text, format!("Use an API key that has the scope `{scope}`."));
    }
    if is_page {
        let text = format!("Permission denied: API key does not have access to tool '{}'", spec.name);
        add(text, "The API key is limited to a list of tools. Add this tool to the list.".to_owned());
    }
    if !spec.service.is_empty() {
        let text = format!("Service '{}' is temporarily unavailable. Please try again later.", spec.service);
        let help = "Several calls of the service failed, so further calls are blocked for a while. Wait, then retry.";
        add(text, help.to_owned());
    }
    entries
}

/// Writes the lines of the full documentation about the requirements of a tool's calls, and the fix for each
/// rejection. A tool that declares nothing has no such lines.
pub(super) fn write_requirements(out: &mut String, spec: &ToolSpec) {
    let requirements: Vec<String> = spec.requires.iter().map(describe_requirement).collect();
    write_line(out, "Requires", &requirements.join(", "));
    let scopes: Vec<&str> = nondefault_scopes(spec).iter().map(|scope| scope.as_str()).collect();
    write_line(out, "Scopes", &scopes.join(", "));
    let rejections = rejections(spec, false);
    if !rejections.is_empty() {
        out.push_str("  - Troubleshooting:\n");
    }
    for (text, help) in rejections {
        let _ =
            writeln!(out, "    - {}: {help}", text.lines().next().unwrap_or_default().trim_end_matches('.'));
    }
}

/// Returns the scopes of a tool, if they differ from the default scopes for its effects.
fn nondefault_scopes(spec: &ToolSpec) -> &[Text] {
    if *spec.scopes == *spec.default_scopes() { &[] } else { &spec.scopes }
}

/// Describes a requirement in a few words.
fn describe_requirement(requirement: &Requirement) -> String {
    let kind = match requirement.kind {
        RequirementKind::Context => "context value",
        RequirementKind::Session => "session state",
        RequirementKind::Entity => "entity",
        RequirementKind::Tool => "tool",
        RequirementKind::Service => "service",
        RequirementKind::Custom => "check",
    };
    let argument = match requirement.argument.as_str() {
        "" => String::new(),
        argument => format!(" by `{argument}`"),
    };
    let optional = if requirement.optional { " (optional)" } else { "" };
    format!("{kind} `{}`{argument}{optional}", requirement.name)
}

fn write_section(out: &mut String, text: &str, help: &str) {
    let title = text.lines().next().unwrap_or_default();
    let _ = write!(out, "\n## {title}\n\n{help}\n");
}

fn fix_for(requirement: &Requirement) -> String {
    let name = &requirement.name;
    let help = match requirement.kind {
        RequirementKind::Context => format!(
            "The context of the call has no value `{name}`, or an empty one. Ensure you have authenticated; the \
             program sets the values that it knows about its callers."
        ),
        RequirementKind::Session => format!(
            "The session of the call has no state `{name}`. Make the call in a session, after the tool that sets \
             the state; calls without a session have no state."
        ),
        RequirementKind::Entity => format!(
            "The argument `{}` does not name an existing {name}, or the caller cannot access it. Check the spelling.",
            requirement.argument
        ),
        RequirementKind::Tool => {
            format!("Call `{name}` in the same session first. Only successful calls count.")
        }
        RequirementKind::Service | RequirementKind::Custom => {
            format!("The program's check `{name}` rejected the call.")
        }
    };
    if requirement.optional {
        format!("{help} This is only reported in the details of the result; the tool still runs.")
    } else {
        help
    }
}
