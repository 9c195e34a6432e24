//! Tests of recordings from audit logs: which calls are used, and what a log may lack.

use tokio::sync::Barrier;
use toolgen_runtime::Service;

use super::{Scratch, builder, call, called, dispatch};
use crate::prelude::*;

async fn written(sink: impl AuditSink + 'static, program: impl AsyncFnOnce(&Toolbox)) {
    let auditor = Auditor::builder(sink).start().unwrap();
    program(&builder().layer(auditor.clone()).build().unwrap()).await;
    auditor.shutdown().await;
}

async fn program(toolbox: &Toolbox) {
    dispatch(
        toolbox,
        vec![
            called("refund_all", json!({"customer": "ada"})),
            called("refund", json!({"order": 1, "cents": 2})),
        ],
    )
    .await;
    call(toolbox, "find_orders", json!({"customer": "ada"})).await;
}

fn read(file: &Scratch, selection: &RunSelection) -> Result<RecordedRun, String> {
    let mut reader = store::audit::open(&file.0).map_err(|error| error.to_string())?;
    RecordedRun::from_reader(&mut reader, selection).map_err(|error| error.to_string())
}

fn names(run: &RecordedRun) -> Vec<&str> {
    run.calls().iter().map(|call| call.tool.as_str()).collect()
}

#[tokio::test]
async fn all_sinks_give_the_same_run() {
    let memory = MemorySink::new();
    written(memory.clone(), program).await;
    let expected = RecordedRun::from_memory(&memory, &RunSelection::new()).unwrap();
    assert_eq!(expected.calls().len(), 6);
    let lines = Scratch::new("calls.jsonl");
    written(JsonLinesSink::open(&lines.0).unwrap(), program).await;
    assert_eq!(read(&lines, &RunSelection::new()).unwrap(), expected);
    assert_eq!(RecordedRun::from_audit(&lines.0, &RunSelection::new()).unwrap(), expected);
    {
        let rows = Scratch::new("calls.sqlite");
        written(SqliteSink::open(&rows.0).unwrap(), program).await;
        assert_eq!(read(&rows, &RunSelection::new()).unwrap(), expected);
    }
    let file = Scratch::new("run.json");
    expected.save(&file.0).unwrap();
    assert_eq!(RecordedRun::open(&file.0).unwrap(), expected);
}

#[tokio::test]
async fn log_with_several_runs_requires_a_selection() {
    let lines = Scratch::new("calls.jsonl");
    written(JsonLinesSink::open(&lines.0).unwrap(), async |toolbox| {
        drop(call(toolbox, "picture", json!({})).await);
    })
    .await;
    written(JsonLinesSink::open(&lines.0).unwrap(), program).await;
    let reason = read(&lines, &RunSelection::new()).unwrap_err();
    assert!(
        reason.contains(
            "calls of 2 runs of the program; choose one by `RunSelection::run` (`--run`), such as `last`"
        ) && reason.contains(": 1 calls since 20"),
        "{reason}"
    );
    assert_eq!(read(&lines, &RunSelection::new().run("last")).unwrap().calls().len(), 6);
    let reason = read(&lines, &RunSelection::new().agent("nobody")).unwrap_err();
    assert!(
        reason.contains("none of its 7 calls matches; it has runs: ") && reason.contains("sessions: s-1 (7)"),
        "{reason}"
    );
}

#[tokio::test]
async fn missing_data_is_reported_with_the_setting_to_record_it() {
    let lines = Scratch::new("calls.jsonl");
    written(JsonLinesSink::open(&lines.0).unwrap(), async |toolbox| {
        drop(call(toolbox, "picture", json!({})).await);
    })
    .await;
    let reason = read(&lines, &RunSelection::new()).unwrap_err();
    assert!(
        reason.contains("call 1 of the run, picture at 20")
            && reason.contains("`Auditor::builder(sink).record_bytes(true)` records them"),
        "{reason}"
    );
    // A log of a program that was killed.
    let killed = Scratch::new("killed.jsonl");
    let text = std::fs::read_to_string(&lines.0).unwrap();
    std::fs::write(&killed.0, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let reason = read(&killed, &RunSelection::new()).unwrap_err();
    assert!(reason.contains("its outcome is not in the log; `Auditor::shutdown`"), "{reason}");
    // A log of a sink that stores no results.
    let bare = Scratch::new("bare.jsonl");
    let without = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line.get("result").is_some() {
            line["result"] = Value::Null;
        }
        line.to_string()
    };
    let text: Vec<String> = text.lines().map(without).collect();
    std::fs::write(&bare.0, text.join("\n") + "\n").unwrap();
    let reason = read(&bare, &RunSelection::new()).unwrap_err();
    assert!(reason.contains("its result is not in the log"), "{reason}");
}

/// Waits for the other one, and then a little: a log has milliseconds.
#[tool(undocumented)]
async fn meet(#[inject] other: Service<Barrier>) -> String {
    other.wait().await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    "met".to_owned()
}

#[tokio::test]
async fn concurrent_calls_are_unordered() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let registry = Registry::new(toolset![meet]).unwrap();
    let context = toolgen_runtime::ToolboxContext::new().with_service(Arc::new(Barrier::new(2)));
    let toolbox = Toolbox::builder(&registry).context(context).layer(auditor.clone()).build().unwrap();
    for _ in 0..2 {
        tokio::join!(call(&toolbox, "meet", json!({})), async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            call(&toolbox, "meet", json!({})).await
        });
    }
    auditor.shutdown().await;
    let run = RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap();
    let groups: Vec<usize> = run.calls().iter().map(|call| call.group).collect();
    assert_eq!(groups, [1, 1, 2, 2]);
}

#[tokio::test]
async fn interleaved_sessions_are_reported() {
    let lines = Scratch::new("calls.jsonl");
    written(JsonLinesSink::open(&lines.0).unwrap(), async |toolbox| {
        for (session, tool) in [("a", "find_orders"), ("b", "refund_all"), ("a", "find_orders")] {
            let turn = Turn::new("turn").with_session(Session::new(session));
            toolbox.run(called(tool, json!({"customer": "ada"})), &turn).await;
        }
    })
    .await;
    let reason = read(&lines, &RunSelection::new()).unwrap_err();
    assert!(
        reason.contains("the calls of session a and of others alternate")
            && reason.contains("choose one by `RunSelection::session` (`--session`)"),
        "{reason}"
    );
    let run = read(&lines, &RunSelection::new().session("a")).unwrap();
    assert_eq!(names(&run), ["find_orders", "find_orders"]);
    assert_eq!(names(&read(&lines, &RunSelection::new().session("b")).unwrap()).len(), 4);
}

#[test]
fn invalid_run_file_is_reported_with_its_location() {
    let call = |call: Value| json!({"toolgen_run": 1, "calls": [call]}).to_string();
    for (text, wanted) in [
        ("[".to_owned(), "it is not JSON: "),
        ("{}".to_owned(), "`toolgen_run` is missing"),
        (json!({"toolgen_run": 2}).to_string(), "/toolgen_run: version 2 is not supported"),
        (json!({"toolgen_run": 1}).to_string(), "/calls: an array of calls is missing"),
        (call(json!({})), "/calls/0/tool: the name of the tool is missing"),
        (call(json!({"tool": "a"})), "/calls/0: one of `result`, `error` and `refused` is expected"),
        (
            call(json!({"tool": "a", "inside": 1})),
            "/calls/0/inside: the number of an earlier call is expected",
        ),
        (call(json!({"tool": "a", "call": 2})), "/calls/0/call: it is call 1 of the array"),
        (call(json!({"tool": "a", "error": {}})), "/calls/0/error/code: a string is missing"),
        (call(json!({"tool": "a", "result": {"content": [{"type": "x"}]}})), "/calls/0/result/content: "),
    ] {
        let reason = RecordedRun::parse(&text).unwrap_err().to_string();
        assert!(reason.contains(wanted), "{text}: {reason}");
    }
}
