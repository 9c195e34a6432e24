//! The layers: how each is set up, and its promises regardless of the other layers of a call.

use toolgen_runtime::CircuitBreaker;
use toolgen_runtime::call::session::{Sessions, SessionsLimits};
use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::breaker::BreakerSettings;
use toolgen_runtime::layers::pages::{Pages, ResultLimit};
use toolgen_runtime::layers::redact::Redactor;
use toolgen_runtime::layers::trace::Trace;
use toolgen_runtime::layers::voice::Voice;
use toolgen_runtime::layers::{Invocation, Layer, Stage};
use toolgen_runtime::rules::{Rules, RulesLayer};
use toolgen_runtime::store::MemoryStore;

use crate::matrix::checks;
use crate::matrix::evidence::{Cell, World, stem};
use crate::prelude::*;

/// The setup that rows may change before the calls of a cell.
pub(crate) struct Setup {
    pub(crate) builder: ToolboxBuilder,
    pub(crate) context: ToolboxContext,
    pub(crate) turn: Turn,
    pub(crate) dependencies: Dependencies,
    pub(crate) world: Arc<World>,
    /// The names of all tools except the target.
    pub(crate) others: Vec<&'static str>,
}

/// A layer.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// The setters of the builder that the row uses or covers.
    pub(crate) setters: &'static [&'static str],
    pub(crate) install: fn(Setup) -> Setup,
    /// The check of every cell with the layer.
    pub(crate) check: fn(&Cell<'_>),
}

/// The maximum length of a text that `pages` lets pass, with the notice that there is more.
pub(crate) const LONGEST: u64 = 600;

/// The number of failures after which `repeats` and `breaker` refuse a call.
pub(crate) const FAILURES: u32 = 2;

impl Setup {
    fn build(mut self, change: impl FnOnce(ToolboxBuilder, &Arc<World>) -> ToolboxBuilder) -> Setup {
        self.builder = change(self.builder, &self.world);
        self
    }

    fn turn(mut self, change: impl FnOnce(Turn) -> Turn) -> Setup {
        self.turn = change(self.turn);
        self
    }
}

/// A layer of the program: it lets two calls of the target pass.
struct Twice(AtomicUsize);

impl Layer for Twice {
    fn stage(&self) -> Stage {
        Stage::Admit
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        spec.name.as_str() == "target"
    }

    fn before<'a>(&'a self, _: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        let refused = self.0.fetch_add(1, Ordering::SeqCst) >= 2;
        refused.then(|| -> BoxFuture<'a, _> { Box::pin(ready(Err(ToolError::denied("twice is enough")))) })
    }
}

fn row(
    name: &'static str,
    setters: &'static [&'static str],
    install: fn(Setup) -> Setup,
    check: fn(&Cell<'_>),
) -> Row {
    Row { name, setters, install, check }
}

/// The layers that decide whether the target may run at all.
pub(crate) fn gates() -> Vec<Row> {
    let never = |cell: &Cell<'_>| cell.nothing_ran("it is not allowed to");
    vec![
        row(
            "list",
            &["allow"],
            |s| {
                let others = s.others.clone();
                s.build(|b, _| b.allow(others))
            },
            never,
        ),
        row(
            "toolset",
            &["toolset"],
            |s| {
                let set = Toolset::new("others", s.others.clone());
                s.build(|b, _| b.toolset(&set))
            },
            never,
        ),
        row(
            "rules",
            &["rules"],
            |s| s.build(|b, _| b.rules(PolicyRules::builder().exclude(["target"]).build().unwrap())),
            never,
        ),
        row(
            "limits",
            &["context"],
            |mut s| {
                s.context = s.context.with_limits(EffectLimits { read_only: true, ..EffectLimits::ANY });
                s
            },
            never,
        ),
        row(
            "scopes",
            &[],
            |s| s.turn(|turn| turn.with_principal(Principal::new("mallory").with_scopes(["read", "write"]))),
            never,
        ),
        row(
            "principal's tools",
            &[],
            |s| {
                let principal =
                    Principal::new("bob").with_scopes(["read", "write", "work"]).with_tools(s.others.clone());
                s.turn(|turn| turn.with_principal(principal))
            },
            never,
        ),
        row(
            "requirement",
            &["dependencies", "Dependencies"],
            |s| {
                s.world.closed.store(true, Ordering::SeqCst);
                s
            },
            never,
        ),
        row("hide", &["hide_forbidden"], |s| s.build(|b, _| b.hide_forbidden()), checks::hidden),
    ]
}

/// The layers that let some calls pass, or change them.
pub(crate) fn deciders() -> Vec<Row> {
    vec![
        row(
            "rate",
            &["rate_limit", "RateLimitLayer"],
            |s| {
                s.build(|b, world| {
                    let world = Arc::clone(world);
                    b.rate_limit(move |_: &Principal, spec: &ToolSpec| {
                        spec.name.as_str() != "target" || world.counted.fetch_add(1, Ordering::SeqCst) < 2
                    })
                })
            },
            checks::rate,
        ),
        row("layer", &["layer"], |s| s.build(|b, _| b.layer(Twice(AtomicUsize::new(0)))), checks::rate),
        row(
            "repeats",
            &["max_repeated_failures", "RepeatLayer"],
            |s| s.build(|b, _| b.max_repeated_failures(std::num::NonZeroU32::new(FAILURES))),
            checks::failures,
        ),
        row(
            "shared failures",
            &["failure_store"],
            |s| {
                s.build(|b, w| {
                    b.max_repeated_failures(std::num::NonZeroU32::new(FAILURES))
                        .failure_store(w.stored.clone())
                })
            },
            |cell| {
                checks::failures(cell);
                checks::stored_without_secrets(cell);
            },
        ),
        row(
            "shared session",
            &[],
            |s| {
                let sessions = Sessions::shared(SessionsLimits::DEFAULT, s.world.stored.clone());
                s.turn(|turn| turn.with_session(sessions.open("s-1")))
            },
            checks::stored,
        ),
        row(
            "breaker",
            &["breaker", "CircuitBreaker"],
            |s| {
                let settings =
                    BreakerSettings::DEFAULT.with_failures(std::num::NonZeroU32::new(FAILURES).unwrap());
                s.build(|b, _| b.breaker(Arc::new(CircuitBreaker::new().with_settings(settings))))
            },
            checks::failures,
        ),
        row(
            "modify",
            &["middleware", "MiddlewareLayer"],
            |s| s.build(|b, w| b.middleware(By(Arc::clone(w), prefix))),
            checks::modified,
        ),
        row(
            "deny",
            &[],
            |s| s.build(|b, w| b.middleware(By(Arc::clone(w), deny))),
            |cell| {
                cell.holds(cell.ran("/large").is_empty(), "middleware denied it", &cell.ran("/large"));
            },
        ),
        row(
            "deny rule",
            &["RulesLayer"],
            |s| {
                let rules = Rules::parse(["deny target when args.path.endsWith('/large')"]).unwrap();
                s.build(|b, _| b.layer(RulesLayer::new(rules)))
            },
            |cell| {
                cell.holds(cell.ran("/large").is_empty(), "a rule denied it", &cell.ran("/large"));
            },
        ),
        row(
            "approver",
            &["approver", "approval_timeout", "callback_timeout"],
            |s| {
                s.build(|b, w| {
                    b.middleware(By(Arc::clone(w), needs_approval))
                        .approver(Clerk(Arc::clone(w)))
                        .approval_timeout(Duration::from_secs(20))
                        .callback_timeout(Duration::from_secs(20))
                })
            },
            checks::approved,
        ),
        row(
            "approval later",
            &["approval_key", "approval_expiry", "approval_store"],
            |s| {
                s.build(|b, w| {
                    b.middleware(By(Arc::clone(w), needs_approval))
                        .approval_key([7; 32])
                        .approval_expiry(Duration::from_secs(60))
                        .approval_store(Approvals::on(MemoryStore::new()))
                })
            },
            checks::resumed,
        ),
        row(
            "approval queue",
            &["approval_queue"],
            |s| {
                s.build(|b, w| {
                    let queue = Approvals::on(MemoryStore::new());
                    *w.queue.lock().unwrap() = Some(queue.clone());
                    b.middleware(By(Arc::clone(w), needs_approval)).approval_queue(queue)
                })
            },
            checks::resumed,
        ),
        row(
            "time",
            &["default_timeout"],
            |s| s.build(|b, _| b.default_timeout(Duration::from_millis(300))),
            checks::timed,
        ),
        row(
            "nested calls",
            &["max_nested_calls"],
            |s| s.build(|b, _| b.max_nested_calls(0)),
            |cell| {
                // The calls of a sub-agent come from a model.
                if cell.kind.called == "outer" && cell.kind.name != "sub-agent" {
                    cell.nothing_ran("no call is allowed");
                }
            },
        ),
        row(
            "input",
            &["input_handler", "effect", "answerer"],
            |s| s.build(|b, w| b.input_handler(Sure(Arc::clone(w)))),
            checks::input,
        ),
        row(
            "hosts",
            &[],
            |s| {
                let only = Network::Hosts(vec![Text::Static("example.com")].into());
                s.turn(|turn| turn.with_allowed_hosts(&only))
            },
            checks::hosts,
        ),
    ]
}

/// The layers that cut, observe or record.
pub(crate) fn watchers() -> Vec<Row> {
    vec![
        row(
            "pages",
            &["paging", "without_paging", "Pages"],
            |s| s.build(|b, _| b.paging(Pages::new(ResultLimit::bytes(LONGEST)))),
            checks::short,
        ),
        row(
            "discovery",
            &["discovery"],
            |s| s.build(|b, _| b.discovery(Discovery::new())),
            checks::named_as_called,
        ),
        row(
            "voice",
            &["voice", "Voice"],
            |s| s.build(|b, _| b.voice(Voice::HELPERS)),
            checks::named_as_called,
        ),
        row("hooks", &["hooks"], |s| s.build(|b, w| b.hooks(Watch(Arc::clone(w)))), checks::hooks),
        row(
            "events",
            &["on_event"],
            |s| {
                s.build(|b, w| {
                    let world = Arc::clone(w);
                    b.on_event(move |event| world.events.lock().unwrap().push(event))
                })
            },
            checks::events,
        ),
        row(
            "audit",
            &["Auditor"],
            |s| {
                s.build(|b, w| {
                    let sink = MemorySink::new();
                    let auditor = Auditor::builder(sink.clone()).start().unwrap();
                    *w.sink.lock().unwrap() = Some((sink, auditor.clone()));
                    b.layer(auditor)
                })
            },
            checks::audited,
        ),
        row("trace", &["Trace"], |s| s.build(|b, _| b.layer(Trace::new().with_content())), checks::traced),
        row("otel", &["Otel"], |s| s.build(|b, _| b.layer(crate::matrix::spans::otel())), checks::traced),
        row("redactor", &["redactor"], |s| s.build(|b, _| b.redactor(Redactor::new())), |_| {}),
    ]
}

pub(crate) fn all() -> Vec<Row> {
    gates().into_iter().chain(deciders()).chain(watchers()).collect()
}

type Decide = fn(&World, &str, &ToolRequest<'_>) -> MiddlewareDecision;

/// Middleware that decides only about the target.
struct By(Arc<World>, Decide);

impl Middleware for By {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        let path = request.arguments["path"].as_str().unwrap_or_default();
        let decision = match request.spec.name.as_str() {
            "target" => (self.1)(&self.0, path, request),
            _ => MiddlewareDecision::Allow,
        };
        Box::pin(ready(decision))
    }
}

fn prefix(_: &World, path: &str, request: &ToolRequest<'_>) -> MiddlewareDecision {
    if request.approved() {
        return MiddlewareDecision::Allow;
    }
    let mut arguments = request.arguments.clone();
    arguments["path"] = Value::from(format!("/tenant{path}"));
    MiddlewareDecision::Modify(arguments)
}

fn deny(_: &World, path: &str, _: &ToolRequest<'_>) -> MiddlewareDecision {
    if stem(path) == "/large" {
        MiddlewareDecision::Deny("too much".to_owned())
    } else {
        MiddlewareDecision::Allow
    }
}

/// The calls that need an approval.
pub(crate) fn is_guarded(path: &str) -> bool {
    ["/a", "/echo"].contains(&stem(path))
}

fn needs_approval(_: &World, path: &str, _: &ToolRequest<'_>) -> MiddlewareDecision {
    if is_guarded(path) {
        MiddlewareDecision::NeedApproval("it is special".to_owned())
    } else {
        MiddlewareDecision::Allow
    }
}

/// Approves one of the two.
struct Clerk(Arc<World>);

impl Approver for Clerk {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        let approval = if stem(request.arguments["path"].as_str().unwrap_or_default()) == "/a" {
            self.0.approved.lock().unwrap().push(request.arguments.clone());
            Approval::ApprovedBy(Text::Static("clerk"))
        } else {
            Approval::Rejected("no".to_owned())
        };
        Box::pin(ready(approval))
    }
}

/// Always answers "sure".
struct Sure(Arc<World>);

impl InputHandler for Sure {
    fn ask<'a>(
        &'a self,
        _: InputQuestion<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(ready(Ok(InputReply::Given(json!({"sure": true})))))
    }
}

/// Records what starts and ends, and skips one call.
struct Watch(Arc<World>);

impl Hooks for Watch {
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, _: &'a ToolContext) -> BoxFuture<'a, bool> {
        let skip = call.arguments.to_string().contains("/skip");
        if !skip {
            self.0.begun.lock().unwrap().push(call.id.to_string());
        }
        Box::pin(ready(!skip))
    }

    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        self.0.ended.lock().unwrap().push(response.id.to_string());
        Box::pin(ready(()))
    }
}
