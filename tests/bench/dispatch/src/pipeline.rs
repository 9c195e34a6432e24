//! Measures the cost of each layer of a toolbox.

use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};
use toolgen_runtime::call::limits::EffectLimits;
use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome, AuditSink, Auditor};
use toolgen_runtime::layers::hooks::Hooks;
use toolgen_runtime::layers::middleware::{Middleware, MiddlewareDecision, ToolRequest};
use toolgen_runtime::layers::otel::Otel;
use toolgen_runtime::layers::pages::{Pages, ResultLimit};
use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::layers::rate::WindowLimit;
use toolgen_runtime::toolbox::ToolboxBuilder;
use toolgen_runtime::{
    AgentTool, BoxFuture, ContextValues, Effects, Principal, Registry, Schema, Session, ToolCall,
    ToolContext, ToolError, ToolName, ToolResult, ToolSpec, Toolbox, ToolboxContext, Turn, tool, toolset,
};

use crate::now;

#[tool(pure, undocumented, description = "Does nothing.")]
fn noop() {}

#[tool(pure, undocumented, description = "Needs a value.", requires(context("workspace_id")))]
fn needs() {}

/// A tool of a service.
struct Served(ToolSpec);

impl AgentTool for Served {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute<'a>(&'a self, _: Value, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolResult::empty())))
    }
}

struct Idle;

impl Hooks for Idle {}

impl Middleware for Idle {
    fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(std::future::ready(MiddlewareDecision::Allow))
    }
}

impl AuditSink for Idle {
    fn intent(&mut self, _: &AuditIntent) -> Result<(), AuditError> {
        Ok(())
    }

    fn outcome(&mut self, _: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
        Ok(())
    }
}

fn named(name: String) -> Served {
    let input = Schema::text(r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#);
    let name = ToolName::parse(name).unwrap();
    Served(ToolSpec { name, input, effects: Effects::NONE, ..ToolSpec::EMPTY })
}

fn builder() -> ToolboxBuilder {
    let mut served = named("served".to_owned());
    served.0.service = "weather".to_owned().into();
    let registry = Registry::builder()
        .add_all(toolset![noop, needs])
        .add(served)
        .add(named("secret_plans".to_owned()))
        .seal()
        .unwrap();
    Toolbox::builder(&registry)
}

/// A toolbox, the turn, and the tool that is called.
type Case = (&'static str, Toolbox, Turn, &'static str);

fn cases(auditor: &Auditor) -> Vec<Case> {
    let turn = || Turn::new("turn");
    let principal = || Principal::new("key-7").with_scopes(["read"]);
    let rules = || PolicyRules::builder().include(["*"]).exclude(["secret_plans"]).build().unwrap();
    let limit = || WindowLimit::new().with_per_tool(u32::MAX).with_per_principal(u32::MAX);
    let values = || ContextValues::default().with_trusted("workspace_id", 7);
    let build = |builder: ToolboxBuilder| builder.build().unwrap();
    let limited = || ToolboxContext::new().with_limits(EffectLimits::NONE);
    let all = builder()
        .context(limited().with_values(values()))
        .allow(["noop", "needs", "served"])
        .rules(rules())
        .rate_limit(limit())
        .middleware(Idle)
        .paging(Pages::new(ResultLimit::bytes(1 << 16)))
        .hooks(Idle)
        .on_event(|event| drop(black_box(event)))
        .layer(auditor.clone());
    vec![
        ("bare", build(builder()), turn(), "noop"),
        ("no guard against repeats", build(builder().max_repeated_failures(None)), turn(), "noop"),
        (
            "limits, rules, list",
            build(builder().context(limited()).rules(rules()).allow(["noop"])),
            turn(),
            "noop",
        ),
        ("principal", build(builder()), turn().with_principal(principal()), "noop"),
        ("principal, rate", build(builder().rate_limit(limit())), turn().with_principal(principal()), "noop"),
        ("session", build(builder()), turn().with_session(Session::new("s")), "noop"),
        ("a requirement", build(builder()), turn().with_values(values()), "needs"),
        ("middleware", build(builder().middleware(Idle)), turn(), "noop"),
        ("circuit breaker", build(builder()), turn(), "served"),
        ("pages", build(builder().paging(Pages::new(ResultLimit::bytes(1 << 16)))), turn(), "noop"),
        ("hooks", build(builder().hooks(Idle)), turn(), "noop"),
        ("events", build(builder().on_event(|event| drop(black_box(event)))), turn(), "noop"),
        ("records", build(builder().layer(auditor.clone())), turn(), "noop"),
        // Only the OpenTelemetry API: there is no SDK that would create spans.
        ("telemetry, no library", build(builder().layer(Otel::new())), turn(), "noop"),
        (
            "all of these",
            build(all),
            turn().with_principal(principal()).with_session(Session::new("s")),
            "needs",
        ),
    ]
}

const ROUNDS: u32 = 200;
const RUNS: usize = 400;

/// Returns the nanoseconds of a function, the best of many runs.
fn best(mut one: impl FnMut()) -> f64 {
    let run = |one: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            one();
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
    };
    (0..RUNS).map(|_| run(&mut one)).fold(f64::INFINITY, f64::min)
}

/// Measures calls of a tool that does nothing.
pub fn calls() {
    // The queue holds all records: dropping one would cost less than recording it.
    let auditor = Auditor::builder(Idle).capacity(usize::MAX).start().unwrap();
    println!("\n{:<28} {:>8}", "a call that does nothing", "ns/call");
    let mut bare = 0.0;
    for (name, toolbox, turn, tool) in cases(&auditor) {
        let call = || now(toolbox.run(ToolCall::new("call-1", tool, json!({})), &turn));
        assert_eq!(call().outcome.map(|result| result.to_text()), Ok(String::new()), "{name}");
        let nanos = best(|| drop(black_box(call())));
        if name == "bare" {
            bare = nanos;
            println!("{name:<28} {nanos:>8.0}");
        } else {
            println!("{name:<28} {nanos:>8.0} {:>+6.0}", nanos - bare);
        }
    }
    let registry = Registry::new(toolset![noop]).unwrap();
    let ctx = Turn::new("turn").call_context("1", "noop");
    let nanos = best(|| drop(black_box(now(registry.call_without_layers("noop", json!({}), &ctx)))));
    println!("{:<28} {nanos:>8.0}", "without a toolbox");
}
