//! The checks of a tool: accepts, refuses, reports, requires.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgen_runtime::__private::Never;
use toolgen_runtime::call::tool;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::render::{render_input, render_output};
use toolgen_runtime::spec::plan::{ExecutionPlan, ExitCode, Tool};
use toolgen_runtime::spec::{RequirementKind, ToolSpec};
use toolgen_runtime::toolbox::one_shot::OneShotOutput;
use toolgen_runtime::{CancellationToken, ToolName};

use super::fake_executor::with_commands;
use super::sample;
use super::server::with_http;
use super::simulation::{Requirements, Simulation, call};

/// The outcome of a check.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// The check passed, with the number of calls.
    Passes(usize),
    /// The check failed, with the reason.
    Fails(String),
    /// The outcome is unknown, with the reason.
    Unknown(String),
    /// There is nothing to check.
    NotApplicable,
}

/// The checks, in the order of [`Subject::verdicts`].
pub(super) const CHECKS: [&str; 4] = ["accepts", "refuses", "reports", "requires"];

/// A tool under test, with arguments generated from its schemas.
pub(super) struct Subject<'a> {
    tool: &'a Tool,
    all: &'a [Tool],
    /// Valid arguments, and whether they are examples of the author.
    pub(super) accepted: Vec<(Value, bool)>,
    /// Invalid arguments, each with a description of the defect.
    pub(super) refused: Vec<(String, Value)>,
    result: Value,
    /// Cancels the calls.
    cancel: CancellationToken,
}

/// Error codes of calls with rejected arguments.
const REFUSALS: [&str; 3] = ["INVALID_INPUT", "MISSING_PARAMETER", "INVALID_PARAMS"];

impl<'a> Subject<'a> {
    /// Generates arguments for a tool. `all` are the tools that it may call.
    pub(super) fn new(tool: &'a Tool, all: &'a [Tool], cancel: &CancellationToken) -> Subject<'a> {
        let spec = &tool.spec;
        let schema = render_input(spec.input.shape(), &spec.defs, &JSON_SCHEMA);
        let schema = schema.map_or(Value::Null, |rendered| rendered.schema);
        let examples = spec.examples.iter().map(|example| {
            (
                serde_json::from_str(&example.arguments)
                    .unwrap_or_else(|_| json!(example.arguments.as_str())),
                true,
            )
        });
        let mut accepted: Vec<(Value, bool)> = examples.collect();
        if accepted.is_empty() {
            let sample = sample::generate(&schema);
            accepted.push((if sample.is_object() { sample } else { json!({}) }, false));
        }
        let refused = match accepted.iter().find(|(arguments, _)| validate(spec, arguments).is_ok()) {
            Some((valid, _)) => sample::invalid_variants(&schema, valid),
            None => Vec::new(),
        };
        Subject { tool, all, accepted, refused, result: result_of(spec), cancel: cancel.clone() }
    }

    /// Replaces the arguments.
    #[allow(dead_code, reason = "only emitted tests set their own arguments")]
    pub(super) fn with(mut self, accepted: &[&str], refused: &[(&str, &str)]) -> Subject<'a> {
        let parse = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        self.accepted = accepted.iter().map(|arguments| (parse(arguments), true)).collect();
        self.refused =
            refused.iter().map(|(defect, arguments)| ((*defect).to_owned(), parse(arguments))).collect();
        self
    }

    /// Returns the outcome of each of the [`CHECKS`].
    pub(super) async fn verdicts(&self, run_command: bool) -> [Verdict; 4] {
        [self.accepts(run_command).await, self.refuses().await, self.reports().await, self.requires().await]
    }

    async fn accepts(&self, run_command: bool) -> Verdict {
        if let Some(reason) = Never::new(&self.tool.spec.defs).why(&self.tool.spec.input) {
            return Verdict::Fails(format!("no arguments can match its schema: {reason}"));
        }
        let is_read_only = self.tool.spec.effects.read_only;
        let run_command = run_command && matches!(self.tool.call, ExecutionPlan::Command(_)) && is_read_only;
        for (arguments, is_example) in &self.accepted {
            let failed = |reason: String| match is_example {
                true => Verdict::Fails(format!("its example {arguments}: {reason}")),
                false => Verdict::Unknown(format!(
                    "{arguments}, generated from its schema: {reason}; add `examples`"
                )),
            };
            if let Err(error) = validate(&self.tool.spec, arguments) {
                return failed(error);
            }
            let (response, request_count) =
                match self.call(arguments, false, run_command, Requirements::Waived).await {
                    Ok(result) => result,
                    Err(error) => return Verdict::Fails(error),
                };
            if response.status() != 0 {
                return match self.depends_on_guesses() {
                    true => Verdict::Unknown(format!(
                        "{}; the tools it calls declare no `output`, so their results are guesses",
                        error_text(&response)
                    )),
                    false => failed(error_text(&response)),
                };
            }
            if request_count == 0
                && !run_command
                && matches!(self.tool.call, ExecutionPlan::Http(_) | ExecutionPlan::Command(_))
            {
                return failed("nothing was sent and no program started".to_owned());
            }
        }
        Verdict::Passes(self.accepted.len())
    }

    async fn refuses(&self) -> Verdict {
        for (defect, arguments) in &self.refused {
            let (response, request_count) =
                match self.call(arguments, false, false, Requirements::Waived).await {
                    Ok(result) => result,
                    Err(error) => return Verdict::Fails(error),
                };
            let code = response.json()["code"].as_str().unwrap_or("success");
            if !REFUSALS.contains(&code) {
                return Verdict::Fails(format!("{arguments} ({defect}) is not rejected: {code}"));
            }
            if request_count > 0 {
                return Verdict::Fails(format!("{arguments} ({defect}) is rejected after something ran"));
            }
        }
        if self.refused.is_empty() { Verdict::NotApplicable } else { Verdict::Passes(self.refused.len()) }
    }

    async fn reports(&self) -> Verdict {
        let can_fail = match &self.tool.call {
            ExecutionPlan::Http(_) | ExecutionPlan::Effect(_) => true,
            // An exit code may be declared as a result for the model.
            ExecutionPlan::Command(plan) => {
                !plan.exit_codes.iter().any(|exit| exit.code == ExitCode::OTHER && exit.success)
            }
            ExecutionPlan::Compose(plan) => plan
                .steps
                .iter()
                .any(|step| !step.optional && step.condition.is_none() && step.for_each.is_none()),
            _ => false,
        };
        let valid = self.accepted.iter().find(|(arguments, _)| validate(&self.tool.spec, arguments).is_ok());
        let Some((arguments, _)) = valid.filter(|_| can_fail) else { return Verdict::NotApplicable };
        match self.call(arguments, true, false, Requirements::Waived).await {
            Ok((response, _)) if response.status() == 0 => {
                Verdict::Fails(format!("a failure looks like a success: {}", response.json()))
            }
            // The arguments are rejected, which the first check reports.
            Ok((_, 0)) => Verdict::NotApplicable,
            Ok(_) => Verdict::Passes(1),
            Err(error) => Verdict::Fails(error),
        }
    }

    async fn requires(&self) -> Verdict {
        let spec = &self.tool.spec;
        let required = || spec.requires.iter().filter(|requirement| !requirement.optional);
        let valid = self.accepted.iter().find(|(arguments, _)| validate(spec, arguments).is_ok());
        let Some((arguments, _)) = valid.filter(|_| required().next().is_some()) else {
            return Verdict::NotApplicable;
        };
        // Without its services, a tool is not built, and its other requirements are not checked.
        let (services, others): (Vec<_>, Vec<_>) =
            required().partition(|requirement| requirement.kind == RequirementKind::Service);
        let first =
            services.first().map(|requirement| requirement.message_for(spec.name.as_str()).into_owned());
        let messages =
            others.iter().map(|requirement| requirement.message_or_default().into_owned()).collect();
        let rounds = [(Requirements::Checked, Vec::from_iter(first)), (Requirements::Served, messages)];
        for (requirements, expected) in rounds.into_iter().filter(|(_, expected)| !expected.is_empty()) {
            let (response, request_count) = match self.call(arguments, false, false, requirements).await {
                Ok(result) => result,
                Err(reason) => return Verdict::Fails(reason),
            };
            let text = response.json()["error"].as_str().unwrap_or_default();
            if request_count > 0 {
                return Verdict::Fails("it runs although its requirements are not met".to_owned());
            }
            if let Some(missing) = expected.iter().find(|message| !text.contains(message.as_str())) {
                return Verdict::Fails(format!(
                    "the result does not contain \"{missing}\": {}",
                    response.json()
                ));
            }
        }
        Verdict::Passes(required().count())
    }

    /// Calls the tool in a new simulation. Also returns the number of requests that arrived.
    async fn call(
        &self,
        arguments: &Value,
        fails: bool,
        run_command: bool,
        requirements: Requirements,
    ) -> Result<(OneShotOutput, usize), String> {
        let simulation = Arc::new(Simulation::of(self.tool, &self.result, fails));
        let mut engines = Engines::new();
        if !run_command {
            engines = with_commands(engines, &simulation);
        }
        if self.tool.call.http().is_some() {
            engines = with_http(engines, &simulation)?;
        }
        let callee = |name: &str| match self.all.iter().find(|tool| tool.spec.name.as_str() == name) {
            Some(tool) => (tool.spec.clone(), result_of(&tool.spec)),
            None => {
                let name = ToolName::parse(name.to_owned()).unwrap_or(ToolSpec::EMPTY.name);
                (ToolSpec { name, ..ToolSpec::EMPTY }, Value::Null)
            }
        };
        let response =
            call(self.tool, &callee, &simulation, &engines, requirements, arguments, &self.cancel).await?;
        Ok((response, simulation.request_count()))
    }

    /// Whether the tool is composed of tools whose results are not declared.
    fn depends_on_guesses(&self) -> bool {
        let names = self.tool.call.tools();
        let is_callee = |tool: &&Tool| names.contains(&tool.spec.name.as_str());
        self.all.iter().filter(is_callee).any(|tool| tool.spec.output.is_none())
    }
}

fn validate(spec: &ToolSpec, arguments: &Value) -> Result<(), String> {
    tool::arguments(spec, arguments.clone(), &JSON_SCHEMA).map(drop).map_err(|error| error.to_string())
}

/// Returns a result that matches the declaration of the tool, or any result.
fn result_of(spec: &ToolSpec) -> Value {
    let rendered =
        spec.output.as_ref().and_then(|output| render_output(output.shape(), &spec.defs, &JSON_SCHEMA).ok());
    rendered.map_or_else(|| json!({}), |rendered| sample::generate(&rendered.schema))
}

fn error_text(response: &OneShotOutput) -> String {
    response.json()["error"].as_str().unwrap_or_default().to_owned()
}
