//! A tool whose calls do what their arguments say, and a log with the time of each event.

use toolgen_runtime::Schema;
use toolgen_runtime::agent::dispatch::{Dispatched, Strategy};

use crate::prelude::*;

/// `begin 1`, `end 1` and so on, with the milliseconds since the turn started.
pub(crate) type Log = Arc<Mutex<Vec<(String, u128)>>>;

/// Sleeps for `ms`, then returns its `id`; fails, panics or waits forever if its arguments say so.
pub(crate) struct Sleeper {
    pub(crate) spec: ToolSpec,
    pub(crate) log: Log,
    pub(crate) since: Instant,
}

impl Sleeper {
    fn note(&self, what: &str, id: &Value) {
        self.log.lock().unwrap().push((format!("{what} {id}"), self.since.elapsed().as_millis()));
    }
}

impl AgentTool for Sleeper {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let id = &params["id"];
            self.note("begin", id);
            if let Some(millis) = params["ms"].as_u64() {
                tokio::time::sleep(Duration::from_millis(millis)).await;
            }
            match params["how"].as_str() {
                Some("fail") => return Err(ToolError::failed(format!("{id} failed"))),
                Some("panic") => panic!("secret"),
                Some("never") => std::future::pending().await,
                _ => {}
            }
            self.note("end", id);
            Ok(ToolResult::text(id.to_string()))
        })
    }
}

/// A specification that accepts any object.
pub(crate) fn spec(name: &'static str) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        description: Text::Static("Sleeps."),
        input: Schema::text(r#"{"type":"object"}"#),
        effects: Effects::NONE,
        ..ToolSpec::EMPTY
    }
}

pub(crate) struct Bench {
    pub(crate) log: Log,
    since: Instant,
    tools: Vec<Sleeper>,
}

impl Bench {
    /// With a tool `t` that conflicts with no other call.
    pub(crate) fn new() -> Bench {
        Bench { log: Log::default(), since: Instant::now(), tools: Vec::new() }.with(spec("t"))
    }

    pub(crate) fn with(mut self, spec: ToolSpec) -> Bench {
        self.tools.push(Sleeper { spec, log: Arc::clone(&self.log), since: self.since });
        self
    }

    pub(crate) fn builder(self) -> ToolboxBuilder {
        let builder = self.tools.into_iter().fold(Registry::builder(), |builder, tool| builder.add(tool));
        Toolbox::builder(&builder.seal().unwrap())
    }

    pub(crate) fn toolbox(self) -> Toolbox {
        self.builder().build().unwrap()
    }
}

/// A call of `t` that takes `millis`.
pub(crate) fn call(id: usize, millis: u64) -> ToolCall {
    call_of("t", id, json!({ "ms": millis }))
}

/// A call of a tool with more arguments.
pub(crate) fn call_of(tool: &str, id: usize, mut arguments: Value) -> ToolCall {
    arguments["id"] = json!(id);
    ToolCall::new(id.to_string(), tool, arguments)
}

pub(crate) fn options(strategy: Strategy) -> DispatchOptions {
    DispatchOptions::new().with_strategy(strategy)
}

pub(crate) fn turn() -> Turn {
    Turn::new("turn")
}

/// The IDs of the calls, in the order of their results.
pub(crate) fn ids(dispatched: &Dispatched) -> Vec<&str> {
    dispatched.responses.iter().map(|response| response.id.as_str()).collect()
}

pub(crate) fn texts(dispatched: &Dispatched) -> Vec<String> {
    dispatched.responses.iter().map(|response| response.text()).collect()
}

/// The events without their times.
pub(crate) fn steps(log: &Log) -> Vec<String> {
    log.lock().unwrap().iter().map(|(step, _)| step.clone()).collect()
}
