//! Arguments that the model does not set: the user fixes their values, or omits them.

mod body_fields;

use serde_json::{Map, Value};
use toolgen_core::internal::coerce_arguments;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, ObjectRules};
use toolgen_core::spec::Example;
use toolgen_core::spec::plan::{Body, BodyField, BodySource, Parameter, RequestPlan};
use toolgen_core::spec::template::{Root, Template};
use toolgen_core::{ExecutionPlan, Shape, Text, ToolSpec};

use self::body_fields::BodyChange;
use crate::options::{ArgumentRule, Options};
use crate::problem::{Problems, codes};
use crate::selection::selects;
use crate::selector::{glob, suggestion};
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// Removes from the tools of a program the arguments that the options fix or omit. A tool with an argument that
/// cannot be fixed as requested is skipped: it would not do what the rule requests.
pub(crate) fn fix(program: &mut Program, options: &Options, problems: &mut Problems) {
    if options.arguments.is_empty() {
        return;
    }
    let mut used = vec![false; options.arguments.len()];
    program.tools.retain_mut(|tool| {
        let rules = options.arguments.iter().enumerate();
        let mut rules: Vec<(usize, &ArgumentRule)> =
            rules.filter(|(_, rule)| is_for(rule, tool, options)).collect();
        // The last rule that matches an argument applies.
        rules.reverse();
        let mut errors = Vec::new();
        ArgumentFixer { rules: &rules, used: &mut used, problems: &mut errors }.tool(tool);
        for (message, help) in &errors {
            problems.report_in(
                &tool.origin.source,
                codes::UNFIT_FIX,
                &tool.origin.pointer,
                message.clone(),
                *help,
            );
        }
        errors.is_empty()
    });
    for (rule, _) in options.arguments.iter().zip(used).filter(|(_, used)| !used) {
        let scope =
            rule.operations.as_ref().map(|operations| format!(" of `{operations}`")).unwrap_or_default();
        let action = if rule.value.is_some() { "fix" } else { "omit" };
        let message = format!("no operation has an argument `{}`{scope} to {action}", rule.argument);
        let candidates = program.tools.iter().filter(|tool| is_for(rule, tool, options)).flat_map(|tool| {
            let Kind::Object(rules) = &tool.spec.input.shape().kind else { return Vec::new() };
            rules.fields.iter().flat_map(names).collect()
        });
        let help = match suggestion(&rule.argument, candidates) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "name an argument of a tool that sends a request, as `cargo toolgen docs` shows it".to_owned()
            }
        };
        problems.report(codes::FIX, &Pointer::ROOT, message, help);
    }
}

fn is_for(rule: &ArgumentRule, tool: &Tool, options: &Options) -> bool {
    rule.operations.as_ref().is_none_or(|operations| selects(operations, tool, options))
}

struct ArgumentFixer<'f> {
    /// The rules for the tool, the last one first, with their indices among all rules.
    rules: &'f [(usize, &'f ArgumentRule)],
    used: &'f mut [bool],
    problems: &'f mut Vec<(String, &'static str)>,
}

/// The arguments, or the fields of a body, grouped by whether a rule applies to them.
#[derive(Default)]
struct SortedFields {
    /// Fields without a rule.
    kept: Vec<Field>,
    /// Fields with a rule, with their values as JSON if they are fixed.
    removed: Vec<(Field, Option<Text>)>,
}

impl<'f> ArgumentFixer<'f> {
    fn tool(&mut self, tool: &mut Tool) {
        let Tool { spec, call: ExecutionPlan::Http(plan), .. } = tool else { return };
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        let mut sorted = SortedFields::default();
        for field in &rules.fields {
            let rule = self.matching_rule(field, glob);
            self.sort(field, rule.filter(|_| !is_used_elsewhere(&field.name, plan)), spec, &mut sorted);
        }
        let SortedFields { mut kept, mut removed } = sorted;
        let mut derived = plan.derived.to_vec();
        let body_change = self.change_body(plan, spec, &rules.fields, &kept);
        if (removed.is_empty() && body_change.is_none()) || !self.problems.is_empty() {
            return;
        }
        if let Some(body_change) = &body_change {
            body_change.apply(&mut kept, &mut removed, &mut derived);
        }
        let constants = removed.iter().filter_map(|(field, json)| Some((&field.name, json.clone()?)));
        derived.extend(constants.map(|(name, json)| (derived_name(name), Template::Constant(json))));
        let rules = ObjectRules { fields: kept.into(), ..rules.clone() };
        let input = Shape { kind: Kind::Object(rules), ..spec.input.shape().clone() };
        spec.input = input.into();
        let examples = spec.examples.iter();
        spec.examples =
            examples.filter_map(|example| without_removed(example, &removed, body_change.as_ref())).collect();
        plan.derived = derived.into();
        redirect(plan, &removed);
        spec.string_arguments = plan.texts();
    }

    /// Sorts a field into one of the two groups.
    fn sort(
        &mut self,
        field: &Field,
        rule: Option<&ArgumentRule>,
        spec: &ToolSpec,
        sorted: &mut SortedFields,
    ) {
        let Some(rule) = rule else { return sorted.kept.push(field.clone()) };
        let mut json = None;
        match &rule.value {
            Some(value) => match fixed_json(field, value, spec) {
                Ok(text) => json = Some(text),
                Err(error) => self.problems.push((
                    format!("`{}` cannot be fixed as {value}: {error}", field.name),
                    "use a value that the schema of the argument allows",
                )),
            },
            None if field.required => self.problems.push((
                format!("`{}` is required, so it cannot be omitted", field.name),
                "fix its value, or exclude the operation",
            )),
            None => {}
        }
        sorted.removed.push((field.clone(), json));
    }

    /// Returns the rule for a field, if one matches one of its names.
    fn matching_rule(
        &mut self,
        field: &Field,
        is_for: impl Fn(&str, &str) -> bool,
    ) -> Option<&'f ArgumentRule> {
        if field.access == Access::ReadOnly {
            return None;
        }
        let matches_field = |rule: &ArgumentRule| names(field).any(|name| is_for(&rule.argument, name));
        let mut applicable = None;
        for (index, rule) in self.rules.iter().filter(|(_, rule)| matches_field(rule)) {
            // A rule that another rule overrides is not an error.
            self.used[*index] = true;
            applicable = applicable.or(Some(*rule));
        }
        applicable
    }
}

/// Returns the names of an argument: its own and those of the document.
fn names(field: &Field) -> impl Iterator<Item = &str> {
    [field.name.as_str(), field.wire_name()].into_iter().chain(field.aliases.iter().map(Text::as_str))
}

/// Whether other parts of a request are derived from an argument.
fn is_used_elsewhere(name: &Text, plan: &RequestPlan) -> bool {
    let mut used = false;
    for (_, template) in &plan.derived {
        template.references(&mut |reference| used |= reference.root == Root::Argument(name.clone()));
    }
    used
}

/// Returns the value of an argument as JSON, or why the value is invalid.
fn fixed_json(field: &Field, value: &Value, spec: &ToolSpec) -> Result<Text, String> {
    let fields = vec![Field { required: true, ..field.clone() }].into();
    let input = Shape::of(Kind::Object(ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY }));
    let decode_value = |value: &Value| {
        let arguments = Value::Object(Map::from_iter([(field.name.to_string(), value.clone())]));
        decode(&coerce_arguments(&arguments, &input, &spec.defs), &input, &spec.defs, &JSON_SCHEMA)
    };
    let decoded = decode_value(value).or_else(|reason| {
        // For a string that represents a number, reports what is wrong with the number.
        let suggestion = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        suggestion.map_or(Err(reason), |suggestion| decode_value(&suggestion))
    });
    match decoded {
        Ok(decoded) => Ok(decoded.get(field.wire_name()).map(Value::to_string).unwrap_or_default().into()),
        Err(problems) => {
            Err(problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; "))
        }
    }
}

/// The internal name of a fixed argument in a request. No argument of a call has this name.
fn derived_name(argument: &Text) -> Text {
    format!("={argument}").into()
}

/// Returns an example without these arguments; `None` if no argument remains.
fn without_removed(
    example: &Example,
    removed: &[(Field, Option<Text>)],
    body_change: Option<&BodyChange>,
) -> Option<Example> {
    let Ok(Value::Object(mut call)) = serde_json::from_str(&example.arguments) else {
        return Some(example.clone());
    };
    removed.iter().for_each(|(field, _)| drop(call.shift_remove(field.name.as_str())));
    if let Some(body_change) = body_change
        && let Some(body) = call.get_mut(body_change.body.as_str())
    {
        body_change.remove_from(body);
    }
    let arguments = Value::Object(call).to_string().into();
    (example.arguments == arguments || arguments != Text::Static("{}"))
        .then(|| Example { arguments, ..example.clone() })
}

/// Makes a request read fixed arguments from the derived ones. Omitted arguments keep their entries in the plan,
/// without values, so that no other argument can use their keys.
fn redirect(plan: &mut RequestPlan, removed: &[(Field, Option<Text>)]) {
    let is_removed = |argument: &Text| removed.iter().any(|(field, _)| field.name == *argument);
    let source_of =
        |argument: &Text| if is_removed(argument) { derived_name(argument) } else { argument.clone() };
    let parameters = plan.parameters.iter();
    plan.parameters = parameters
        .map(|parameter| Parameter { argument: source_of(&parameter.argument), ..parameter.clone() })
        .collect();
    let is_omitted =
        |argument: &Text| removed.iter().any(|(field, json)| field.name == *argument && json.is_none());
    plan.body = plan.body.take().and_then(|body| {
        let source = match &body.source {
            BodySource::Argument(argument) if is_omitted(argument) => return None,
            BodySource::Argument(argument) => BodySource::Argument(source_of(argument)),
            BodySource::Fields(fields) => {
                let redirected =
                    |field: &BodyField| BodyField { argument: source_of(&field.argument), ..field.clone() };
                BodySource::Fields(fields.iter().map(redirected).collect())
            }
        };
        Some(Body { source, ..body })
    });
}
