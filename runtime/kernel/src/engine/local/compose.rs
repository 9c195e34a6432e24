//! Runs compositions: calls other tools sequentially. Each call passes through all layers of the toolbox.

use serde_json::{Map, Value};

use crate::base::future_set::Join;
use crate::call::context::{CALLS_EXCEEDED, ToolContext};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::engine::arguments::{missing, unusable};
use crate::schema::shape::decode::ArgumentProblemKind;
use crate::spec::plan::{ComposePlan, ForEach, Step};
use crate::spec::template::{Condition, MissingValue, Root, Scope};

/// Runs the steps and combines their results.
pub(super) async fn run(
    plan: &ComposePlan,
    arguments: &Map<String, Value>,
    ctx: &ToolContext,
) -> Result<ToolResult, ToolError> {
    let mut results = Map::new();
    let mut last = None;
    for step in &plan.steps {
        let context = StepContext { arguments, results: &results, step, ctx };
        let outcome = match &step.for_each {
            Some(each) => context.run_each(each).await?.map(ToolResult::json),
            None => context.run_once(None).await?,
        };
        if let Some(result) = outcome {
            let value = if step.for_each.is_some() {
                result.details.clone()
            } else {
                value_of(&result, declares_output(ctx, step))
            };
            results.insert(step.id.to_string(), value);
            last = Some(result);
        }
    }
    let Some(template) = &plan.result else { return Ok(last.unwrap_or_default()) };
    let scope = Scope { arguments, steps: Some(&results), item: None };
    let result = match template.fill(&scope).map_err(missing)? {
        None => ToolResult::empty(),
        Some(Value::String(text)) => ToolResult::text(text),
        Some(value) => ToolResult::json(value),
    };
    // The agent loop still gets the request of the last step.
    Ok(result.with_control(last.map(|last| last.control).unwrap_or_default()))
}

/// A step, and the values that are available when it runs.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    arguments: &'a Map<String, Value>,
    results: &'a Map<String, Value>,
    step: &'a Step,
    ctx: &'a ToolContext,
}

impl<'a> StepContext<'a> {
    fn scope(self, item: Option<&'a Value>) -> Scope<'a> {
        Scope { arguments: self.arguments, steps: Some(self.results), item }
    }

    /// Calls the tool once. Returns `None` if the condition does not hold, or if the call failed and the step is
    /// optional.
    async fn run_once(self, item: Option<(usize, &'a Value)>) -> Result<Option<ToolResult>, ToolError> {
        let (step, scope) = (self.step, self.scope(item.map(|(_, item)| item)));
        if let Some(condition) = &step.condition
            && !condition.holds(&scope).map_err(|error| self.missing_value(error))?
        {
            return Ok(None);
        }
        let arguments = step.arguments.fill(&scope).map_err(|error| self.missing_value(error))?;
        let outcome = self.ctx.call(&step.tool, arguments.unwrap_or_default()).await;
        let failure = match outcome {
            Ok(result) if !result.is_error() => return Ok(Some(result)),
            Ok(result) => ToolError::failed(result.into_text()),
            Err(error) => error,
        };
        if self.ctx.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        // A waiting call has not failed, and after too many calls, no other call can run.
        let must_stop = matches!(failure, ToolError::ApprovalRequired(_) | ToolError::InputRequired(_))
            || failure.code() == CALLS_EXCEEDED;
        if step.optional && !must_stop {
            return Ok(None);
        }
        let location = item.map_or(String::new(), |(index, _)| format!(", item {index}"));
        Err(with_prefix(failure, &format!("step `{}` ({}){location}: ", step.id, step.tool)))
    }

    /// Calls the tool for each item, and returns the results in the order of the items. After a failure, no
    /// more calls are started, and running calls finish.
    async fn run_each(self, each: &ForEach) -> Result<Option<Value>, ToolError> {
        let scope = self.scope(None);
        if let Some(condition) = self.step.condition.as_ref().filter(|condition| !reads_item(condition))
            && !condition.holds(&scope).map_err(|error| self.missing_value(error))?
        {
            return Ok(None);
        }
        let invalid = |message: String| unusable(&each.list, ArgumentProblemKind::Type, message);
        let items = match scope.find(&each.list) {
            Some(Value::Array(items)) => items.as_slice(),
            None if each.list.optional => &[],
            None => return Err(self.missing_value(MissingValue(each.list.clone()))),
            Some(_) => return Err(invalid(format!("step `{}` needs an array here", self.step.id))),
        };
        let limit = each.max_items as usize;
        if items.len() > limit {
            let id = &self.step.id;
            return Err(invalid(format!("step `{id}` takes at most {limit} items, but got {}", items.len())));
        }
        let mut values = vec![Value::Null; items.len()];
        let mut pending = items.iter().enumerate();
        let mut running = Join::new(items.len());
        for item in pending.by_ref().take(each.parallel.max(1) as usize) {
            running.push(item.0, Box::pin(self.run_once(Some(item))));
        }
        let has_output = declares_output(self.ctx, self.step);
        let mut first_failure: Option<(usize, ToolError)> = None;
        while let Some((index, outcome)) = running.next().await {
            match outcome {
                Ok(Some(result)) => values[index] = value_of(&result, has_output),
                Err(error) if first_failure.as_ref().is_none_or(|(first, _)| index < *first) => {
                    first_failure = Some((index, error));
                }
                Ok(None) | Err(_) => {}
            }
            if first_failure.is_none()
                && let Some(item) = pending.next()
            {
                running.push(item.0, Box::pin(self.run_once(Some(item))));
            }
        }
        match first_failure {
            Some((_, error)) => Err(error),
            None => Ok(Some(Value::Array(values))),
        }
    }

    fn missing_value(self, reason: MissingValue) -> ToolError {
        match reason.0.root {
            Root::Argument(_) => missing(reason),
            Root::Step(_) | Root::Item => {
                ToolError::failed(format!("step `{}` cannot run: {reason}", self.step.id))
            }
        }
    }
}

/// Adds a prefix to the error of another tool. Waiting and cancelled calls stay unchanged: the toolbox recognizes them.
fn with_prefix(error: ToolError, prefix: &str) -> ToolError {
    match error {
        ToolError::ApprovalRequired(_) | ToolError::InputRequired(_) | ToolError::Cancelled => error,
        error => {
            let detail = format!("{prefix}{}", error.operator_text());
            let text = format!("{prefix}{error}");
            let prefixed = match &error {
                ToolError::Denied { .. } => ToolError::denied(text),
                error => ToolError::failed_with(error.code().to_owned(), text),
            };
            prefixed.with_operator_detail(detail)
        }
    }
}

fn reads_item(condition: &Condition) -> bool {
    let mut reads = false;
    condition.references(&mut |reference| reads |= reference.root == Root::Item);
    reads
}

/// Whether the tool of a step declares its output.
fn declares_output(ctx: &ToolContext, step: &Step) -> bool {
    let Some(peers) = &ctx.turn().peers else { return false };
    peers.specs().iter().any(|spec| spec.name.as_str() == step.tool.as_str() && spec.output.is_some())
}

/// Returns the value of a result for later steps: the declared value, if any, otherwise the text, parsed if it is JSON.
fn value_of(result: &ToolResult, has_output: bool) -> Value {
    if has_output && let Ok(value) = result.structured() {
        return value.into_owned();
    }
    let text = result.to_text();
    match serde_json::from_str(&text) {
        // A number that does not round-trip is kept as a string.
        Ok(Value::Number(number)) if number.to_string() != text.trim() => Value::String(text),
        Ok(value) => value,
        Err(_) => Value::String(text),
    }
}
