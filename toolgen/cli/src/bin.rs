//! `bin`: generates a program that runs one tool call.

use std::io;
use std::path::Path;
use std::process::Stdio;

use toolgen::emit::{self, Needs};
use toolgen::write::Files;
use toolgen::{Options, Tool};
use toolgen_runtime::ExecutionPlan;

use super::Outcome;
use super::args::Bin;
use super::compile::{Compiled, compile_all, skip_unrunnable};
use super::generate::{NO_REGISTRY, check_crate_name, modules, runtime, write};
use super::output::Output;

/// Writes the crate of the program, and builds it with `--build`. Also returns `Problems` if no tool is left, or if the
/// build fails.
pub(super) fn run(task: &Bin, output: &mut Output) -> io::Result<Outcome> {
    let (mut compiled, complete) = compile_all(&task.selection, &[], output);
    for program in compiled.iter_mut().filter_map(|compiled| compiled.program.as_mut()) {
        // A program that runs one call meets no requirement.
        skip_unrunnable(program, |_, _| false, output);
    }
    let tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    if tools.is_empty() {
        output.error("no tool can run in a program");
        return Ok(Outcome::Problems);
    }
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.spec.name.as_str()).collect();
    names.sort_unstable();
    if let Some([duplicate, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        output.error(&format!("two documents have a tool `{duplicate}`; rename one with `--rename OLD=NEW`"));
        return Ok(Outcome::Problems);
    }
    let has_call = |is_kind: fn(&ExecutionPlan) -> bool| tools.iter().any(|tool| is_kind(&tool.call));
    let needs = Needs {
        http: has_call(|call| matches!(call, ExecutionPlan::Http(_))),
        commands: has_call(|call| matches!(call, ExecutionPlan::Command(_))),
        servers: has_call(|call| matches!(call, ExecutionPlan::Mcp(_))),
        rules: &[],
        private_hosts: task.selection.private_hosts(),
    };
    let name = name(task);
    let files = check_crate_name(&name).and_then(|()| {
        let runtime = runtime(task.checkout.toolgen_path.as_deref(), &task.out)?;
        let layout = task.selection.options.modules;
        let modules = modules(&compiled, &Options::default().types(false).modules(layout), output);
        let with_rules: Vec<String> = modules
            .iter()
            .zip(compiled.iter().filter_map(|compiled| compiled.program.as_ref()))
            .filter(|(_, program)| !program.all_rules().is_empty())
            .map(|((name, _), _)| name.clone())
            .collect();
        Ok(emit::program(&name, &modules, Needs { rules: &with_rules, ..needs }, &runtime, layout))
    });
    let files: Files = match files {
        Ok(files) => files,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    let mut outcome = write(&task.out, task.force, &files, &compiled, output)?;
    if outcome == Outcome::Fine && task.build {
        outcome = build(&task.out, &name, output)?;
    } else if outcome == Outcome::Fine && task.checkout.toolgen_path.is_none() {
        output.note(NO_REGISTRY);
    }
    Ok(if complete { outcome } else { Outcome::Problems })
}

/// Returns the name of the program: `--name`, or a name derived from the first document.
fn name(task: &Bin) -> String {
    task.name.clone().unwrap_or_else(|| {
        let first = task.selection.documents().first().and_then(|path| path.file_name());
        emit::module_name(&first.unwrap_or_default().to_string_lossy(), &mut Vec::new()).replace('_', "-")
    })
}

fn build(out: &Path, name: &str, output: &mut Output) -> io::Result<Outcome> {
    output.progress(&format!("building {name}"));
    let mut cargo = super::cargo();
    cargo.args(["build", "--release", "--quiet", "--message-format", "json-render-diagnostics"]);
    cargo.arg("--manifest-path").arg(out.join("Cargo.toml"));
    let result = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let result = match result {
        Ok(result) if result.status.success() => result,
        Ok(_) => {
            output.error(&format!("the program could not be built; its crate is in {}", out.display()));
            return Ok(Outcome::Problems);
        }
        Err(error) => {
            output.error(&format!("cargo could not be started: {error}"));
            return Ok(Outcome::Problems);
        }
    };
    let messages = String::from_utf8_lossy(&result.stdout);
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(str::to_owned)
    });
    if let Some(program) = programs.next() {
        output.line(&format!("{program}: built"))?;
    }
    Ok(Outcome::Fine)
}
