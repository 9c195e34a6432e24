//! Specifications of the ready-made tools.

use toolgen_runtime::AgentTool;
use toolgen_runtime::builtin::{self, Workspaces};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::render::render_input;
use toolgen_runtime::spec::{Files, Network};
use toolgen_runtime::wire::WireFormat;

use crate::prelude::*;

fn all() -> Vec<Arc<dyn AgentTool>> {
    let lists = [builtin::pack(), builtin::coding(), builtin::shell(), builtin::chat()];
    lists.into_iter().flatten().chain(toolset![Workspaces::new()]).collect()
}

#[test]
fn builtin_effects_snapshot() {
    let message = |tool: &Arc<dyn AgentTool>| {
        let effects = &tool.spec().effects;
        let does = match (effects.read_only, effects.destructive) {
            (true, false) => "reads",
            (false, false) => "changes",
            (false, true) => "destroys",
            (true, true) => "contradicts itself",
        };
        let files = match effects.files {
            Files::None => "no files",
            Files::Read => "reads files",
            Files::Write => "writes files",
        };
        let network = if effects.network == Network::None { "" } else { ", network" };
        let spawns = if effects.spawns { ", spawns" } else { "" };
        format!("{} {does}, {files}{network}{spawns}", tool.name())
    };
    let messages: Vec<String> = all().iter().map(message).collect();
    let expected = [
        "bash destroys, writes files, network, spawns",
        "read_file reads, reads files",
        "write_file destroys, writes files",
        "edit_file destroys, writes files",
        "list_files reads, reads files",
        "search reads, reads files",
        "LS reads, reads files",
        "GlobTool reads, reads files",
        "GrepTool reads, reads files",
        "View reads, reads files",
        "Edit destroys, writes files",
        "Replace destroys, writes files",
        "Bash destroys, writes files, network, spawns",
        "shell destroys, writes files, network, spawns",
        "chat_post changes, no files",
        "chat_read changes, no files",
        "read_file reads, reads files",
        "list_files reads, reads files",
        "get_diff reads, reads files, spawns",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn builtin_schemas_are_valid_in_every_dialect() {
    for tool in all() {
        let spec = tool.spec();
        for dialect in Dialect::ALL {
            let rendered = render_input(&spec.input, &spec.defs, dialect);
            assert!(rendered.is_ok(), "{} in {}: {rendered:?}", spec.name, dialect.name);
        }
        assert!(spec.description.len() > 20, "{}", spec.name);
    }
    for list in [builtin::pack(), builtin::coding()] {
        for format in WireFormat::ALL {
            assert!(format.tools(list.iter().map(|tool| tool.spec())).is_ok(), "{}", format.name());
        }
    }
}

#[test]
fn shell_description_snapshot() {
    let schema = builtin::shell()[0].parameters_schema();
    let described = |name: &str| schema["properties"][name]["description"].clone();
    assert_eq!(builtin::shell()[0].description(), "Execute a shell command and return the output");
    assert_eq!(described("cmd"), "The shell command to execute");
    assert_eq!(described("cwd"), "Optional working directory for the command");
    assert_eq!(schema["required"], serde_json::json!(["cmd"]));
}
