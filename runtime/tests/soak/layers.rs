//! A toolbox with all layers, which count their calls.

use toolgen_runtime::call::limits::EffectLimits;
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::layers::breaker::BreakerSettings;
use toolgen_runtime::layers::events::{Event, EventKind};
use toolgen_runtime::layers::hooks::Hooks;
use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest,
};
use toolgen_runtime::layers::pages::{Pages, ResultLimit, StoreLimits};
use toolgen_runtime::layers::policy::PolicyRules;
use toolgen_runtime::layers::rate::WindowLimit;
use toolgen_runtime::{BoxFuture, CircuitBreaker, Dependencies, ToolCall, Toolbox, ToolboxContext};

use crate::calls::SKIPPED;
use crate::prelude::*;
use crate::tools::{PANIC, World, registry};

/// The counts of the layers.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) skipped: AtomicU64,
    pub(crate) hooks_after: AtomicU64,
    pub(crate) calls: AtomicU64,
    pub(crate) responses: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

struct Watching(Arc<Seen>);

impl Hooks for Watching {
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, _: &'a ToolContext) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let skip = call.id.starts_with(SKIPPED);
            if skip {
                count(&self.0.skipped);
            }
            !skip
        })
    }

    fn after_tool_execution<'a>(&'a self, _: &'a ToolResponse, _: &'a ToolContext) -> BoxFuture<'a, ()> {
        Box::pin(async move { count(&self.0.hooks_after) })
    }
}

/// Decides by the number in the arguments.
struct Opinion;

fn number(arguments: &Value) -> u64 {
    arguments["n"].as_u64().unwrap_or_default()
}

impl Middleware for Opinion {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async move {
            let n = number(request.arguments);
            match n % 6 {
                _ if request.spec.name.as_str() != "guarded" => MiddlewareDecision::Allow,
                0 => MiddlewareDecision::Deny("not this number".to_owned()),
                1 => panic!("{PANIC}"),
                2 => MiddlewareDecision::Modify(json!({"n": n + 1})),
                3 | 4 => MiddlewareDecision::NeedApproval("numbers like this are special".to_owned()),
                _ => MiddlewareDecision::Allow,
            }
        })
    }
}

impl Approver for Opinion {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match number(&request.arguments) % 4 {
                0 => Approval::Approved,
                1 => panic!("{PANIC}"),
                2 => Approval::Rejected("no".to_owned()),
                _ => Approval::Later,
            }
        })
    }
}

pub(crate) fn toolbox(world: Arc<World>, seen: Arc<Seen>, auditor: Auditor) -> Toolbox {
    let registry = registry();
    let listed: Vec<String> =
        registry.iter().map(|tool| tool.name().to_owned()).filter(|name| name != "unlisted").collect();
    let dependencies = Dependencies::new().entity("account", |id: &Value, _: &ToolContext| {
        let exists = id.as_u64().is_some_and(|id| id.is_multiple_of(2));
        Box::pin(async move { Ok(exists) })
    });
    let limit = WindowLimit::new()
        .with_window(Duration::from_secs(1))
        .with_per_tool(u32::MAX)
        .with_per_principal(u32::MAX);
    let watching = Watching(Arc::clone(&seen));
    Toolbox::builder(&registry)
        .context(
            ToolboxContext::new()
                .with_agent_id("soak")
                .with_limits(EffectLimits::PLANNING)
                .with_service(world),
        )
        .allow(listed)
        .rules(PolicyRules::builder().exclude(["secret_*"]).build().unwrap())
        .rate_limit(limit)
        .dependencies(dependencies)
        // The circuit opens and closes many times during a run.
        .breaker(Arc::new(
            CircuitBreaker::new()
                .with_settings(BreakerSettings::DEFAULT.with_reset(Duration::from_millis(5))),
        ))
        .paging(Pages::with_store(
            ResultLimit::bytes(1 << 10),
            StoreLimits { results: 100, ..StoreLimits::DEFAULT },
        ))
        .middleware(Opinion)
        .approver(Opinion)
        .layer(auditor)
        .hooks(watching)
        .on_event(move |event: Event| match event.kind {
            EventKind::ToolCall { .. } => count(&seen.calls),
            EventKind::ToolResponse { .. } | EventKind::Error { .. } => count(&seen.responses),
            _ => {}
        })
        .build()
        .unwrap()
}
