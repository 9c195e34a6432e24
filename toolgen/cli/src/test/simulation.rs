//! Runs single tools in a simulation: requests go to a local server that records them, commands are recorded instead of
//! run, and other tools are stubs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::spec::plan::{CommandOutput, CommandPlan, ExecutionPlan, Tool};
use toolgen_runtime::spec::{RequirementKind, ToolSpec};
use toolgen_runtime::toolbox::one_shot::{self, OneShotOutput};
use toolgen_runtime::{
    AgentTool, CancellationToken, Effect, List, Registry, ToolContext, ToolError, ToolResult, Toolbox,
    ToolboxContext, Turn,
};

/// The simulated services and commands: their responses, and a count of requests.
#[derive(Debug, Default)]
pub(super) struct Simulation {
    /// Number of requests, commands and calls that arrived.
    pub(super) requests: AtomicUsize,
    /// Whether services and commands fail.
    pub(super) fails: bool,
    /// The response of a service, or the output of a command.
    pub(super) output: String,
    /// The exit code of commands.
    pub(super) exit_code: i32,
}

impl Simulation {
    /// Creates a simulation for a tool. `result` is the result of a success.
    pub(super) fn of(tool: &Tool, result: &Value, fails: bool) -> Simulation {
        let mut simulation = Simulation { fails, output: result.to_string(), ..Simulation::default() };
        if let ExecutionPlan::Command(plan) = &tool.call {
            simulation.output = command_output(plan, result, fails);
            let is_success = |code: &i32| {
                let exit = plan.exit_codes.iter().find(|exit| exit.code == *code);
                exit.map_or(*code == 0, |exit| exit.success)
            };
            simulation.exit_code = (0..256).find(|code| is_success(code) != fails).unwrap_or(1);
        }
        simulation
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::SeqCst);
    }

    fn respond(&self, result: ToolResult) -> Result<ToolResult, ToolError> {
        if self.fails { Err(ToolError::failed("it failed")) } else { Ok(result) }
    }

    pub(super) fn request_count(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Returns the output of a command that yields this result.
fn command_output(plan: &CommandPlan, result: &Value, fails: bool) -> String {
    match (plan.output, result) {
        (CommandOutput::Envelope, _) if fails => {
            json!({ "error": "it failed", "code": "FAILED" }).to_string()
        }
        (CommandOutput::Envelope, Value::Array(_)) => json!({ "results": result }).to_string(),
        (CommandOutput::Envelope, _) => json!({ "result": result }).to_string(),
        (CommandOutput::JsonLines, Value::Array(items)) => {
            items.iter().map(|item| format!("{item}\n")).collect()
        }
        (CommandOutput::Text, Value::String(text)) => text.clone(),
        (_, result) => result.to_string(),
    }
}

/// Which requirements of the tool under test are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Requirements {
    /// All are checked, and none is met.
    Checked,
    /// All are checked, and only the services are met.
    Served,
    Waived,
}

/// Calls a tool through a toolbox with only this tool and stubs of the tools it names.
pub(super) async fn call(
    tool: &Tool,
    callee: &dyn Fn(&str) -> (ToolSpec, Value),
    simulation: &Arc<Simulation>,
    engines: &Engines,
    requirements: Requirements,
    arguments: &Value,
    cancel: &CancellationToken,
) -> Result<OneShotOutput, String> {
    let mut spec = tool.spec.clone();
    if requirements == Requirements::Waived {
        spec.requires = List::EMPTY;
    }
    let required = |kind| {
        spec.requires
            .iter()
            .filter(move |requirement| requirement.kind == kind)
            .map(|requirement| requirement.name.as_str())
    };
    let mut context = ToolboxContext::new().with_work_dir(".");
    if requirements == Requirements::Served {
        context = required(RequirementKind::Service)
            .fold(context, |context, name| context.with_named_service(name, Arc::new(())));
    }
    let required = required(RequirementKind::Tool);
    let mut names: Vec<&str> = tool.call.tools().into_iter().chain(required).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != tool.spec.name.as_str());
    let mut tools: Vec<Arc<dyn AgentTool>> = Vec::new();
    for name in names {
        let (spec, result) = callee(name);
        tools.push(stub(ToolSpec { requires: List::EMPTY, ..spec }, &result, simulation));
    }
    match &tool.call {
        // The program defines the behavior of these tools.
        ExecutionPlan::Function | ExecutionPlan::Agent(_) | ExecutionPlan::Mcp(_) => {
            tools.push(stub(spec.clone(), &json!(simulation.output), simulation));
        }
        call => {
            let built = engines.tools_from([Tool { spec: spec.clone(), call: call.clone() }]);
            tools.extend(built.map_err(|error| error.to_string())?);
        }
    }
    let registry = Registry::new(tools).map_err(|error| error.to_string())?;
    let mut toolbox = Toolbox::builder(&registry).context(context).without_paging();
    if let ExecutionPlan::Effect(plan) = &tool.call {
        let simulation = Arc::clone(simulation);
        toolbox = toolbox.effect(plan.name.clone(), move |_: Effect, _: ToolContext| {
            simulation.count_request();
            std::future::ready(simulation.respond(ToolResult::text("done")))
        });
    }
    let toolbox = toolbox.build().map_err(|error| error.to_string())?;
    let input = arguments.to_string();
    let turn = Turn::new("test").with_cancel(cancel.clone());
    Ok(one_shot::run_call(&toolbox, spec.name.as_str(), input.as_bytes(), &turn).await)
}

/// Returns a stub that counts its calls.
fn stub(spec: ToolSpec, result: &Value, simulation: &Arc<Simulation>) -> Arc<dyn AgentTool> {
    let (simulation, result) = (Arc::clone(simulation), result.clone());
    Arc::new(DynamicTool::new(spec, move |_: Value, _: ToolContext| {
        simulation.count_request();
        std::future::ready(simulation.respond(ToolResult::json(result.clone())))
    }))
}
