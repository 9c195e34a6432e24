//! `graph`: prints a graph of the tools that require or call other tools.

use std::io;

use toolgen::Tool;
use toolgen_runtime::spec::graph;

use super::Outcome;
use super::args::{Graph, GraphFormat};
use super::compile::{Compiled, compile_all};
use super::output::Output;

/// Prints one graph of the tools of all documents. Returns `Problems` if a document could not be compiled, or if a tool
/// requires something that does not exist.
pub(super) fn run(task: &Graph, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &[], output);
    let tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    let diagram = tools.iter().fold(graph::Graph::of(tools.iter().map(|tool| &tool.spec)), |graph, tool| {
        graph.with_calls(tool.spec.name.as_str(), tool.call.tools())
    });
    output.write(&if task.format == GraphFormat::Dot { diagram.dot() } else { diagram.mermaid() })?;
    if tools.iter().all(|tool| tool.spec.requires.is_empty() && tool.call.tools().is_empty()) {
        output.note("no tool requires or calls another, so the graph is empty");
    }
    let problems = graph::problems(tools.iter().map(|tool| &tool.spec));
    for problem in &problems {
        output.error(&problem.to_string());
    }
    Ok(if complete && problems.is_empty() { Outcome::Fine } else { Outcome::Problems })
}
