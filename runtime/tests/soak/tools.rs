//! Tools that misbehave in every way.

use std::sync::atomic::AtomicI64;

use toolgen_runtime::{
    AgentTool, BoxFuture, Effects, Registry, Schema, Service, Text, ToolError, ToolName, ToolResult,
    ToolSpec, tool, toolset,
};

use crate::prelude::*;

/// Counters of the tools of a run.
#[derive(Default)]
pub(crate) struct World {
    /// Tool bodies that have started and have neither ended nor been dropped.
    running: AtomicI64,
    /// Calls of tools that timed out while they waited.
    pub(crate) hanging: AtomicI64,
}

impl World {
    pub(crate) fn running(&self) -> i64 {
        self.running.load(Ordering::SeqCst)
    }

    fn enter(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::SeqCst);
        Running(self)
    }
}

/// Counts a tool body until it is dropped.
struct Running<'a>(&'a World);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The payload of panics of tools, to distinguish them from panics of a test.
pub(crate) const PANIC: &str = "a tool of the soak panics";

/// Returns its argument.
#[tool(pure, undocumented)]
fn echo(n: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    n
}

/// Returns its argument many times.
#[tool(pure, undocumented)]
fn big(n: u64, world: Service<World>) -> String {
    let _running = world.enter();
    format!("{n} ").repeat(1000)
}

/// Returns its argument, after yielding to other tasks.
#[tool(pure, undocumented)]
async fn later(n: u64, turns: u32, world: Service<World>) -> u64 {
    let _running = world.enter();
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    n
}

/// Returns its argument, after a delay.
#[tool(pure, undocumented)]
async fn slow(n: u64, millis: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    tokio::time::sleep(Duration::from_millis(millis)).await;
    n
}

/// Returns its argument, from a blocking thread.
#[tool(pure, undocumented, blocking)]
fn blocking(n: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    n
}

/// Never ends.
#[tool(pure, undocumented, timeout = "1ms")]
async fn hang(n: u64, ctx: &ToolContext, world: Service<World>) {
    let _running = world.enter();
    ctx.progress(format!("hanging at {n}"));
    std::future::pending::<()>().await;
    // Only reached if the token fires.
    ctx.cancel().cancelled().await;
    world.hanging.fetch_add(1, Ordering::SeqCst);
}

/// Fails.
#[tool(pure, undocumented)]
fn fail(n: u64, world: Service<World>) -> Result<u64, ToolError> {
    let _running = world.enter();
    Err(ToolError::failed(format!("it broke at {n}")))
}

/// Fails without a message.
#[tool(pure, undocumented)]
fn half_fail(n: u64, world: Service<World>) -> Value {
    let _running = world.enter();
    json!({"success": false, "error": format!("not {n}")})
}

/// Panics.
#[tool(pure, undocumented)]
async fn panics(n: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    if n.is_multiple_of(2) {
        tokio::task::yield_now().await;
    }
    panic!("{PANIC}");
}

/// Panics on a blocking thread.
#[tool(pure, undocumented, blocking)]
fn blocking_panics(n: u64, world: Service<World>) {
    let _running = world.enter();
    panic!("{PANIC}{}", &n.to_string()[..0]);
}

/// Calls another tool.
#[tool(pure, undocumented)]
async fn nested(n: u64, ctx: &ToolContext, world: Service<World>) -> Result<u64, ToolError> {
    let _running = world.enter();
    let result = ctx.call("echo", json!({"n": n})).await?;
    result.to_text().parse().map_err(|_| ToolError::failed("echo lies"))
}

/// Calls itself recursively without end.
#[tool(pure, undocumented)]
async fn bottomless(ctx: &ToolContext, world: Service<World>) -> Result<String, ToolError> {
    let _running = world.enter();
    Ok(ctx.call("bottomless", json!({})).await?.to_text())
}

/// Opens a session.
#[tool(pure, undocumented)]
fn open(world: Service<World>) {
    let _running = world.enter();
}

/// Requires an open session.
#[tool(pure, undocumented, requires(tool("open")))]
fn opened(n: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    n
}

/// Requires an account.
#[tool(pure, undocumented, requires(entity("account", argument = "account")))]
fn account(account: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    account
}

/// Is in no list.
#[tool(pure, undocumented)]
fn unlisted() {}

/// Writes, which no context in this test allows.
#[tool(undocumented, destructive)]
fn writes() {}

/// Is denied by a rule.
#[tool(pure, undocumented)]
fn secret_plans() {}

/// Is handled by middleware.
#[tool(pure, undocumented)]
fn guarded(n: u64, world: Service<World>) -> u64 {
    let _running = world.enter();
    n
}

/// Calls a service that is mostly unavailable.
struct Flaky;

static FLAKY: ToolSpec = ToolSpec {
    name: ToolName::new("flaky"),
    description: Text::Static("Asks a service that is down most of the time."),
    input: Schema::text(r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}"#),
    effects: Effects::NONE,
    service: Text::Static("weather"),
    ..ToolSpec::EMPTY
};

impl AgentTool for Flaky {
    fn spec(&self) -> &ToolSpec {
        &FLAKY
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let n = params["n"].as_u64().unwrap_or_default();
            if n.is_multiple_of(3) {
                Ok(ToolResult::text(n.to_string()))
            } else {
                Err(ToolError::failed("no answer"))
            }
        })
    }
}

pub(crate) fn registry() -> Registry {
    let tools = toolset![
        echo,
        big,
        later,
        slow,
        blocking,
        hang,
        fail,
        half_fail,
        panics,
        blocking_panics,
        nested,
        bottomless,
        open,
        opened,
        account,
        unlisted,
        writes,
        secret_plans,
        guarded,
    ];
    Registry::builder().add_all(tools).add(Flaky).seal().unwrap()
}
