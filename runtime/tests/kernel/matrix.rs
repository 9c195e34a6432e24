//! Every layer with every other layer and with every kind of tool: each layer must keep its promises next to each of
//! the others.
//!
//! A new layer is a row of `rows.rs`, a new kind of tool a row of `kinds.rs`. Setters of the builder and tools without
//! a row fail a test here.
#![allow(clippy::needless_pass_by_value, reason = "tools take what a model sends")]

mod checks;
mod compiled;
mod evidence;
mod kinds;
mod mcp;
mod rows;
mod server;
mod spans;
mod stores;

use tokio::task::JoinSet;

use evidence::{Answer, Cell, PANIC, PIN, Ran, Resumed, World};
use kinds::Kind;
use rows::{Row, Setup};

use crate::prelude::*;

/// Is there so that lists are never empty.
#[tool(undocumented, read_only)]
fn bystander() {}

/// How calls are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// One at a time, with arguments as JSON values.
    Called,
    /// As turns, with arguments as JSON strings.
    Dispatched,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn layer_guarantees_hold_in_pairs_for_every_kind_of_tool() {
    // Each pair of layers with a third of the kinds, each kind with a third of the pairs.
    promises_hold(|kind, first, second| first == second || (kind + first + second) % 3 == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "heavy: soak"]
async fn layer_guarantees_hold_in_every_combination() {
    promises_hold(|_, _, _| true).await;
}

/// Runs the cells of these kinds and pairs of layers, and asserts that no promise is broken.
async fn promises_hold(chosen: impl Fn(usize, usize, usize) -> bool) {
    quiet_panics();
    spans::listen();
    let count = rows::all().len();
    let (mut cells, mut broken) = (JoinSet::new(), Vec::new());
    for kind in 0..kinds::all().len() {
        for first in 0..count {
            for second in (first..count).filter(|second| chosen(kind, first, *second)) {
                let ways = [Way::Called, Way::Dispatched];
                // A pair of different layers uses one of the two ways, a single layer uses both.
                let skipped = (first != second).then_some(ways[(kind + first + second) % 2]);
                for way in ways.into_iter().filter(|way| Some(*way) != skipped) {
                    if cells.len() >= 64 {
                        broken.extend(cells.join_next().await.unwrap().unwrap());
                    }
                    cells.spawn(async move {
                        let (rows, kinds) = (rows::all(), kinds::all());
                        cell(&kinds[kind], [&rows[first], &rows[second]], way).await
                    });
                }
            }
        }
    }
    while let Some(cell) = cells.join_next().await {
        broken.extend(cell.unwrap());
    }
    if let Ok(file) = std::env::var("MATRIX_OUT") {
        std::fs::write(file, broken.join("\n")).unwrap();
    }
    let first: Vec<&str> = broken.iter().take(20).map(String::as_str).collect();
    assert!(broken.is_empty(), "{} promises are broken\n{}", broken.len(), first.join("\n"));
}

/// Makes the calls of a cell and returns the broken promises.
async fn cell(kind: &Kind, rows: [&Row; 2], way: Way) -> Vec<String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let pin = format!("{PIN}{}-x", NUMBER.fetch_add(1, Ordering::Relaxed));
    let world = Arc::new(World { pin, ..World::default() });
    let tools = (kind.tools)(Arc::clone(&world)).await;
    let mut others = vec!["bystander"];
    others.extend((kind.called != "target").then_some(kind.called));
    let registry = Registry::builder().add_all(tools).add_all(toolset![bystander]).seal().unwrap();
    let open = Arc::clone(&world);
    let builder = Toolbox::builder(&registry).effect("target", compiled::Handler(Arc::clone(&world)));
    let setup = Setup {
        builder: if kind.through.is_some() { builder.discovery(Discovery::new()) } else { builder },
        context: ToolboxContext::new().with_agent_id("agent").with_service(Arc::clone(&world)),
        turn: Turn::new("turn")
            .with_session(Session::new("s-1"))
            .with_principal(Principal::new("alice").with_scopes(["read", "write", "work"])),
        dependencies: Dependencies::new().custom("open", move |_: &Value, _: &ToolContext| {
            let open = !open.closed.load(Ordering::SeqCst);
            Box::pin(ready(Ok(open)))
        }),
        world: Arc::clone(&world),
        others,
    };
    let twice = rows[0].name == rows[1].name;
    let setup = rows.iter().take(if twice { 1 } else { 2 }).fold(setup, |setup, row| (row.install)(setup));
    let toolbox = setup.builder.context(setup.context).dependencies(setup.dependencies).build().unwrap();
    let name = format!("{} × {}, {}, {way:?}", rows[0].name, rows[1].name, kind.name);
    let names = rows.map(|row| row.name);
    let mut cell = Cell { name, rows: names, kind, world, answers: Vec::new(), broken: Mutex::default() };
    for (number, path) in script(names.contains(&"time")).into_iter().enumerate() {
        let reply = give(&cell, &toolbox, &setup.turn, way, format!("c{number}"), path).await;
        let rest = reply.response.text().split_once("read_result with ").map(|(_, rest)| rest.to_owned());
        cell.answers.push(reply);
        if let Some(rest) = rest {
            let call = serde_json::Deserializer::from_str(&rest).into_iter().next().unwrap().unwrap();
            let call = ToolCall::new(format!("r{number}"), "read_result", call);
            let response = toolbox.run(call, &setup.turn).await;
            cell.holds(!response.is_error(), "the rest can be read", &response);
            let id = response.id.to_string();
            cell.answers.push(Answer {
                path: "rest",
                id,
                response,
                ran: Vec::new(),
                resumed: None,
                late: false,
            });
        }
    }
    checks::always(&cell).await;
    for row in rows {
        (row.check)(&cell);
    }
    cell.broken.into_inner().unwrap()
}

/// The calls of a cell, by their `path`.
fn script(slow: bool) -> Vec<&'static str> {
    let slow = slow.then_some("/slow");
    let usual = ["/a", "/skip", "/fail", "/fail", "/fail", "/large", "/echo", "/ask", "/panic"];
    usual.into_iter().chain(slow).chain(["bad", "cancelled", "unknown", "/a"]).collect()
}

/// Makes a call of the script, and resumes it twice if it has to wait.
async fn give(
    cell: &Cell<'_>,
    toolbox: &Toolbox,
    turn: &Turn,
    way: Way,
    id: String,
    path: &'static str,
) -> Answer {
    let world = &cell.world;
    let arguments = match (cell.kind.name, path) {
        (_, "bad") => json!({"pth": "/a"}),
        ("sub-agent", path) => json!({"task": path}),
        (_, path) => json!({"path": path, "pin": world.pin}),
    };
    let arguments = if way == Way::Dispatched { Value::from(arguments.to_string()) } else { arguments };
    let name = if path == "unknown" { "targett" } else { cell.kind.called };
    let mut turn = turn.clone();
    if path == "cancelled" {
        let token = CancellationToken::new();
        token.cancel();
        turn = turn.with_cancel(token);
    }
    // A request of an earlier call that timed out may arrive now; it does not belong to this call.
    let ran_since = |before: usize| {
        let late = |ran: &Ran| cell.answers.iter().any(|reply| reply.late && ran.path.ends_with(reply.path));
        let runs = world.runs().split_off(before);
        runs.into_iter().filter(|ran| !late(ran)).collect::<Vec<Ran>>()
    };
    let before = world.runs().len();
    let call = match cell.kind.through {
        None => ToolCall::new(id.clone(), name, arguments),
        Some(through) => ToolCall::new(id.clone(), through, json!({"name": name, "arguments": arguments})),
    };
    let response = match way {
        Way::Called => toolbox.run(call, &turn).await,
        Way::Dispatched => {
            let options = DispatchOptions::new();
            toolbox.dispatch(vec![call], &turn, &options).await.responses.remove(0)
        }
    };
    let ran = ran_since(before);
    let mut late = is_late(&response);
    let resumed = match &response.outcome {
        Err(ToolError::ApprovalRequired(request)) => {
            let text = serde_json::to_string(request).unwrap();
            // If it waits in a queue, it is granted there, and a worker looks for it.
            let granted = match toolbox.approvals() {
                None => None,
                Some(approvals) => approvals.grant(request.queue_id(), "Eve", "").await.ok(),
            };
            let once = async |queued: Option<&str>| {
                let before = world.runs().len();
                let response = match queued {
                    Some(id) => toolbox.resume_decided(id, &turn).await.unwrap().unwrap(),
                    None => toolbox.resume(serde_json::from_str(&text).unwrap(), &turn).await,
                };
                (ran_since(before), is_late(&response))
            };
            let queued = granted.as_ref().map(|entry| entry.id.as_str());
            let ((mut first, first_late), (mut second, _)) = (once(queued).await, once(None).await);
            if first_late {
                first.append(&mut second);
            }
            late |= first_late;
            Some(Resumed { request: (**request).clone(), first, second })
        }
        _ => None,
    };
    Answer { path, id, response, ran, resumed, late }
}

/// Whether the call timed out, so that its request to a service may still arrive.
fn is_late(response: &ToolResponse) -> bool {
    matches!(response.outcome, Err(ToolError::Timeout { .. }))
}

/// Suppresses the output of intended panics.
fn quiet_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied();
        if text.or(payload.downcast_ref::<String>().map(String::as_str)) != Some(PANIC) {
            usual(info);
        }
    }));
}

/// Returns the names that follow a string in a source file.
fn named<'a>(source: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    source.split(before).skip(1).map(|rest| {
        rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
    })
}

#[test]
fn every_setter_of_the_builder_has_a_row() {
    let rows = rows::all();
    let known: Vec<&str> = rows.iter().flat_map(|row| row.setters).copied().chain(["build"]).collect();
    let sources = [
        include_str!("../../kernel/src/toolbox/builder.rs"),
        include_str!("../../kernel/src/toolbox/builder/approvals.rs"),
    ];
    let setters = sources.into_iter().flat_map(|source| named(source, "    pub fn "));
    let unknown: Vec<_> = setters.filter(|setter| !known.contains(setter)).collect();
    assert!(unknown.is_empty(), "add rows to rows.rs for {unknown:?}");
}

/// Returns the code of every crate of the runtime, without comments and tests: one string per file.
fn sources() -> Vec<String> {
    let crates = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let mut dirs: Vec<_> =
        crates.map(|entry| entry.unwrap().path().join("src")).filter(|it| it.is_dir()).collect();
    let mut sources = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("tests") || path.ends_with("tests.rs") {
                continue;
            } else if path.is_dir() {
                dirs.push(path);
            } else {
                let source = std::fs::read_to_string(&path).unwrap();
                let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
                sources.push(code.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    sources
}

/// Returns the types that implement a trait and are not in `known`.
fn without_row(of: &str, known: &[&str]) -> Vec<String> {
    let sources = sources();
    let types: Vec<&str> =
        sources.iter().flat_map(|source| named(source, of)).filter(|name| !name.is_empty()).collect();
    assert!(types.len() > 9, "{of}: {types:?}");
    types.into_iter().filter(|name| !known.contains(name)).map(str::to_owned).collect()
}

/// A replay replaces the tools themselves: `stores/replay` tests it.
#[test]
fn every_layer_has_a_row() {
    let rows = rows::all();
    let known: Vec<&str> = rows.iter().flat_map(|row| row.setters).copied().chain(["Replay"]).collect();
    let unknown = without_row(" Layer for ", &known);
    assert!(unknown.is_empty(), "add rows to rows.rs for {unknown:?}");
}

#[test]
fn every_kind_of_call_has_a_row() {
    let kinds = kinds::all();
    let known: Vec<&str> = kinds.iter().flat_map(|kind| kind.calls).copied().collect();
    let source = include_str!("../../core/src/spec/plan.rs");
    let calls = source.split_once("pub enum ExecutionPlan {").unwrap().1.split_once("\n}").unwrap().0;
    let names: Vec<&str> = named(calls, "\n    ").filter(|name| !name.is_empty()).collect();
    assert!(names.contains(&"Http"), "{names:?}");
    let unknown: Vec<&&str> = names.iter().filter(|name| !known.contains(*name)).collect();
    assert!(unknown.is_empty(), "add rows to kinds.rs for {unknown:?}");
}

#[test]
fn every_kind_of_tool_has_a_row() {
    // Tools of the runtime itself, which a toolbox has in addition to the tools of a program. The tool of the bridge
    // has the specification of a foreign server, and no plan: see `tests/mcp/serve/bridge.rs`.
    let own = ["AskQuestion", "ReadResult", "RmcpTool"];
    let kinds = kinds::all();
    let known: Vec<&str> = kinds.iter().flat_map(|kind| kind.types).copied().chain(own).collect();
    let unknown = without_row(" AgentTool for ", &known);
    assert!(unknown.is_empty(), "add rows to kinds.rs for {unknown:?}");
}
