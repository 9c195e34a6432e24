//! The tools that a toolbox offers, the order in which it checks calls, and its handling of large results.

mod documentation;
mod finding;
mod instances;
mod limits;
mod one_shot;
mod order;
mod reading;
mod sets;

use toolgen_runtime::Shape;
use toolgen_runtime::schema::shape::{Kind, ObjectRules};

use crate::prelude::*;

/// A tool that counts its calls and accepts any arguments.
struct Counted {
    spec: ToolSpec,
    calls: Arc<AtomicUsize>,
    answer: String,
}

impl AgentTool for Counted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        _params: Value,
        _ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(ToolResult::text(self.answer.clone())) })
    }
}

/// Counts events.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn up(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A specification without effects that accepts any arguments.
fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: ToolName::parse(name.to_owned()).unwrap(),
        description: format!("Does {name}.").into(),
        input: Shape::of(Kind::Object(ObjectRules::ANY)).into(),
        effects: Effects::NONE,
        ..ToolSpec::EMPTY
    }
}

fn with_effects(name: &str, effects: Effects) -> ToolSpec {
    ToolSpec { effects, ..spec(name) }
}

/// A tool with a specification, and the number of its calls.
fn counted(spec: ToolSpec) -> (Arc<dyn AgentTool>, Count) {
    let calls = Count::default();
    let text = format!("{} ran", spec.name);
    (Arc::new(Counted { spec, calls: Arc::clone(&calls.0), answer: text }), calls)
}

fn tool(spec: ToolSpec) -> Arc<dyn AgentTool> {
    counted(spec).0
}

fn tools(names: &[&str]) -> Vec<Arc<dyn AgentTool>> {
    names.iter().map(|name| tool(spec(name))).collect()
}

/// A factory of a tool, and the number of tools that it built.
fn factory(spec: ToolSpec) -> (ToolFactory, Count) {
    let (made, built) = (Count::default(), spec.clone());
    let count = made.clone();
    let create = move |_: &ToolboxContext| -> Result<Counted, FactoryError> {
        count.up();
        Ok(Counted { spec: built.clone(), calls: Arc::default(), answer: String::from("built") })
    };
    (ToolFactory::new(spec, create), made)
}

fn toolbox(tools: Vec<Arc<dyn AgentTool>>) -> ToolboxBuilder {
    Toolbox::builder(&Registry::new(tools).unwrap())
}

async fn call_in(toolbox: &Toolbox, name: &str, arguments: Value, turn: &Turn) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", name, arguments), turn).await
}

/// Returns the model's text of a call without arguments.
async fn said(toolbox: &Toolbox, name: &str) -> String {
    call_in(toolbox, name, json!({}), &Turn::new("turn")).await.text()
}

fn names(toolbox: &Toolbox) -> Vec<String> {
    toolbox.list().iter().map(|tool| tool.name.to_string()).collect()
}
