//! Arguments of a request that are derived from those of the call.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::request::{RequestProblem, RequestProblemKind};
use crate::spec::plan::RequestPlan;
use crate::spec::template::{Reference, Root, Scope, Unfilled};

/// Returns the arguments together with those that are derived from them.
pub(super) fn derive<'a>(
    plan: &RequestPlan,
    arguments: &'a Map<String, Value>,
) -> Result<Cow<'a, Map<String, Value>>, Vec<RequestProblem>> {
    let mut all = Cow::Borrowed(arguments);
    let mut problems = Vec::new();
    for (name, template) in &plan.derived {
        match template.fill(&Scope::of(arguments)) {
            Ok(Some(value)) => {
                all.to_mut().insert(name.to_string(), value);
            }
            Ok(None) => {}
            Err(Unfilled(reference)) => {
                let message = format!("There is no value for `{reference}`, and the request needs one");
                let kind = RequestProblemKind::MissingArgument;
                problems.push(RequestProblem::new(kind, argument(&reference), message));
            }
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Describes problems of derived arguments by the arguments of the call.
pub(super) fn explain(plan: &RequestPlan, problems: &mut [RequestProblem]) {
    for problem in problems {
        let made = plan.derived.iter().find(|(name, _)| name.as_str() == problem.argument);
        let Some((name, template)) = made else { continue };
        let mut first = None;
        template.references(&mut |reference| first = first.or(Some(reference)));
        // One that is fixed has the name of the argument that it stands for.
        let known = first.map_or(name.trim_start_matches('='), argument);
        problem.message = problem.message.replace(name.as_str(), known);
        known.clone_into(&mut problem.argument);
    }
}

fn argument(reference: &Reference) -> &str {
    match &reference.root {
        Root::Argument(name) | Root::Step(name) => name,
        Root::Item => "item",
    }
}
