//! Layers that a program adds.

use toolgen_runtime::CircuitBreaker;
use toolgen_runtime::layers::breaker::BreakerSettings;
use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};
use toolgen_runtime::layers::redact::Secrets;
use toolgen_runtime::layers::{Called, Invocation, Layer, Next, Observer, Outcome, Stage};

use super::{Journal, call, toolbox};
use crate::prelude::*;

/// The stages whose layers run before and after the inner layers.
const BETWEEN: [Stage; 4] = [Stage::Admit, Stage::Result, Stage::Arguments, Stage::Around];

/// Records what it sees of a call, and acts as configured.
struct Noting {
    name: &'static str,
    stage: Stage,
    journal: Journal,
    refuses: bool,
}

impl Noting {
    fn new(name: &'static str, stage: Stage, journal: &Journal) -> Noting {
        Noting { name, stage, journal: journal.clone(), refuses: false }
    }
}

impl Layer for Noting {
    fn stage(&self) -> Stage {
        self.stage
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        spec.name.as_str() != "fail"
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        self.journal.note(format!("{} before {}", self.name, call.name()));
        self.refuses
            .then(|| -> BoxFuture<'a, _> { Box::pin(async { Err(ToolError::failed_with("NO", "not now")) }) })
    }

    fn decide<'a>(&'a self, request: &'a ToolRequest<'a>) -> Option<BoxFuture<'a, MiddlewareDecision>> {
        self.journal.note(format!("{} about {}", self.name, request.arguments));
        None
    }

    fn around<'a>(&'a self, _: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            self.journal.note(format!("{} in", self.name));
            let outcome = next.run().await;
            self.journal.note(format!("{} out", self.name));
            outcome
        })
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        let text = outcome.as_ref().map_or_else(ToString::to_string, ToolResult::to_text);
        self.journal.note(format!("{} after {text}, started: {}", self.name, call.has_started()));
        None
    }
}

#[tokio::test]
async fn layers_run_in_order_of_stage_then_insertion() {
    let journal = Journal::default();
    let mut builder = toolbox();
    // Reversed: stages order them.
    let rest = [Stage::Record, Stage::Trace, Stage::Decide];
    assert!(Stage::ALL.iter().all(|stage| BETWEEN.contains(stage) != rest.contains(stage)));
    assert!(Stage::ALL.is_sorted());
    for stage in Stage::ALL.into_iter().rev() {
        for name in ["first", "second"] {
            let name = format!("{stage:?} {name}").leak();
            builder = builder.layer(Noting::new(name, stage, &journal));
        }
    }
    let toolbox = builder.build().unwrap();
    assert_eq!(call(&toolbox, "add", json!({"a": 1, "b": 2})).await.text(), "3");
    let after = |name: &str| format!("{name} after 3, started: true");
    let expected = [
        "Admit first before add".to_owned(),
        "Admit second before add".to_owned(),
        "Result first before add".to_owned(),
        "Result second before add".to_owned(),
        "Arguments first before add".to_owned(),
        "Arguments second before add".to_owned(),
        r#"Decide first about {"a":1,"b":2}"#.to_owned(),
        r#"Decide second about {"a":1,"b":2}"#.to_owned(),
        "Around first before add".to_owned(),
        "Around second before add".to_owned(),
        "Around first in".to_owned(),
        "Around second in".to_owned(),
        "Around second out".to_owned(),
        "Around first out".to_owned(),
        after("Around second"),
        after("Around first"),
        after("Arguments second"),
        after("Arguments first"),
        after("Result second"),
        after("Result first"),
        after("Admit second"),
        after("Admit first"),
    ];
    assert_eq!(journal.lines(), expected);
    // They do not take part in the calls of a tool that does not concern them.
    call(&toolbox, "fail", json!({})).await;
    assert_eq!(journal.lines().len(), expected.len());
}

#[tokio::test]
async fn refusal_of_a_layer_is_seen_by_outer_layers() {
    for stage in BETWEEN {
        let (journal, sink) = (Journal::default(), MemorySink::new());
        let outer = Noting::new("outer", stage, &journal);
        let refusing = Noting { refuses: true, ..Noting::new("refusing", stage, &journal) };
        let inner = Noting::new("inner", Stage::Around, &journal);
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        let builder = toolbox().layer(auditor.clone());
        let toolbox = builder.layer(outer).layer(refusing).layer(inner).build().unwrap();
        let response = call(&toolbox, "add", json!({"a": 1, "b": 2})).await;
        assert_eq!(response.outcome.unwrap_err().code(), "NO", "{stage:?}");
        let lines = journal.lines();
        assert_eq!(lines[..2], ["outer before add", "refusing before add"], "{stage:?}");
        assert_eq!(lines[2..], ["outer after not now, started: false"], "{stage:?}");
        auditor.flush().await.unwrap();
        assert_eq!(sink.rows().len(), 1, "{stage:?}: one answer, one record");
    }
}

/// Returns outcomes of its own, or changes outcomes.
struct Instead(Stage);

impl Layer for Instead {
    fn stage(&self) -> Stage {
        self.0
    }

    fn around<'a>(&'a self, _: &'a Invocation<'a>, _: Next<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(ready(Ok(ToolResult::text("instead"))))
    }

    fn after<'a>(&'a self, _: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        (self.0 == Stage::Admit).then(|| -> BoxFuture<'a, ()> {
            Box::pin(async move { *outcome = Ok(ToolResult::text("changed")) })
        })
    }
}

#[tokio::test]
async fn layer_may_replace_the_tool_and_its_result() {
    let fail = |stage| async move {
        let toolbox = toolbox().layer(Instead(stage)).build().unwrap();
        call(&toolbox, "fail", json!({})).await.text()
    };
    assert_eq!(fail(Stage::Around).await, "instead");
    assert_eq!(fail(Stage::Admit).await, "changed");
}

/// Records the arguments if it reads them, and afterwards the value that it kept.
struct Reading {
    journal: Journal,
    reads: bool,
}

impl Layer for Reading {
    fn stage(&self) -> Stage {
        Stage::Arguments
    }

    fn reads_arguments(&self, _: &Invocation<'_>) -> bool {
        self.reads
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        self.journal.note(format!("{:?} of {}", call.arguments(), call.sent()));
        call.keep(self, call.arguments()?["a"].clone());
        None
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, _: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        let (kept, again) = (call.take::<Value>(self), call.take::<Value>(self));
        self.journal.note(format!("{kept:?} {again:?} {:?}", call.take::<String>(self)));
        None
    }
}

#[tokio::test]
async fn layer_may_read_arguments_and_keep_data() {
    let run = |reads: &'static [bool], arguments: &'static str| async move {
        let journal = Journal::default();
        let layer = |reads| Reading { journal: journal.clone(), reads };
        let builder = reads.iter().fold(toolbox(), |builder, reads| builder.layer(layer(*reads)));
        call(&builder.build().unwrap(), "add", Value::from(arguments)).await;
        journal.lines()
    };
    let sent = r#""{\"a\":1,\"b\":2}""#;
    let read = format!(r#"Some(Object {{"a": Number(1), "b": Number(2)}}) of {sent}"#);
    assert_eq!(run(&[true], r#"{"a":1,"b":2}"#).await, [read.as_str(), "Some(Number(1)) None None"]);
    assert_eq!(run(&[false], r#"{"a":1,"b":2}"#).await, ["None None None"]);
    // Each layer keeps its own value.
    let both = run(&[true, false], r#"{"a":1,"b":2}"#).await;
    assert_eq!(both, [&*read, &*read, "Some(Number(1)) None None", "Some(Number(1)) None None"]);
    // A string that is not JSON has no arguments, and is not checked yet: here two are missing.
    assert_eq!(run(&[true], "{").await, [r#"None of "{""#, "None None None"]);
    assert_eq!(run(&[true], "{}").await[0], r#"Some(Object {}) of "{}""#);
}

/// Panics, or waits forever.
struct Broken(&'static str, Stage, CancellationToken);

impl Layer for Broken {
    fn stage(&self) -> Stage {
        self.1
    }

    fn before<'a>(&'a self, _: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        assert!(self.0 != "before", "it broke");
        (self.0 == "waits").then(|| -> BoxFuture<'a, _> {
            Box::pin(async {
                self.2.cancel();
                std::future::pending().await
            })
        })
    }

    fn around<'a>(&'a self, _: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
        assert!(self.0 != "around", "it broke");
        next.run()
    }

    fn after<'a>(&'a self, _: &'a Invocation<'a>, _: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        assert!(self.0 != "after", "it broke");
        None
    }
}

#[tokio::test]
async fn failing_layer_fails_only_its_call() {
    for stage in BETWEEN {
        for (how, code) in [
            ("before", "EXECUTION_ERROR"),
            ("after", "EXECUTION_ERROR"),
            ("around", "EXECUTION_ERROR"),
            ("waits", "CANCELLED"),
        ] {
            if how == "around" && stage != Stage::Around {
                continue;
            }
            let cancel = CancellationToken::new();
            let toolbox = toolbox().layer(Broken(how, stage, cancel.clone())).build().unwrap();
            let turn = Turn::new("turn").with_cancel(cancel);
            let sum = ToolCall::new("c1", "add", json!({"a": 1, "b": 2}));
            let response = toolbox.run(sum, &turn).await;
            assert_eq!(response.outcome.unwrap_err().code(), code, "{how} at {stage:?}");
        }
    }
}

#[tokio::test]
async fn refusal_of_a_layer_does_not_count_for_the_breaker() {
    let spec = ToolSpec { name: ToolName::new("reach"), service: "s".into(), ..ToolSpec::EMPTY };
    let tool = toolgen_runtime::engine::dynamic::DynamicTool::new(spec, |_, _| ready(Ok("reached")));
    let registry = Registry::builder().add(tool).seal().unwrap();
    let settings = BreakerSettings::DEFAULT.with_failures(std::num::NonZeroU32::MIN);
    let breaker = Arc::new(CircuitBreaker::new().with_settings(settings));
    let journal = Journal::default();
    let refusing = Noting { refuses: true, ..Noting::new("refusing", Stage::Around, &journal) };
    let builder = Toolbox::builder(&registry).breaker(Arc::clone(&breaker));
    let toolbox = builder.layer(refusing).build().unwrap();
    for _ in 0..3 {
        assert_eq!(call(&toolbox, "reach", json!({})).await.outcome.unwrap_err().code(), "NO");
    }
    assert!(breaker.is_available("s"));
}

/// Records the outcomes of calls. For tools with certain names, it answers instead of the tool, refuses to run it, or
/// panics.
#[derive(Clone)]
struct Watching(Journal, &'static str);

/// A call that is observed, and its depth.
struct Watched(Watching, u32);

/// The depth of a call.
struct Depth(u32);

impl Layer for Watching {
    fn stage(&self) -> Stage {
        Stage::Record
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        spec.name.as_str() != "unwatched"
    }

    fn observe(&self, called: &Called<'_>, ctx: &mut ToolContext) -> Option<Box<dyn Observer>> {
        assert!(self.1 != "panics at once", "it broke");
        let depth = ctx.extension().map_or(0, |Depth(above)| above + 1);
        ctx.set_extension(Depth(depth));
        let (name, is_known) = (&called.call().name, called.tool().is_some());
        self.0.note(format!("{name}, known: {is_known}, depth {depth}"));
        Some(Box::new(Watched(self.clone(), depth)))
    }
}

impl Observer for Watched {
    fn intent(&mut self) -> Result<Option<BoxFuture<'_, Result<(), ToolError>>>, ToolError> {
        let Watched(Watching(journal, how), depth) = self;
        journal.note(format!("intent at {depth}"));
        match *how {
            "refuses" => Err(ToolError::failed_with("NO", "not now")),
            "waits" => Ok(Some(Box::pin(async {
                tokio::task::yield_now().await;
                Err(ToolError::failed_with("NO", "not after all"))
            }))),
            "panics" => panic!("it broke"),
            _ => Ok(None),
        }
    }

    fn answer(&self) -> Option<Outcome> {
        (self.0.1 == "answers").then(|| Ok(ToolResult::text("instead")))
    }

    fn finish(self: Box<Self>, outcome: &Outcome, _: Option<Arc<Secrets>>) -> Option<BoxFuture<'static, ()>> {
        let Watched(Watching(journal, how), depth) = *self;
        let text = outcome.as_ref().map_or_else(ToString::to_string, ToolResult::to_text);
        Some(Box::pin(async move {
            journal.note(format!("{text} at {depth}"));
            assert!(how != "panics late", "it broke");
        }))
    }
}

#[tokio::test]
async fn observing_layer_sees_every_call_and_may_replace_it() {
    let run = |how: &'static str, tool: &'static str| async move {
        let journal = Journal::default();
        let toolbox = toolbox().layer(Watching(journal.clone(), how)).build().unwrap();
        let arguments = if tool == "fail" { json!({}) } else { json!({"a": 1, "b": 2}) };
        let response = call(&toolbox, tool, arguments).await;
        (
            response.outcome.map(|result| result.to_text()).map_err(|error| error.code().to_owned()),
            journal.lines(),
        )
    };
    let started = "add, known: true, depth 0";
    let (text, lines) = run("", "add").await;
    assert_eq!(
        (text.unwrap().as_str(), &lines[..2]),
        ("3", &[started.to_owned(), "intent at 0".to_owned()][..])
    );
    assert_eq!(lines[2..], ["3 at 0"]);
    let (text, lines) = run("answers", "fail").await;
    assert_eq!((text.unwrap().as_str(), lines[2].as_str()), ("instead", "instead at 0"));
    for (how, code, message) in [
        ("refuses", "NO", "not now at 0"),
        ("waits", "NO", "not after all at 0"),
        ("panics", "EXECUTION_ERROR", "tool panicked at 0"),
    ] {
        let (text, lines) = run(how, "add").await;
        assert_eq!(text.unwrap_err(), code, "{how}");
        assert_eq!(lines[2], message, "{how}");
    }
    let (text, lines) = run("panics at once", "add").await;
    assert_eq!((text.unwrap_err().as_str(), lines.len()), ("EXECUTION_ERROR", 0));
    // Too late to change the outcome.
    assert_eq!(run("panics late", "add").await.0.unwrap(), "3");
    let (text, lines) = run("", "sub").await;
    assert_eq!(text.unwrap_err(), "TOOL_NOT_FOUND");
    assert_eq!(lines[0], "sub, known: false, depth 0");
    assert_eq!(lines.len(), 2, "{lines:?}");
}
