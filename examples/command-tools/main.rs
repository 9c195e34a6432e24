//! Tools that run commands, from a manifest. Each argument is passed to the program as a single argument, and
//! declared effects, such as read-only, are enforced by the operating system.
#![allow(clippy::print_stdout, reason = "an example prints")]

/// The tools of `tools.yaml`.
pub mod texts {
    toolgen_runtime::include_tools!("texts");
}

use std::error::Error;

use serde_json::json;
use toolgen_examples::indented;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::spec::docs;
use toolgen_runtime::{Registry, ToolCall, ToolboxContext, Turn};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new(Engines::new().tools(texts::TOOLS)?)?;
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/command-tools/texts");
    let toolbox = registry.toolbox(ToolboxContext::new().with_work_dir(dir));
    println!("{}", docs::summary(toolbox.specs()).trim_end());

    let calls = [
        ("count_words", json!({ "path": "door.txt" })),
        ("find", json!({ "word": "flickers" })),
        ("find", json!({ "word": "; rm -rf ." })),
        ("find", json!({ "word": "--version" })),
        ("count_words", json!({ "file": "door.txt" })),
        ("write_note", json!({ "text": "I was here." })),
    ];
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        println!("\n{name} {arguments}");
        let call = ToolCall::new(format!("call-{number}"), name, arguments);
        let response = toolbox.run(call, &Turn::new("turn-1")).await;
        let kind = if response.is_error() { "error: " } else { "" };
        println!("  {kind}{}", indented(&response.text()));
    }
    Ok(())
}
