//! A wire format that is not part of this crate, written with its public API: tools, calls, results, stream,
//! conversation.

use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::format::{
    Conversation, Format, Item, Layout, ResponseEnd, WrittenCall, count, text,
};
use toolgen_runtime::wire::{Request, StopReason, ToolChoice, Usage};

use crate::prelude::*;

/// A telegraph: every line is one block.
static TELEGRAPH: Format = Format {
    name: "telegraph",
    tool: |spec, schema, _| json!({ "verb": spec.name.as_str(), "with": schema }),
    list: |verbs| json!({ "verbs": verbs }),
    layout: Layout {
        title: "Telegraph",
        path: &["lines"],
        is_block: |line| line.get("verb").is_some(),
        is_piece: |event| event.get("line").is_some(),
        ending: |reply| match text(reply, "over") {
            "" => ResponseEnd::UNKNOWN,
            word @ "and out" => ResponseEnd { stop: StopReason::EndTurn, word },
            word => ResponseEnd { stop: StopReason::MaxTokens, word },
        },
        ..Layout::EMPTY
    },
    item: |line| match line.get("verb") {
        Some(verb) => Item::Call(WrittenCall::of(verb, "number", "/verb/number", "with")),
        None => Item::Text(text(line, "words").into()),
    },
    usage: |reply| Usage::new(count(reply, "/paid"), 0, 0, 0),
    keep: |_, lines| vec![json!({ "from": "operator", "lines": lines })],
    answer: |response, _| json!({ "number": response.id.as_str(), "did": response.text() }),
    assemble: |assembly, event| {
        if assembly.response.is_null() {
            assembly.response = json!({ "lines": [] });
        }
        if let Some(line) = event.get("line") {
            assembly.list("/lines")?.push(line.clone());
            assembly.text(text(line, "words"));
            if let Some(verb) = line.get("verb") {
                assembly.call(text(verb, "number"), text(verb, "name"))?;
            }
        }
        if let Some(over) = event.get("over") {
            assembly.response["over"] = over.clone();
            assembly.end();
        }
        Ok(())
    },
    conversation: Some(Conversation {
        user: |words| json!({ "words": words }),
        model: |words, calls| {
            let verbs = calls
                .iter()
                .map(|call| json!({ "verb": { "number": call.id.as_str(), "name": call.name.as_str() } }));
            let lines: Vec<Value> = [json!({ "words": words })].into_iter().chain(verbs).collect();
            vec![json!({ "from": "operator", "lines": lines })]
        },
        request: |request| Request::body([("tape", request.messages.into()), ("offers", request.tools)]),
        policy: |policy| match policy.choice {
            Some(ToolChoice::Required) => Ok(json!({ "must": true })),
            _ => Err("cannot be told which tools to call"),
        },
    }),
    ..Format::EMPTY
};

const FORMAT: WireFormat = WireFormat::Custom(&TELEGRAPH);

/// Adds two numbers.
#[tool(read_only, undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn toolbox() -> Toolbox {
    Registry::new(toolset![add]).unwrap().toolbox(Default::default())
}

fn reply() -> Value {
    json!({ "lines": [
        { "words": "ADDING STOP" },
        { "verb": { "number": "7", "name": "add", "with": { "a": 1, "b": 2 } } },
    ], "over": "and out", "paid": 12 })
}

#[test]
fn custom_format_has_tools_calls_and_turns() {
    let tools = FORMAT.tools(toolbox().specs()).unwrap();
    assert_eq!(
        (&tools["verbs"][0]["verb"], &tools["verbs"][0]["with"]["type"]),
        (&json!("add"), &json!("object"))
    );
    let turn = FORMAT.turn(&reply()).unwrap();
    assert_eq!(
        (turn.text.as_str(), turn.stop, turn.usage.total()),
        ("ADDING STOP", StopReason::ToolCalls, 12)
    );
    assert_eq!(turn.calls[0].arguments, json!({ "a": 1, "b": 2 }));
    assert!(
        FORMAT
            .turn(&json!({ "line": {} }))
            .unwrap_err()
            .to_string()
            .contains("a part of a response of Telegraph")
    );
    assert_eq!((FORMAT.name(), FORMAT.to_string()), ("telegraph", "telegraph".to_owned()));
    assert_eq!(FORMAT, WireFormat::Custom(&TELEGRAPH));
    assert!(!WireFormat::ALL.contains(&FORMAT));
}

#[test]
fn custom_format_has_streams() {
    let reply = reply();
    let mut stream = FORMAT.stream();
    for line in reply["lines"].as_array().unwrap() {
        stream.push_bytes(format!("data: {}\n\n", json!({ "line": line })).as_bytes()).unwrap();
    }
    stream.push(&json!({ "over": "and out" })).unwrap();
    let turn = stream.finish().unwrap();
    assert_eq!(turn.calls, FORMAT.turn(&reply).unwrap().calls);
    assert_eq!(turn.text, "ADDING STOP");
}

#[tokio::test]
async fn custom_format_has_conversations_and_loops() {
    let toolbox = toolbox();
    let send = |request: Value| async move {
        let last = request["tape"].as_array().unwrap().last().unwrap().clone();
        Ok::<_, String>(match last.get("did") {
            None => reply(),
            Some(sum) => json!({ "lines": [{ "words": format!("SUM {} STOP", sum.as_str().unwrap()) }] }),
        })
    };
    let run = Agent::new(WireModel::new(FORMAT, send), &toolbox).run("1 + 2?").await;
    let rendered = run.transcript.messages(FORMAT);
    assert_eq!(rendered.messages[1]["lines"], reply()["lines"]);
    assert_eq!(rendered.lost, []);
    let anthropic = run.transcript.messages(WireFormat::Anthropic).messages;
    assert_eq!(anthropic[1]["content"][1]["name"], "add");
    assert_eq!(run.text().unwrap(), "SUM 3 STOP");

    let mut transcript = Transcript::user("1 + 2?");
    let chat = json!({ "role": "assistant", "content": "Adding.", "tool_calls": [] });
    transcript.push(Entry::Model(WireFormat::OpenAiChat.turn(&chat).unwrap().into()));
    assert_eq!(transcript.messages(FORMAT).messages[1]["lines"][0]["words"], "Adding.");
}
