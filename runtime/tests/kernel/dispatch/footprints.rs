//! Calls that declare which resources they access.

use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use toolgen_runtime::Schema;
use toolgen_runtime::agent::dispatch::Strategy;

use crate::dispatch::support::{Bench, Log, call, call_of, ids, options, spec, steps, turn};
use crate::prelude::*;

fn reads(name: &'static str, resources: &[&'static str]) -> ToolSpec {
    ToolSpec { reads: texts(resources), ..spec(name) }
}

fn writes(name: &'static str, resources: &[&'static str]) -> ToolSpec {
    ToolSpec { writes: texts(resources), ..spec(name) }
}

fn texts(resources: &[&'static str]) -> List<Text> {
    resources.iter().map(|text| Text::Static(text)).collect::<Vec<_>>().into()
}

/// A tool that reads and one that writes the file `path`.
fn files() -> Bench {
    Bench::new().with(reads("read", &["file:{path}"])).with(writes("write", &["file:{path}"]))
}

/// Returns the total time of the calls, and the events.
async fn run(bench: Bench, calls: Vec<ToolCall>) -> (u128, Vec<String>) {
    let log = Arc::clone(&bench.log);
    let toolbox = bench.builder().context(ToolboxContext::new().with_work_dir("/base")).build().unwrap();
    let start = Instant::now();
    let expected: Vec<String> = calls.iter().map(|call| call.id.to_string()).collect();
    let done = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await;
    assert_eq!(ids(&done), expected);
    (start.elapsed().as_millis(), steps(&log))
}

fn at(tool: &str, id: usize, path: &str) -> ToolCall {
    call_of(tool, id, json!({ "path": path, "ms": 10 }))
}

#[tokio::test(start_paused = true)]
async fn writers_of_a_file_keep_their_order() {
    let (millis, log) = run(files(), vec![at("write", 1, "a"), at("write", 2, "a")]).await;
    assert_eq!((millis, log), (20, ["begin 1", "end 1", "begin 2", "end 2"].map(String::from).to_vec()));
}

#[tokio::test(start_paused = true)]
async fn readers_overlap_and_a_writer_waits_for_all() {
    let calls = vec![at("read", 1, "a"), at("read", 2, "a"), at("write", 3, "a"), at("read", 4, "a")];
    let (millis, log) = run(files(), calls).await;
    assert_eq!(millis, 30);
    assert_eq!(
        log,
        ["begin 1", "begin 2", "end 1", "end 2", "begin 3", "end 3", "begin 4", "end 4"].map(String::from)
    );
}

#[tokio::test(start_paused = true)]
async fn calls_on_different_files_overlap() {
    let calls = vec![at("write", 1, "a"), at("write", 2, "b"), at("read", 3, "c"), call(4, 10)];
    assert_eq!(run(files(), calls).await.0, 10);
}

#[tokio::test(start_paused = true)]
async fn only_conflicting_calls_wait() {
    let calls = vec![at("write", 1, "a"), at("write", 2, "a"), at("write", 3, "b"), call(4, 10)];
    let (millis, log) = run(files(), calls).await;
    assert_eq!(millis, 20);
    assert_eq!(log[..3], ["begin 1", "begin 3", "begin 4"]);
}

#[tokio::test(start_paused = true)]
async fn equivalent_paths_are_one_file() {
    for other in ["./a", "x/../a", "/base/a", "/base//./a", "../base/a"] {
        assert_eq!(run(files(), vec![at("write", 1, "a"), at("write", 2, other)]).await.0, 20, "{other}");
    }
    assert_eq!(run(files(), vec![at("write", 1, "a"), at("write", 2, "/a")]).await.0, 10);
}

#[tokio::test(start_paused = true)]
async fn directory_covers_its_files() {
    assert_eq!(run(files(), vec![at("read", 1, "src"), at("write", 2, "src/lib.rs")]).await.0, 20);
    assert_eq!(run(files(), vec![at("read", 1, "src"), at("write", 2, "srcs/lib.rs")]).await.0, 10);
}

#[tokio::test(start_paused = true)]
async fn missing_argument_conflicts_with_everything() {
    let without = || call_of("read", 1, json!({ "ms": 10 }));
    assert_eq!(run(files(), vec![without(), at("write", 2, "/etc/x")]).await.0, 20);
    let schema = Schema::text(
        r#"{"type": "object", "properties": {"path": {"type": "string", "default": "here"}, "id": {}, "ms": {}}}"#,
    );
    let with_default = || {
        Bench::new()
            .with(writes("write", &["file:{path}"]))
            .with(ToolSpec { input: schema.clone(), ..reads("read", &["file:{path}"]) })
    };
    assert_eq!(run(with_default(), vec![without(), at("write", 2, "/etc/x")]).await.0, 10);
    assert_eq!(run(with_default(), vec![without(), at("write", 2, "here/x")]).await.0, 20);
}

#[tokio::test(start_paused = true)]
async fn stringified_arguments_are_recognized() {
    let mut first = at("write", 1, "a");
    first.arguments = Value::from(first.arguments.to_string());
    assert_eq!(run(files(), vec![first, at("write", 2, "a")]).await.0, 20);
}

#[tokio::test(start_paused = true)]
async fn rejected_call_blocks_no_other() {
    let wrong = ToolCall::new("1", "write", json!("{"));
    let (millis, log) = run(files(), vec![wrong, at("write", 2, "a"), at("read", 3, "b")]).await;
    assert_eq!((millis, log.len()), (10, 4));
}

/// Copies a file.
#[tool(undocumented, reads("file:{from}"), writes("file:{to}"), service = "disk")]
async fn copy_file(
    #[arg(rename = "from", alias("source"))] origin: String,
    #[arg(default = "out")] to: String,
) -> String {
    tokio::time::sleep(Duration::from_millis(10)).await;
    format!("{origin} {to}")
}

#[tokio::test(start_paused = true)]
async fn function_declares_its_footprint_by_schema_names() {
    let tool = copy_file::tool();
    let spec = tool.spec();
    assert_eq!(
        (spec.reads.to_vec(), spec.writes.to_vec()),
        (vec!["file:{from}".into()], vec!["file:{to}".into()])
    );
    assert_eq!(spec.service.as_str(), "disk");
    let toolbox = Toolbox::builder(&Registry::builder().add(tool).seal().unwrap()).build().unwrap();
    let took = async |first: Value, second: Value| {
        let start = Instant::now();
        let calls = [first, second].map(|arguments| ToolCall::new("1", "copy_file", arguments)).to_vec();
        let done = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await;
        assert!(done.responses.iter().all(|response| !response.is_error()));
        start.elapsed().as_millis()
    };
    assert_eq!(took(json!({"from": "a", "to": "b"}), json!({"from": "a", "to": "c"})).await, 10);
    assert_eq!(took(json!({"from": "a", "to": "b"}), json!({"source": "b", "to": "c"})).await, 20);
    assert_eq!(took(json!({"from": "a"}), json!({"from": "b"})).await, 20, "both write the default");
    assert_eq!(took(json!({"from": "a"}), json!({"from": "b", "to": "c"})).await, 10);
}

/// A call of a property test: the tool, the resources, the duration, the outcome.
#[derive(Clone, Debug)]
struct Random {
    tool: usize,
    resource: usize,
    millis: u64,
    fails: bool,
}

const TOOLS: [&str; 5] = ["t", "alone", "read", "write", "copy"];

impl Random {
    fn call(&self, id: usize) -> ToolCall {
        let how = if self.fails { "fail" } else { "" };
        let arguments = json!({ "ms": self.millis, "how": how, "r": self.resource, "w": self.resource / 2 });
        call_of(TOOLS[self.tool], id, arguments)
    }

    fn touched(&self) -> (bool, Vec<usize>, Vec<usize>) {
        match TOOLS[self.tool] {
            "alone" => (true, vec![], vec![]),
            "read" => (false, vec![self.resource], vec![]),
            "write" => (false, vec![], vec![self.resource]),
            "copy" => (false, vec![self.resource], vec![self.resource / 2]),
            _ => (false, vec![], vec![]),
        }
    }

    /// An independent implementation of the rule.
    fn in_the_way_of(&self, other: &Random) -> bool {
        let ((alone, reads, writes), (other_alone, other_reads, other_writes)) =
            (self.touched(), other.touched());
        let common = |one: &[usize], other: &[usize]| one.iter().any(|resource| other.contains(resource));
        alone
            || other_alone
            || common(&writes, &other_writes)
            || common(&writes, &other_reads)
            || common(&reads, &other_writes)
    }
}

fn bench() -> Bench {
    let copy = ToolSpec { writes: texts(&["row:{w}"]), ..reads("copy", &["row:{r}"]) };
    Bench::new()
        .with(ToolSpec { exclusive: true, ..spec("alone") })
        .with(reads("read", &["row:{r}"]))
        .with(writes("write", &["row:{r}"]))
        .with(copy)
}

/// Returns when each call started.
fn begins(log: &Log, count: usize) -> Vec<u128> {
    let log = log.lock().unwrap();
    let begin = |id: usize| log.iter().find(|(step, _)| *step == format!("begin {id}")).unwrap().1;
    (0..count).map(begin).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conflicting_calls_never_overlap_and_others_never_wait(
        calls in prop::collection::vec(
            (0..TOOLS.len(), 0..4usize, 1..20u64, prop::bool::weighted(0.2))
                .prop_map(|(tool, resource, millis, fails)| Random { tool, resource, millis, fails }),
            0..12,
        ),
        size in prop::option::of(1..6usize),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let strategy = size.and_then(NonZeroUsize::new).map_or(Strategy::Parallel, Strategy::Batched);
        let (begins, done) = runtime.block_on(async {
            let bench = bench();
            let log = Arc::clone(&bench.log);
            let toolbox = bench.toolbox();
            let sent = calls.iter().enumerate().map(|(id, call)| call.call(id)).collect();
            let done = toolbox.dispatch(sent, &turn(), &options(strategy)).await;
            (begins(&log, calls.len()), done)
        });
        let expected: Vec<String> = (0..calls.len()).map(|id| id.to_string()).collect();
        prop_assert_eq!(ids(&done), expected);
        for (id, response) in done.responses.iter().enumerate() {
            prop_assert_eq!(response.is_error(), calls[id].fails);
        }
        // A call starts when the last call ends that it has to wait for: all of the previous batch, and those that
        // conflict with it.
        let end = |id: usize| begins[id] + u128::from(calls[id].millis);
        let size = size.unwrap_or(usize::MAX);
        for (id, call) in calls.iter().enumerate() {
            let batch = id / size * size;
            let in_the_way = (batch..id).filter(|earlier| calls[*earlier].in_the_way_of(call));
            let earliest = (0..batch).chain(in_the_way).map(end).max().unwrap_or(0);
            prop_assert_eq!(begins[id], earliest, "call {} of {:?}", id, calls);
        }
    }
}
