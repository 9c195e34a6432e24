//! Compiles the documents of a command, and reports their diagnostics.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use toolgen::problem::keep_common;
use toolgen::selector::suggestions;
use toolgen::source::Pointer;
use toolgen::{Document, Problem, Problems, Program, Severity, Tool};
use toolgen_runtime::spec::Requirement;
use toolgen_runtime::{ExecutionPlan, ToolSpec};

use super::args::Selection;
use super::fetch;
use super::output::Output;

/// A document and its compiled form.
pub(super) struct Compiled {
    pub(super) path: PathBuf,
    /// `None` if the document could not be compiled.
    pub(super) program: Option<Program>,
    pub(super) problems: Problems,
}

/// Compiles the documents of a command. A diagnostic about options is reported only if all documents have it.
pub(super) fn compile_each(selection: &Selection, output: &mut Output) -> Vec<Compiled> {
    let count = selection.documents().len();
    let documents = selection.documents().iter().enumerate();
    let mut all: Vec<Compiled> = documents
        .map(|(index, path)| {
            output.document_number = (count > 1).then_some((index + 1, count));
            compile(path, selection, output)
        })
        .collect();
    output.document_number = None;
    all.extend(selection.exported.iter().map(|program| compile_exported(program, selection, output)));
    let with_program = all.iter_mut().filter(|compiled| compiled.program.is_some());
    keep_common(with_program.map(|compiled| &mut compiled.problems));
    all
}

/// Compiles a document: a file, `-` for standard input, or a URL, which is fetched.
pub(super) fn compile(path: &Path, selection: &Selection, output: &mut Output) -> Compiled {
    output.progress(&format!("reading {}", path.display()));
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let limit = toolgen::source::MAX_BYTES as u64 + 1;
        return match io::stdin().lock().take(limit).read_to_end(&mut bytes) {
            Ok(_) => compile_bytes(path, bytes, selection),
            Err(error) => unreadable(path, &format!("the standard input cannot be read: {error}"), output),
        };
    }
    if let Some(url) = fetch::url(path) {
        return match fetch::fetch(url, selection.private_hosts()) {
            Ok(fetched) => {
                output.note(&format!("fetched {}, {} bytes", fetched.url, fetched.bytes.len()));
                output.progress(&format!("compiling {}", fetched.url));
                let mut compiled = compile_bytes(Path::new(&fetched.url), fetched.bytes, selection);
                if let Some(program) = &mut compiled.program {
                    fetch::resolve_servers(program, &fetched.url);
                }
                compiled
            }
            Err(error) => unreadable(path, &error, output),
        };
    }
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems);
    let program = document.and_then(|document| {
        output.progress(&format!("compiling {}", path.display()));
        program(&document, selection, &mut problems)
    });
    Compiled { path: path.to_path_buf(), program, problems }
}

/// Reports why a document cannot be read, and returns it without a program.
fn unreadable(path: &Path, reason: &str, output: &mut Output) -> Compiled {
    output.error(reason);
    Compiled { path: path.to_path_buf(), program: None, problems: Problems::new() }
}

fn compile_bytes(path: &Path, bytes: Vec<u8>, selection: &Selection) -> Compiled {
    let mut problems = Problems::new();
    let document = Document::from_bytes(path, bytes, &mut problems);
    let program = document.and_then(|document| program(&document, selection, &mut problems));
    Compiled { path: path.to_path_buf(), program, problems }
}

fn program(document: &Arc<Document>, selection: &Selection, problems: &mut Problems) -> Option<Program> {
    let program = toolgen::compile(document, &selection.options, problems)?;
    if selection.lints {
        toolgen::lint(document, &program, &selection.options, problems);
    } else if !selection.options.levels.is_empty() {
        toolgen::apply_levels(&program, &selection.options, problems);
    }
    Some(program)
}

/// Runs a program of the crate that prints its tools, and compiles its output.
fn compile_exported(program: &[String], selection: &Selection, output: &mut Output) -> Compiled {
    let path = PathBuf::from(program.join(" "));
    output.progress(&format!("running cargo run {}", path.display()));
    let mut cargo = super::cargo();
    cargo.arg("run").arg("--quiet").args(program).stdin(Stdio::null()).stderr(Stdio::inherit());
    let reason = match cargo.output() {
        Ok(process) if process.status.success() && is_export(&process.stdout) => {
            return compile_bytes(&path, process.stdout, selection);
        }
        Ok(process) if process.status.success() => format!(
            "`cargo run {}` did not print an export; the body of its `main` must be \
             `toolgen_runtime::export!(registry());`",
            path.display()
        ),
        Ok(process) => format!(
            "`cargo run {}` failed ({}); the body of its `main` must be `toolgen_runtime::export!(registry());`",
            path.display(),
            process.status
        ),
        Err(error) => format!("cargo could not be started: {error}"),
    };
    unreadable(&path, &reason, output)
}

/// Whether a program printed its tools as one JSON object, like `export!`.
fn is_export(stdout: &[u8]) -> bool {
    let value = serde_json::from_slice::<serde_json::Value>(stdout);
    value.is_ok_and(|value| value.get("toolgen_lock").is_some())
}

/// Compiles the documents of a command that uses their tools. Reports skipped operations and options that matched
/// nothing on standard error. If an exclusion matched nothing, no document counts as compiled: an operation that should
/// be excluded must not become a tool.
///
/// If all tools with these `names` exist, diagnostics about other parts are only counted.
///
/// Also returns whether every document could be compiled, no manifest has an error, tools are left, and no denied
/// diagnostic was reported.
pub(super) fn compile_all(
    selection: &Selection,
    names: &[String],
    output: &mut Output,
) -> (Vec<Compiled>, bool) {
    let mut all = compile_each(selection, output);
    if all.iter().any(|compiled| compiled.problems.missed_exclusion()) {
        all.iter_mut().for_each(|compiled| compiled.program = None);
    }
    let all_exist = !names.is_empty() && find_tools(&all, names).is_ok();
    let is_reported =
        |problem: &Problem| problem.code.is_choice() || (problem.severity() == Severity::Error && !all_exist);
    for Compiled { path, problems, .. } in &all {
        output.problems(problems, is_reported);
        for (severity, noun, location) in
            [(Severity::Error, "error", " elsewhere"), (Severity::Warning, "warning", "")]
        {
            let hidden = problems.as_slice().iter();
            let hidden =
                hidden.filter(|problem| problem.severity() == severity && !is_reported(problem)).count();
            if hidden > 0 && !(selection.quiet() && severity == Severity::Warning) {
                let path = path.display();
                let hosts = selection.private_hosts().iter().map(|host| format!(" --private-host {host}"));
                let options = selection.options.command_line() + &hosts.collect::<String>();
                let plural = if hidden == 1 { "" } else { "s" };
                output.note(&format!(
                    "{hidden} {noun}{plural}{location}; `cargo toolgen check {path}{options}` has the details"
                ));
            }
        }
    }
    let has_reported = |compiled: &Compiled| compiled.problems.as_slice().iter().any(is_reported);
    if all.iter().all(|compiled| compiled.tools().is_empty()) && all.iter().any(has_reported) {
        output.note("there are no tools, because of the errors above");
    }
    let nothing_left = all.iter().all(|compiled| compiled.tools().is_empty())
        && all.iter().any(|compiled| compiled.problems.selected_no_tools());
    let has_denied = all.iter().any(|compiled| compiled.problems.has_denied());
    let has_manifest_errors = !all_exist && all.iter().any(|compiled| compiled.problems.has_own_errors());
    let complete = all.iter().all(|compiled| compiled.program.is_some())
        && !nothing_left
        && !has_denied
        && !has_manifest_errors;
    (all, complete)
}

impl Compiled {
    /// Returns the tools, or an empty list if the document could not be compiled.
    pub(super) fn tools(&self) -> Vec<&Tool> {
        self.program.as_ref().map_or_else(Vec::new, Program::all_tools)
    }
}

/// Returns the tools of these names, or all tools without names. `Err` names the first that does not exist.
pub(super) fn find_tools<'a>(compiled: &'a [Compiled], names: &[String]) -> Result<Vec<&'a Tool>, String> {
    let all = || compiled.iter().flat_map(Compiled::tools);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut tools = Vec::with_capacity(names.len());
    for name in names {
        let tool = all().find(|tool| tool.spec.name.as_str() == name);
        tools.push(tool.ok_or_else(|| unknown(name, compiled))?);
    }
    Ok(tools)
}

/// Returns the tools of these names, like [`find_tools`]. Reports an unknown name, and returns `None`.
pub(super) fn find_tools_or_report<'a>(
    compiled: &'a [Compiled],
    names: &[String],
    output: &mut Output,
) -> Option<Vec<&'a Tool>> {
    find_tools(compiled, names).map_err(|message| output.error(&message)).ok()
}

/// Returns the message for a tool that does not exist or has errors.
fn unknown(name: &str, compiled: &[Compiled]) -> String {
    let problems = compiled.iter().flat_map(|compiled| compiled.problems.as_slice());
    let errors = problems.filter(|problem| problem.severity() == Severity::Error);
    let failed_tools: BTreeSet<String> = errors.filter_map(|problem| tool_at(&problem.pointer)).collect();
    if failed_tools.contains(name) {
        return format!("the tool `{name}` has errors, see above");
    }
    let tools = compiled.iter().flat_map(Compiled::tools).map(|tool| tool.spec.name.as_str());
    let similar = suggestions(name, tools.chain(failed_tools.iter().map(String::as_str)));
    let similar: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    match similar.split_last() {
        Some((only, [])) => format!("there is no tool `{name}`; did you mean {only}?"),
        Some((last, others)) => {
            format!("there is no tool `{name}`; did you mean {} or {last}?", others.join(", "))
        }
        None if compiled.iter().all(|compiled| compiled.tools().is_empty()) => {
            format!("there is no tool `{name}`; there are no tools")
        }
        None => format!("there is no tool `{name}`; `cargo toolgen list` lists the tools"),
    }
}

/// Returns the name of the tool that contains a location of a manifest.
fn tool_at(pointer: &Pointer) -> Option<String> {
    let mut tokens = pointer.tokens();
    tokens.next().filter(|first| first == "tools")?;
    tokens.next().map(|name| name.into_owned())
}

/// Removes the tools that cannot run, and reports the reasons. `is_met` returns whether a requirement is met without
/// the tools of these names.
pub(super) fn skip_unrunnable(
    program: &mut Program,
    is_met: impl Fn(&Requirement, &BTreeSet<String>) -> bool,
    output: &mut Output,
) {
    let mut skipped: BTreeSet<String> = BTreeSet::new();
    loop {
        let newly_skipped: Vec<(String, String)> = program
            .all_tools()
            .into_iter()
            .filter(|tool| !skipped.contains(tool.spec.name.as_str()))
            .filter_map(|tool| Some((tool.spec.name.to_string(), skip_reason(tool, &skipped, &is_met)?)))
            .collect();
        if newly_skipped.is_empty() {
            break;
        }
        for (name, reason) in newly_skipped {
            output.note(&format!("skipped `{name}`: {reason}"));
            skipped.insert(name);
        }
    }
    retain(program, &skipped);
}

/// Returns the reason why a tool cannot run, if there is one.
fn skip_reason(
    tool: &Tool,
    skipped: &BTreeSet<String>,
    is_met: impl Fn(&Requirement, &BTreeSet<String>) -> bool,
) -> Option<String> {
    let mut required = tool.spec.requires.iter().filter(|requirement| !requirement.optional);
    if let Some(requirement) = required.find(|requirement| !is_met(requirement, skipped)) {
        return Some(format!("its requirement \"{}\" cannot be met here", requirement.message_or_default()));
    }
    needs_program(&tool.call).or_else(|| {
        let missing = tool.call.tools().into_iter().find(|called| skipped.contains(*called));
        missing.map(|called| format!("it calls `{called}`"))
    })
}

/// Returns why only a program can run a call, for example because it is a function of the program.
pub(super) fn needs_program(call: &ExecutionPlan) -> Option<String> {
    match call {
        ExecutionPlan::Function => Some("it is a function that a program would have to implement".to_owned()),
        ExecutionPlan::Agent(_) => Some("it is an agent, which needs a model".to_owned()),
        ExecutionPlan::Effect(plan) => {
            Some(format!("it is the effect `{}`, which a program would have to handle", plan.name))
        }
        _ => None,
    }
}

fn retain(program: &mut Program, skipped: &BTreeSet<String>) {
    program.tools.retain(|tool| !skipped.contains(tool.spec.name.as_str()));
    // Toolsets may name removed tools, and the program has no agent that uses them.
    program.toolsets.clear();
    program.contexts.clear();
    program.parts.iter_mut().for_each(|part| retain(&mut part.program, skipped));
    // A rule about no tool would be an error.
    let specs: Vec<ToolSpec> = program.all_tools().into_iter().map(|tool| tool.spec.clone()).collect();
    program.rules = program.rules.about(&specs);
}
