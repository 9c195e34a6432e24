//! Arguments of a request that are derived from the arguments of the call.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolgen_kernel::spec::plan::{Parameter, RequestPlan};
use toolgen_kernel::spec::template::{MissingValue, Reference, Root, Scope, Segment, Template, text_of};

use super::body;
use super::request::{RequestProblem, RequestProblemKind};

/// Returns the arguments together with those that are derived from them.
pub(super) fn derive<'a>(
    plan: &RequestPlan,
    arguments: &'a Map<String, Value>,
) -> Result<Cow<'a, Map<String, Value>>, Vec<RequestProblem>> {
    let mut all_arguments = Cow::Borrowed(arguments);
    let mut problems = Vec::new();
    for (name, template) in &plan.derived {
        problems.extend(key_conflict(template, arguments));
        match template.fill(&Scope::of(arguments)) {
            Ok(Some(value)) => {
                all_arguments.to_mut().insert(name.to_string(), value);
            }
            Ok(None) => {}
            Err(MissingValue(reference)) => {
                let message = format!("Missing `{reference}`, which the request requires");
                let kind = RequestProblemKind::MissingArgument;
                problems.push(RequestProblem::new(kind, argument(&reference), message));
            }
        }
    }
    if problems.is_empty() { Ok(all_arguments) } else { Err(problems) }
}

/// Returns the problem of an object that already has the key of a member that the template adds.
fn key_conflict(template: &Template, arguments: &Map<String, Value>) -> Option<RequestProblem> {
    let Template::With(reference, members) = template else { return None };
    let object = Scope::of(arguments).find(reference)?.as_object()?;
    let (name, _) = members.iter().find(|(name, _)| object.contains_key(name.as_str()))?;
    Some(body::key_in_use(argument(reference), name))
}

/// Headers whose values are lists or have parameters, even if the template contains no separator.
const STRUCTURED: [&str; 21] = [
    "accept-charset",
    "accept-language",
    "accept-patch",
    "baggage",
    "cache-control",
    "content-disposition",
    "content-language",
    "cookie",
    "digest",
    "dpop",
    "forwarded",
    "if-match",
    "if-none-match",
    "link",
    "prefer",
    "priority",
    "range",
    "signature",
    "tracestate",
    "want-digest",
    "x-forwarded-for",
];

/// Returns the problem of an argument that is part of a header and contains a separator of that header: `1; admin=1`
/// in `s={value}` would be two cookies.
pub(super) fn separator_problem(
    plan: &RequestPlan,
    parameter: &Parameter,
    arguments: &Map<String, Value>,
) -> Option<RequestProblem> {
    let (_, template) = plan.derived.iter().find(|(name, _)| *name == parameter.argument)?;
    let Template::Text(segments) = template else { return None };
    let has_separator = |segment: &Segment| matches!(segment, Segment::Literal(text) if text.contains(['=', ';', ',', '<', '"']));
    let header = parameter.name.to_ascii_lowercase();
    if !STRUCTURED.contains(&header.as_str()) && !segments.iter().any(has_separator) {
        return None;
    }
    let mut preceding = String::new();
    for segment in segments {
        let reference = match segment {
            Segment::Literal(text) => {
                preceding.push_str(text);
                continue;
            }
            Segment::Value(reference) => reference,
        };
        let Some(value) = Scope::of(arguments).find(reference).map(text_of) else { continue };
        let is_open = |text: &str| text.matches('"').count() % 2 == 1;
        let separators: &[char] = match preceding.rfind(['<', '>']).map(|at| preceding.as_bytes()[at]) {
            _ if is_open(&preceding) => &['"', '\\'],
            Some(b'<') => &['<', '>'],
            _ if is_open(&value) => &['"'],
            _ => &[',', ';'],
        };
        if let Some(separator) = value.chars().find(|char| separators.contains(char)) {
            let argument = argument(reference);
            let message = format!(
                "`{argument}` must not contain `{separator}`, which separates parts of the header `{}`",
                parameter.name
            );
            return Some(RequestProblem::new(RequestProblemKind::Header, argument, message));
        }
    }
    None
}

/// Rewrites problems of derived arguments in terms of the call's arguments.
pub(super) fn explain(plan: &RequestPlan, problems: &mut [RequestProblem]) {
    for problem in problems {
        let derived = plan.derived.iter().find(|(name, _)| name.as_str() == problem.argument);
        let Some((name, template)) = derived else { continue };
        let mut reference = None;
        template.references(&mut |found| reference = reference.or(Some(found)));
        // A fixed argument has the name of the argument that it replaces.
        let argument_name = reference.map_or(name.trim_start_matches('='), argument);
        problem.message = problem.message.replace(name.as_str(), argument_name);
        argument_name.clone_into(&mut problem.argument);
    }
}

fn argument(reference: &Reference) -> &str {
    match &reference.root {
        Root::Argument(name) | Root::Step(name) => name,
        Root::Item => "item",
    }
}
