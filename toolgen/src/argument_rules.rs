//! Arguments that the model does not set: the user fixes their values, or omits them.

mod within;

use serde_json::{Map, Value};
use toolgen_core::internal::coerce_arguments;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, ObjectRules};
use toolgen_core::spec::Example;
use toolgen_core::spec::plan::{Body, BodyField, BodySource, Parameter, RequestPlan};
use toolgen_core::spec::template::{Root, Template};
use toolgen_core::{ExecutionPlan, Shape, Text, ToolSpec};

use self::within::Within;
use crate::options::{ArgumentRule, Options};
use crate::problem::{Problems, codes};
use crate::selection::selects;
use crate::selector::{glob, suggestion};
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// Removes from the tools of a program the arguments that the options fix or omit. A tool with an argument that
/// cannot be fixed as requested is skipped: it would not do what is wanted.
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
        let mut found = Vec::new();
        ArgumentFixer { rules: &rules, used: &mut used, problems: &mut found }.tool(tool);
        for (message, help) in &found {
            problems.report_in(
                &tool.origin.source,
                codes::UNFIT_FIX,
                &tool.origin.pointer,
                message.clone(),
                *help,
            );
        }
        found.is_empty()
    });
    for (rule, _) in options.arguments.iter().zip(used).filter(|(_, used)| !used) {
        let of = rule.operations.as_ref().map(|operations| format!(" of `{operations}`")).unwrap_or_default();
        let what = if rule.value.is_some() { "fix" } else { "omit" };
        let message = format!("no operation has an argument `{}`{of} to {what}", rule.argument);
        let known = program.tools.iter().filter(|tool| is_for(rule, tool, options)).flat_map(|tool| {
            let Kind::Object(rules) = &tool.spec.input.shape().kind else { return Vec::new() };
            rules.fields.iter().flat_map(names).collect()
        });
        let help = match suggestion(&rule.argument, known) {
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

/// The arguments, or the fields of a body, divided by whether a rule applies to them.
#[derive(Default)]
struct Sorted {
    /// Those without a rule.
    kept: Vec<Field>,
    /// Those with a rule, with their values as JSON if they are fixed.
    gone: Vec<(Field, Option<Text>)>,
}

impl<'f> ArgumentFixer<'f> {
    fn tool(&mut self, tool: &mut Tool) {
        let Tool { spec, call: ExecutionPlan::Http(plan), .. } = tool else { return };
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        let mut sorted = Sorted::default();
        for field in &rules.fields {
            let rule = self.rule_of(field, glob);
            self.sort(field, rule.filter(|_| !is_used_elsewhere(&field.name, plan)), spec, &mut sorted);
        }
        let Sorted { mut kept, mut gone } = sorted;
        let mut derived = plan.derived.to_vec();
        let within = self.within_body(plan, spec, &rules.fields, &kept);
        if (gone.is_empty() && within.is_none()) || !self.problems.is_empty() {
            return;
        }
        if let Some(within) = &within {
            within.apply(&mut kept, &mut gone, &mut derived);
        }
        let constants = gone.iter().filter_map(|(field, json)| Some((&field.name, json.clone()?)));
        derived.extend(constants.map(|(name, json)| (derived_name(name), Template::Constant(json))));
        let rules = ObjectRules { fields: kept.into(), ..rules.clone() };
        let input = Shape { kind: Kind::Object(rules), ..spec.input.shape().clone() };
        spec.input = input.into();
        let examples = spec.examples.iter();
        spec.examples = examples.filter_map(|example| without(example, &gone, within.as_ref())).collect();
        plan.derived = derived.into();
        redirect(plan, &gone);
        spec.string_arguments = plan.texts();
    }

    /// Sorts a field into one of the two groups.
    fn sort(&mut self, field: &Field, rule: Option<&ArgumentRule>, spec: &ToolSpec, sorted: &mut Sorted) {
        let Some(rule) = rule else { return sorted.kept.push(field.clone()) };
        let mut json = None;
        match &rule.value {
            Some(value) => match fixed(field, value, spec) {
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
        sorted.gone.push((field.clone(), json));
    }

    /// Returns the rule for a field, if one matches one of its names.
    fn rule_of(&mut self, field: &Field, is_for: impl Fn(&str, &str) -> bool) -> Option<&'f ArgumentRule> {
        if field.access == Access::ReadOnly {
            return None;
        }
        let is_meant = |rule: &ArgumentRule| names(field).any(|name| is_for(&rule.argument, name));
        let mut found = None;
        for (at, rule) in self.rules.iter().filter(|(_, rule)| is_meant(rule)) {
            // A rule that another rule overrides is not an error.
            self.used[*at] = true;
            found = found.or(Some(*rule));
        }
        found
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
fn fixed(field: &Field, value: &Value, spec: &ToolSpec) -> Result<Text, String> {
    let fields = vec![Field { required: true, ..field.clone() }].into();
    let input = Shape::of(Kind::Object(ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY }));
    let read = |value: &Value| {
        let call = Value::Object(Map::from_iter([(field.name.to_string(), value.clone())]));
        decode(&coerce_arguments(&call, &input, &spec.defs), &input, &spec.defs, &JSON_SCHEMA)
    };
    let decoded = read(value).or_else(|reason| {
        // For a string that represents a number, reports what is wrong with the number.
        let suggestion = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        suggestion.map_or(Err(reason), |suggestion| read(&suggestion))
    });
    match decoded {
        Ok(decoded) => Ok(decoded.get(field.wire_name()).map(Value::to_string).unwrap_or_default().into()),
        Err(problems) => Err(problems.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ")),
    }
}

/// The internal name of a fixed argument in a request. No argument of a call has this name.
fn derived_name(argument: &Text) -> Text {
    format!("={argument}").into()
}

/// Returns an example without these arguments; `None` if nothing is left of it.
fn without(example: &Example, gone: &[(Field, Option<Text>)], within: Option<&Within>) -> Option<Example> {
    let Ok(Value::Object(mut call)) = serde_json::from_str(&example.arguments) else {
        return Some(example.clone());
    };
    gone.iter().for_each(|(field, _)| drop(call.shift_remove(field.name.as_str())));
    if let Some(within) = within
        && let Some(body) = call.get_mut(within.body.as_str())
    {
        within.take_from(body);
    }
    let arguments = Value::Object(call).to_string().into();
    (example.arguments == arguments || arguments != Text::Static("{}"))
        .then(|| Example { arguments, ..example.clone() })
}

/// Makes a request take fixed arguments from the derived ones. Omitted arguments keep their entries in the plan,
/// which nothing fills: no key of another argument may use them.
fn redirect(plan: &mut RequestPlan, gone: &[(Field, Option<Text>)]) {
    let is_gone = |argument: &Text| gone.iter().any(|(field, _)| field.name == *argument);
    let taken = |argument: &Text| if is_gone(argument) { derived_name(argument) } else { argument.clone() };
    let parameters = plan.parameters.iter();
    plan.parameters =
        parameters.map(|one| Parameter { argument: taken(&one.argument), ..one.clone() }).collect();
    let is_left_out =
        |argument: &Text| gone.iter().any(|(field, json)| field.name == *argument && json.is_none());
    plan.body = plan.body.take().and_then(|body| {
        let source = match &body.source {
            BodySource::Argument(argument) if is_left_out(argument) => return None,
            BodySource::Argument(argument) => BodySource::Argument(taken(argument)),
            BodySource::Fields(fields) => {
                let taken = |one: &BodyField| BodyField { argument: taken(&one.argument), ..one.clone() };
                BodySource::Fields(fields.iter().map(taken).collect())
            }
        };
        Some(Body { source, ..body })
    });
}
