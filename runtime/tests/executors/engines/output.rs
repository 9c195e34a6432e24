//! Tests of the output and the exit code of programs, and of the resulting tool results.

use toolgen_runtime::spec::plan::{CommandOutput, ExitCode};

use crate::engines::command::{refused, run};
use crate::engines::{answer, one, spec, text, toolbox_in};
use crate::prelude::*;

fn printing(stdout: &str, output: CommandOutput) -> CommandPlan {
    let argv = vec![one("printf"), one("%s"), one(stdout)].into();
    CommandPlan { argv, output, ..CommandPlan::EMPTY }
}

/// A plan without placeholders, even if its text contains braces.
fn literally(stdout: &str, output: CommandOutput) -> CommandPlan {
    let constant = |text: &str| ArgvTemplate::One {
        text: toolgen_runtime::spec::template::Template::Constant(json!(text).to_string().into()),
        allow_leading_dash: false,
    };
    CommandPlan { argv: vec![one("printf"), one("%s"), constant(stdout)].into(), ..printing("", output) }
}

#[tokio::test]
async fn output_is_parsed_as_declared() {
    use CommandOutput::{Envelope, Json, JsonLines, Text};
    let cases = [
        (Text, "a {b}", Ok(r"a {b}")),
        (Json, " {\"a\": [1]} ", Ok(r#"{"a":[1]}"#)),
        (
            Json,
            "",
            Err(
                "INVALID_OUTPUT: the output of the program is not JSON (EOF while parsing a value at line 1 column 0); there is none",
            ),
        ),
        (
            Json,
            "oh no",
            Err(
                "INVALID_OUTPUT: the output of the program is not JSON (expected value at line 1 column 1); it begins with: oh no",
            ),
        ),
        (JsonLines, "1\n\n{\"a\": 2}\n", Ok(r#"[1,{"a":2}]"#)),
        (JsonLines, "", Ok("[]")),
        (
            JsonLines,
            "1\nx",
            Err(
                "INVALID_OUTPUT: the output of the program is not JSON in line 2 (expected value at line 1 column 1); it begins with: x",
            ),
        ),
        (Envelope, r#"{"result": "done"}"#, Ok("done")),
        (Envelope, r#"{"result": {"a": 1}, "error": null}"#, Ok(r#"{"a":1}"#)),
        (Envelope, r#"{"results": [1, 2], "error": ""}"#, Ok("[1,2]")),
        (Envelope, r#"{"error": "no such user", "code": "NO_USER"}"#, Err("NO_USER: no such user")),
        (Envelope, r#"{"error": {"why": 1}}"#, Err(r#"COMMAND_FAILED: {"why":1}"#)),
        (
            Envelope,
            r#"{"ok": 1}"#,
            Err(
                "INVALID_OUTPUT: the output of the program has no member `result`, `results` or `error`; it begins with: {\"ok\": 1}",
            ),
        ),
        (
            Envelope,
            "[1]",
            Err("INVALID_OUTPUT: the output of the program is not an object; it begins with: [1]"),
        ),
    ];
    for (output, stdout, expected) in cases {
        let response = run(&[], literally(stdout, output), json!({})).await;
        let message = response.outcome.as_ref().map(|_| response.text());
        let message = message.map_err(|error| format!("{}: {error}", error.code()));
        assert_eq!(message.as_deref().map_err(String::as_str), expected, "{stdout}");
    }
}

#[tokio::test]
async fn output_is_validated_against_its_schema() {
    let mut declares = spec("run", &[]);
    let n = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    declares.output = Some(toolgen_runtime::Schema::text(n));
    for (stdout, differs) in [(r#"{"n": 1}"#, false), (r#"{"m": 1}"#, true)] {
        let call = ExecutionPlan::Command(literally(stdout, CommandOutput::Json));
        let response = answer(declares.clone(), call, json!({}), ToolboxContext::new()).await;
        let result = response.outcome.unwrap();
        assert_eq!((result.is_error(), result.structured().is_err()), (differs, differs), "{result:?}");
    }
    let call = ExecutionPlan::Command(literally("5", CommandOutput::Text));
    let response = answer(declares, call, json!({}), ToolboxContext::new()).await;
    assert_eq!(response.outcome.unwrap().structured().unwrap_err(), "the output is text");
}

#[tokio::test]
async fn exit_codes_map_to_their_planned_meaning() {
    let plan = script_of("echo out; echo err >&2; exit 3", CommandOutput::Text);
    let error = run(&[], plan.clone(), json!({})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "exit code 3\nstdout:\nout\nstderr:\nerr");
    assert_eq!(error.code(), "COMMAND_FAILED");
    let meaning = |code, success, message: &'static str| ExitCode { code, success, message: message.into() };
    let meanings = vec![
        meaning(3, true, "No matches."),
        meaning(2, false, "The file is locked."),
        meaning(0, false, ""),
    ];
    let described = |script: &'static str, output| CommandPlan {
        exit_codes: meanings.clone().into(),
        ..script_of(script, output)
    };
    let result = run(&[], described("echo out; exit 3", CommandOutput::Text), json!({})).await;
    assert_eq!(result.text(), "No matches.\nout\n");
    assert_eq!(run(&[], described("exit 3", CommandOutput::Json), json!({})).await.text(), "No matches.");
    assert_eq!(
        refused(&[], described("exit 2", CommandOutput::Text), json!({})).await,
        "The file is locked.\nexit code 2"
    );
    assert_eq!(refused(&[], described("exit 0", CommandOutput::Text), json!({})).await, "exit code 0");
    let failing = "echo '{\"error\": \"gone\", \"code\": \"GONE\"}'; exit 1";
    let error = run(&[], script_of(failing, CommandOutput::Envelope), json!({})).await.outcome.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.code()), ("gone", "GONE"));
    let failing = script_of("echo '{\"result\": 1}'; exit 1", CommandOutput::Envelope);
    assert_eq!(refused(&[], failing, json!({})).await, "exit code 1\nstdout:\n{\"result\": 1}");
}

#[tokio::test]
async fn exit_code_is_a_result_if_all_are_successes() {
    let other = ExitCode { code: ExitCode::OTHER, success: true, message: "".into() };
    let listed = ExitCode { code: 2, success: false, message: "Broken.".into() };
    let plan = |script| CommandPlan {
        exit_codes: vec![other.clone(), listed.clone()].into(),
        ..script_of(script, CommandOutput::Text)
    };
    let response = run(&[], plan("echo out; echo err >&2; exit 3"), json!({})).await;
    assert_eq!(response.text(), "exit code 3\nstdout:\nout\nstderr:\nerr");
    let details = &response.outcome.unwrap().details;
    assert_eq!(*details, json!({"exit_code": 3, "stderr": "err\n", "ok": false}));
    assert_eq!(run(&[], plan("echo out"), json!({})).await.text(), "out\n");
    assert_eq!(run(&[], plan("kill -9 $$"), json!({})).await.text(), "exit code 137");
    assert_eq!(refused(&[], plan("exit 2"), json!({})).await, "Broken.\nexit code 2");
}

/// For every output format, the error contains the exit code and the standard error.
#[tokio::test]
async fn unknown_exit_code_is_reported_with_the_output() {
    use CommandOutput::{Envelope, Json, JsonLines, Text};
    for output in [Text, Json, JsonLines, Envelope] {
        let plan = script_of("echo '[1]'; echo err >&2; exit 3", output);
        let error = run(&[], plan, json!({})).await.outcome.unwrap_err();
        let described = "exit code 3\nstdout:\n[1]\nstderr:\nerr";
        assert_eq!((error.to_string().as_str(), error.code()), (described, "COMMAND_FAILED"), "{output:?}");
    }
    let other = ExitCode { code: ExitCode::OTHER, success: true, message: "".into() };
    let any =
        |script, output| CommandPlan { exit_codes: vec![other.clone()].into(), ..script_of(script, output) };
    for output in [Json, JsonLines] {
        let response = run(&[], any("echo 1; echo err >&2; exit 3", output), json!({})).await;
        assert!(response.text().starts_with("exit code 3\nstderr:\nerr\n"), "{}", response.text());
        assert_eq!(
            run(&[], any("echo 1; echo err >&2", output), json!({})).await.text().trim(),
            if output == Json { "1" } else { "[1]" }
        );
        let described = refused(&[], any("echo no; echo err >&2; exit 3", output), json!({})).await;
        assert!(described.ends_with("it begins with: no\nexit code 3\nstderr:\nerr"), "{described}");
        let described = refused(&[], script_of("echo no; echo err >&2", output), json!({})).await;
        assert!(described.ends_with("it begins with: no\nstderr:\nerr"), "{described}");
    }
    // An error that the program reports itself is quoted. Operators also see the rest.
    let gone = "echo '{\"error\": \"gone\"}'; echo err >&2; exit 1";
    let error = run(&[], script_of(gone, Envelope), json!({})).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "gone");
    assert_eq!(error.operator_text(), "gone\nexit code 1\nstderr:\nerr");
    let known = ExitCode { code: 1, success: false, message: "It is not there.".into() };
    let plan = CommandPlan { exit_codes: vec![known].into(), ..script_of(gone, Envelope) };
    assert_eq!(refused(&[], plan, json!({})).await, "It is not there.\ngone");
}

fn script_of(script: &'static str, output: CommandOutput) -> CommandPlan {
    CommandPlan { script: script.into(), output, ..CommandPlan::EMPTY }
}

#[tokio::test]
async fn truncated_output_is_reported() {
    let plan = |output| CommandPlan {
        max_output: 10,
        ..script_of("i=0; while [ $i -lt 9 ]; do echo $i; i=$((i+1)); done; exit ${X:-0}", output)
    };
    assert_eq!(
        run(&[], plan(CommandOutput::Text), json!({})).await.text(),
        "0\n1\n2\n3\n4\n... [truncated: 8 more bytes]"
    );
    assert_eq!(
        run(&[], plan(CommandOutput::JsonLines), json!({})).await.text(),
        "[0,1,2,3,4]\n... [truncated: 9 more bytes]"
    );
    assert!(
        refused(&[], plan(CommandOutput::Json), json!({}))
            .await
            .contains("only the first 10 bytes of it were kept")
    );
    let failing = CommandPlan { env: vec![("X".into(), text("1"))].into(), ..plan(CommandOutput::Text) };
    assert!(refused(&[], failing, json!({})).await.ends_with("... [truncated: 8 more bytes]"));
}

#[tokio::test]
async fn output_lines_are_updates_while_the_program_runs() {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&messages);
    let turn =
        Turn::new("turn").with_on_update(move |result| received.lock().unwrap().push(result.to_text()));
    let plan = CommandPlan { stream: true, ..script_of("echo one; echo two", CommandOutput::Text) };
    let tools = Engines::new()
        .tools_from([Tool { spec: spec("run", &[]), call: ExecutionPlan::Command(plan) }])
        .unwrap();
    let response =
        toolbox_in(tools, ToolboxContext::new()).run(ToolCall::new("1", "run", json!({})), &turn).await;
    assert_eq!(response.text(), "one\ntwo\n");
    assert_eq!(*messages.lock().unwrap(), ["one", "two"]);
}

/// Returns the lines that people see of a program that echoes its secret input, or its arguments.
async fn streamed(script: &str, pin: &str) -> Vec<String> {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&messages);
    let turn =
        Turn::new("turn").with_on_update(move |result| received.lock().unwrap().push(result.to_text()));
    let plan = CommandPlan {
        stream: true,
        stdin: Stdin::Text(text("{password}")),
        script: script.to_owned().into(),
        ..CommandPlan::EMPTY
    };
    let tools = Engines::new()
        .tools_from([Tool { spec: spec("run", &["password"]), call: ExecutionPlan::Command(plan) }])
        .unwrap();
    let call = ToolCall::new("1", "run", json!({ "password": pin }));
    assert!(toolbox_in(tools, ToolboxContext::new()).run(call, &turn).await.outcome.is_ok());
    let messages = messages.lock().unwrap();
    messages.clone()
}

#[tokio::test]
async fn multi_line_secret_is_redacted_in_updates() {
    let key = "-----BEGIN KEY-----\nc2VjcmV0MQ\nc2VjcmV0Mg\n-----END KEY-----";
    assert_eq!(streamed("echo a; cat; echo; echo b", key).await, ["a", "[REDACTED]", "b"]);
    assert_eq!(
        streamed("echo a; cat; sleep 0.1; echo; echo b", "short\nsecret").await,
        ["a", "[REDACTED]", "b"]
    );
    // The possible start of a secret is shown when it is known not to be a secret, at the latest when the program
    // ends.
    assert_eq!(
        streamed("echo a; echo short; echo b; echo short", "short\nsecret").await,
        ["a", "short", "b", "short"]
    );
    // In double Base64, in several lines.
    let pin = "plain-s3cr3t?key>0123456789";
    let script = "echo a.; cat | base64 -w 0 | base64 -w 20; echo .b";
    assert_eq!(streamed(script, pin).await, ["a.", "[REDACTED]", ".b"]);
    // In lines that end within its first encoded characters.
    for width in [1, 2, 3] {
        let script = format!("echo a.; cat | base64 -w 0 | fold -w {width}; echo; echo .b");
        assert_eq!(streamed(&script, pin).await, ["a.", "[REDACTED]", ".b"], "{width}");
    }
    // A long line arrives in chunks, and a secret spans two of them.
    let pin = "a-secret-of-some-length";
    for before in [8180, 8192, 8170] {
        let seen =
            streamed(&format!("head -c {before} /dev/zero | tr '\\0' x; cat; echo"), pin).await.concat();
        assert_eq!(seen.replace('x', ""), "[REDACTED]", "{before}");
    }
}
