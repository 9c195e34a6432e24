use crate::call::Turn;
use serde_json::json;

use super::*;
use crate::call::principal::Principal;
use crate::call::testing::{call, call_in};

fn tool(name: &str, description: &'static str, category: &'static str) -> ToolSpec {
    ToolSpec {
        name: ToolName::parse(name.to_owned()).unwrap(),
        description: description.into(),
        category: category.into(),
        effects: Effects::NONE,
        ..ToolSpec::EMPTY
    }
}

fn tools() -> Vec<ToolSpec> {
    vec![
        tool("write_file", "Writes a text to a file.", "files"),
        tool("read_file", "Reads a file as text.", "files"),
        tool("list_files", "Lists the files of a directory.", "files"),
        tool("send_mail", "Sends a message. It may have a file attached.", "mail"),
        tool("weather", "Tells how warm it will be.", "general"),
    ]
}

fn names(result: &ToolResult) -> Vec<&str> {
    let tools = result.details["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn search_ranks_names_before_descriptions() {
    let cases: [(&str, &[&str]); 8] = [
        ("read a file", &["read_file", "list_files", "write_file", "send_mail"]),
        ("FILE", &["write_file", "list_files", "read_file", "send_mail"]),
        ("files", &["write_file", "list_files", "read_file", "send_mail"]),
        ("message", &["send_mail"]),
        ("warm", &["weather"]),
        ("lists", &["list_files"]),
        ("of", &[]),
        ("spaceship", &[]),
    ];
    let mut failures = Vec::new();
    for (query, expected) in cases {
        let search = SearchTools::of(tools());
        let mut reversed = tools();
        reversed.reverse();
        let results = call(&search, json!({"query": query})).await.unwrap();
        if names(&results) != expected {
            failures.push(format!("{query}: {:?}", names(&results)));
        }
        assert_eq!(call(&SearchTools::of(reversed), json!({"query": query})).await.unwrap(), results);
    }
    assert!(failures.is_empty(), "{failures:#?}");
    let results = call(&SearchTools::of(tools()), json!({"query": "read file", "limit": 1})).await.unwrap();
    assert_eq!(results.to_text(), docs::detail(&tools()[1]));
    let no_results = call(&SearchTools::of(tools()), json!({"query": "spaceship"})).await.unwrap();
    assert_eq!(no_results.to_text(), "No tool is about 'spaceship'.");
}

#[tokio::test]
async fn tool_list_is_sorted_and_paginated() {
    let list = ListTools::of(tools());
    let first = call(&list, json!({"limit": 3})).await.unwrap();
    let expected = "\
## Available Tools

- **list_files** - Lists the files of a directory.
- **read_file** - Reads a file as text.
- **send_mail** - Sends a message. It may have a file attached.

1-3 of 5 tools. The next ones are at offset 3.
";
    assert_eq!(first.to_text(), expected);
    assert_eq!((&first.details["next_offset"], &first.details["total"]), (&json!(3), &json!(5)));
    let second = call(&list, json!({"limit": 3, "offset": 3})).await.unwrap();
    assert_eq!(names(&second), ["weather", "write_file"]);
    assert_eq!(second.details["next_offset"], json!(null));
    let mail = call(&list, json!({"category": "mail"})).await.unwrap();
    assert_eq!(names(&mail), ["send_mail"]);
    let no_results = call(&list, json!({"category": "Mail"})).await.unwrap();
    assert_eq!(no_results.to_text(), "No tools available");
    assert_eq!(call(&list, json!({"offset": 99})).await.unwrap().to_text(), "No tools available");
}

#[tokio::test]
async fn catalogue_shows_only_tools_the_principal_may_call() {
    let write_file =
        ToolSpec { effects: Effects::UNDECLARED, ..tool("write_file", "Writes a file.", "files") };
    let specs =
        [write_file, tool("read_file", "Reads a file.", "files"), tool("list_files", "Lists.", "files")];
    let reader = Principal::new("p").with_scopes(["read"]).with_tools(["read_file", "write_file"]);
    let ctx = Turn::default().with_principal(reader).call_context("1", "x");
    let listed = call_in(&ListTools::of(specs.clone()), json!({}), &ctx).await.unwrap();
    assert_eq!(names(&listed), ["read_file"]);
    let results = call_in(&SearchTools::of(specs), json!({"query": "file"}), &ctx).await.unwrap();
    assert_eq!(names(&results), ["read_file"]);
}

#[tokio::test]
async fn search_without_a_toolbox_is_an_error() {
    let error = call(&SearchTools::new(), json!({"query": "x"})).await.unwrap_err();
    assert_eq!(error.to_string(), "tools can be looked up only in calls through a toolbox");
}
