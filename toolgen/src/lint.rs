//! Lints on the descriptions of compiled tools, and the severity levels of all problems.

use std::collections::HashMap;

use serde_json::Value;
use toolgen_core::ExecutionPlan;
use toolgen_core::spec::lint::{self as texts, Finding, Lint};

use crate::catalogue;
use crate::options::Options;
use crate::problem::{Code, Level, Problems, Severity, codes};
use crate::source::{Document, Pointer};
use crate::tool::{Program, Tool};

/// Reports lints on the descriptions of a compiled document, and applies the severity levels to all its problems:
/// those of a manifest's `lints`, and before them those of the options.
///
/// `cargo toolgen check` and [`Build`](crate::Build) call this; [`compile`](crate::compile) does not.
pub fn lint(document: &Document, program: &Program, options: &Options, problems: &mut Problems) {
    let tools = program.all_tools();
    let by_name: HashMap<&str, &Tool> = tools.iter().map(|tool| (tool.spec.name.as_str(), *tool)).collect();
    for finding in texts::lint(tools.iter().map(|tool| &tool.spec)) {
        let Some(tool) = by_name.get(finding.tool.as_str()) else { continue };
        let is_own = tool.origin.source == document.source;
        if is_reported_elsewhere(finding.lint, tool, is_own && program.kind == "manifest") {
            continue;
        }
        let pointer = location(&finding, tool, is_own.then_some(&document.root));
        let code = code(finding.lint);
        problems.report_in(&tool.origin.source, code, &pointer, finding.message, finding.help);
    }
    apply_levels(program, options, problems);
}

/// Applies the severity levels of the options and of a manifest to the problems of a compiled document, without
/// linting. Names that are not codes are reported.
pub fn apply_levels(program: &Program, options: &Options, problems: &mut Problems) {
    let levels = options.levels.over(&program.levels);
    for (name, level) in levels.by_code() {
        let help =
            "name a code of a warning or a note, or `warnings`; `cargo toolgen explain` lists the codes";
        match catalogue::find(name) {
            None => {
                let message = format!("there is no code `{name}`, so `{}` has no effect", level.as_str());
                let help = match catalogue::closest_code(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => help.to_owned(),
                };
                problems.report(codes::NO_CODE, &Pointer::ROOT, message, help);
            }
            Some(code) if code.severity() == Severity::Error && level != Level::Deny => {
                let name = code.id();
                let message = format!("`{name}` stays an error: something is omitted where it is reported");
                problems.report(codes::LEVEL, &Pointer::ROOT, message, help);
            }
            Some(_) => {}
        }
    }
    problems.apply(&levels);
}

/// Whether another code already reports the same problem of a tool, or the document declares that it is intended.
fn is_reported_elsewhere(lint: Lint, tool: &Tool, is_of_manifest: bool) -> bool {
    match lint {
        // Descriptions of documents are checked in the document itself: those of tools no longer have such
        // characters.
        Lint::HiddenCharacters => true,
        Lint::Instructions => matches!(tool.call, ExecutionPlan::Mcp(_)),
        // An error, unless `undocumented: true`.
        Lint::NoDescription | Lint::NoArgumentDescription => is_of_manifest,
        // Only the author of a tool can do something about it. For other tools, notes report missing descriptions.
        Lint::Vague => !is_of_manifest,
        _ => false,
    }
}

const fn code(lint: Lint) -> Code {
    match lint {
        Lint::NoDescription => codes::NO_DESCRIPTION,
        Lint::NoArgumentDescription => codes::NO_ARGUMENT_DESCRIPTION,
        Lint::RestatesName => codes::RESTATES_NAME,
        Lint::ArgumentRestatesName => codes::ARGUMENT_RESTATES_NAME,
        Lint::NoUnit => codes::NO_UNIT,
        Lint::NearDuplicate => codes::NEAR_DUPLICATE,
        Lint::HiddenCharacters => codes::HIDDEN,
        Lint::Instructions => codes::INSTRUCTIONS,
        Lint::Example => codes::INVALID_EXAMPLE,
        Lint::Vague => codes::VAGUE,
        Lint::NoValue => codes::NO_VALUE,
    }
}

/// Returns the location of a finding: that of the argument if the finding is about an argument below the tool,
/// otherwise that of the tool.
fn location(finding: &Finding, tool: &Tool, root: Option<&Value>) -> Pointer {
    let tool_pointer = &tool.origin.pointer;
    let [argument] = finding.arguments.as_slice() else { return tool_pointer.clone() };
    let name = argument.split(['.', '[']).next().unwrap_or_default();
    let parameters_pointer = tool_pointer.child("parameters");
    match root.and_then(|root| root.pointer(parameters_pointer.as_str())) {
        Some(Value::Object(parameters)) if parameters.contains_key(name) => parameters_pointer.child(name),
        Some(Value::Array(parameters)) => {
            let index = parameters
                .iter()
                .position(|parameter| parameter.get("name").and_then(Value::as_str) == Some(name));
            index.map_or_else(|| tool_pointer.clone(), |index| parameters_pointer.item(index))
        }
        _ => tool_pointer.clone(),
    }
}
