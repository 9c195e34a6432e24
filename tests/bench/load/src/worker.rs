//! A process with agents that call tools, and its cost.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};
use toolgen::Options;
use toolgen::dynamic::Loader;
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::layers::audit::{Auditor, JsonLinesSink, MemorySink};
use toolgen_runtime::store::audit::SqliteSink;
use toolgen_runtime::{Registry, ToolCall, Toolbox, ToolboxContext, Turn, tool, toolset};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The port of the service. `None`: the tools are functions that return immediately.
    port: Option<u16>,
    /// Number of tools.
    tools: usize,
    /// Number of agents, each with its own toolbox.
    agents: usize,
    /// Number of concurrent calls per agent.
    beside: usize,
    seconds: f64,
    records: Records,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Records {
    None,
    Memory,
    Jsonl(PathBuf),
    Sqlite(PathBuf),
    /// Like `Sqlite`, and each call waits until its intent is on disk.
    Durable(PathBuf),
}

type Anything = Box<dyn Error + Send + Sync>;

/// Looks up a person.
#[tool(read_only, undocumented)]
fn person(id: u32) -> String {
    format!("{{\"id\":{id},\"name\":\"Ada\"}}")
}

pub async fn run(settings: &Settings) -> Result<(), Anything> {
    let began = Instant::now();
    let registry = registry(settings)?;
    let auditor = auditor(&settings.records)?;
    let providers = (0..settings.agents).map(|number| {
        let context = ToolboxContext::new().with_agent_id(format!("agent-{number}"));
        Toolbox::builder(&registry).context(context).layer(auditor.clone()).build()
    });
    let providers: Vec<Toolbox> = providers.collect::<Result<_, _>>()?;
    let ready = began.elapsed();
    let resting = memory("VmRSS")?;

    let names: Arc<[String]> = registry.iter().map(|tool| tool.name().to_owned()).collect();
    let until = Instant::now() + Duration::from_secs_f64(settings.seconds);
    let mut tasks = Vec::new();
    for (agent, toolbox) in providers.iter().enumerate() {
        for place in 0..settings.beside {
            let start = agent * settings.beside + place;
            tasks.push(tokio::spawn(calls(toolbox.clone(), Arc::clone(&names), start, until)));
        }
    }
    let began = Instant::now();
    let mut took: Vec<u32> = Vec::new();
    for task in tasks {
        took.extend(task.await??);
    }
    let called = began.elapsed();
    auditor.flush().await?;
    let written = began.elapsed();

    // Without `durable`, a record that does not fit into the queue is counted and dropped, and the call does not wait.
    let lost = auditor.dropped() + auditor.errors();
    let recorded = (took.len() as u64).saturating_sub(lost);
    took.sort_unstable();
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied().unwrap_or_default();
    let told = json!({
        "calls": took.len(),
        "calls_per_second": took.len() as f64 / called.as_secs_f64(),
        "p50_us": at(0.5),
        "p99_us": at(0.99),
        "records_per_second": match settings.records {
            Records::None => 0.0,
            _ => recorded as f64 / written.as_secs_f64(),
        },
        "lost": lost as f64 / took.len().max(1) as f64,
        "ready_ms": ready.as_secs_f64() * 1e3,
        "resting_kib": resting,
        "peak_kib": memory("VmHWM")?,
    });
    println!("{told}");
    Ok(())
}

/// Calls tools sequentially, and returns the duration of each call, in microseconds.
async fn calls(
    toolbox: Toolbox,
    names: Arc<[String]>,
    start: usize,
    until: Instant,
) -> Result<Vec<u32>, Anything> {
    let mut took = Vec::new();
    let turn = Turn::new("turn");
    while Instant::now() < until {
        let name = &names[(start + took.len()) % names.len()];
        let call = ToolCall::new(format!("{start}-{}", took.len()), name.as_str(), json!({"id": 7}));
        let began = Instant::now();
        let response = toolbox.run(call, &turn).await;
        took.push(u32::try_from(began.elapsed().as_micros())?);
        if response.is_error() {
            return Err(format!("{name}: {}", response.text()).into());
        }
    }
    Ok(took)
}

fn registry(settings: &Settings) -> Result<Registry, Anything> {
    let Some(port) = settings.port else { return Ok(Registry::new(toolset![person])?) };
    let operations = (0..settings.tools).map(|number| {
        let operation = json!({
            "operationId": format!("getPerson{number}"),
            "summary": format!("Returns a person of list {number}."),
            "parameters": [
                {"name": "id", "in": "path", "required": true, "description": "The number of the person.",
                 "schema": {"type": "integer", "minimum": 1}},
            ],
            "responses": {"200": {"description": "The person.", "content": {"application/json": {"schema": {
                "type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            }}}}},
        });
        (format!("/lists/{number}/people/{{id}}"), json!({"get": operation}))
    });
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "People", "version": "1"},
        "servers": [{"url": format!("http://127.0.0.1:{port}")}],
        "paths": operations.collect::<serde_json::Map<String, Value>>(),
    });
    let engine = HttpEngine::builder().private_host("127.0.0.1").build()?;
    let loaded = Loader::from_spec(document)?.options(Options::default()).tools(&engine)?;
    Ok(Registry::new(loaded.tools)?)
}

fn auditor(records: &Records) -> Result<Auditor, Anything> {
    Ok(match records {
        Records::None => Auditor::none(),
        Records::Memory => Auditor::builder(MemorySink::new()).start()?,
        Records::Jsonl(path) => Auditor::builder(JsonLinesSink::open(path)?).start()?,
        Records::Sqlite(path) => Auditor::builder(SqliteSink::open(path)?).start()?,
        Records::Durable(path) => Auditor::builder(SqliteSink::open(path)?).durable(true).start()?,
    })
}

/// Returns a memory statistic of this process in KiB, from Linux.
fn memory(what: &str) -> Result<u64, Anything> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
    let figure = line.and_then(|line| line.split_whitespace().next()).ok_or("no figure of memory")?;
    Ok(figure.parse()?)
}
