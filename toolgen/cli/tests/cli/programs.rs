//! Tests of the working directory of commands, and of messages about missing tools and unknown codes.

use serde_json::json;

use crate::support::{Client, Folder};

const PROGRAMS: &str = "toolgen: 1
tools:
  here:
    description: Says where it is.
    read_only: true
    command: {argv: [pwd]}
  below:
    description: Says where it is, in a directory.
    read_only: true
    parameters: {dir: string - The directory.}
    command: {argv: [pwd], cwd: '{dir}'}
";

#[test]
fn commands_run_in_the_named_directory() {
    let directory = Folder::new("command-line/work-dir").with("tools.yaml", PROGRAMS).with("place/sub/x", "");
    let full = |name: &str| format!("{}\n", directory.canonicalize().unwrap().join(name).display());
    // By default, the working directory of this process.
    directory.run("call tools.yaml below dir=place").exits(0).printed(&full("place"));
    directory.run("call tools.yaml here --work-dir place").exits(0).printed(&full("place"));
    directory.run("call tools.yaml below dir=sub --work-dir place").exits(0).printed(&full("place/sub"));
    directory
        .run("call tools.yaml below dir=../sub --work-dir place")
        .exits(1)
        .tells("path traversal not allowed");
    directory
        .run("call tools.yaml below dir=sub --work-dir place --dry-run")
        .exits(0)
        .prints("place/sub && ");
    directory
        .run("call tools.yaml here --work-dir nowhere")
        .exits(2)
        .tells("'nowhere' for '--work-dir <DIR>': no such directory");
    directory.run("test tools.yaml --tool below").exits(0);
}

#[test]
fn absence_of_tools_due_to_errors_is_reported() {
    let text = "toolgen: 1\ntool: {}\n";
    let dir = Folder::new("command-line/no-tools").with("tools.yaml", text);
    for command in ["list tools.yaml", "docs tools.yaml", "call tools.yaml here", "serve tools.yaml"] {
        dir.run(command).exits(1).tells("note: there are no tools, because of the errors above");
    }
    dir.run("call tools.yaml here").exits(1).tells_no("`cargo toolgen list` shows");
}

#[test]
fn failed_call_codes_are_explained() {
    let dir = Folder::new("command-line/explain");
    dir.run("explain MCP_LOST")
        .exits(0)
        .prints("failure[MCP_LOST]: The connection to an MCP server was lost during the call.");
    dir.run("explain credential_refused").exits(0).prints("Check the credential");
}

#[test]
fn served_commands_run_in_the_named_directory() {
    let tools = "toolgen: 1\ntools: {here: {description: Says where it is., command: {argv: [pwd]}}}\n";
    let directory = Folder::new("serve/work-dir").with("tools.yaml", tools).with("place/x", "");
    let mut client = Client::start(&mut directory.toolgen("serve tools.yaml --work-dir place"), &json!({}));
    let response = client.call("here", &json!({}));
    let path = directory.canonicalize().unwrap().join("place");
    assert_eq!(response["content"][0]["text"].as_str().unwrap().trim_end(), path.display().to_string());
}

#[test]
fn only_string_arguments_get_file_name_help() {
    let tools = "toolgen: 1
tools:
  first:
    description: Shows the first lines.
    read_only: true
    parameters: {lines: integer - How many., file: string - The file.}
    command: {argv: [head, -n, '{lines}', '{file}']}
";
    let dir = Folder::new("programs/dash").with("tools.yaml", tools);
    let refused = "must not begin with `-`, because `head` would parse it as an option";
    dir.run("call tools.yaml first lines=-1 file=x").exits(1).tells(refused).tells_no("`./-…`");
    dir.run("call tools.yaml first lines=1 file=-x").exits(1).tells(refused).tells("`./-…`");
}
