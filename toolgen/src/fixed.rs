//! Arguments that are not up to a model: the user fixes their values, or leaves them out.

use serde_json::{Map, Value};
use toolgen_core::internal::meant_call;
use toolgen_core::schema::dialect::JSON_SCHEMA;
use toolgen_core::schema::shape::decode::decode;
use toolgen_core::schema::shape::{Access, Extra, Field, Kind, ObjectRules, find_def};
use toolgen_core::spec::Example;
use toolgen_core::spec::plan::{Body, BodyField, BodySource, Parameter, RequestPlan};
use toolgen_core::spec::template::{Root, Template};
use toolgen_core::{Call, Shape, Text, ToolSpec};

use crate::choice::selects;
use crate::options::{ArgumentRule, Options};
use crate::problem::{Problems, codes};
use crate::select::{did_you_mean, glob};
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// Takes from the tools of a program what the options fix or leave out. A tool with an argument that cannot be fixed so is
/// left out: it would not do what is wanted.
pub(crate) fn fix(program: &mut Program, options: &Options, problems: &mut Problems) {
    if options.arguments.is_empty() {
        return;
    }
    let mut used = vec![false; options.arguments.len()];
    program.tools.retain_mut(|tool| {
        let rules = options.arguments.iter().enumerate();
        let mut rules: Vec<(usize, &ArgumentRule)> =
            rules.filter(|(_, rule)| is_for(rule, tool, options)).collect();
        // The last one that is for an argument counts.
        rules.reverse();
        let mut told = Vec::new();
        Fixing { rules: &rules, used: &mut used, told: &mut told }.tool(tool);
        for (message, help) in &told {
            problems.report_in(
                &tool.origin.source,
                codes::UNFIT_FIX,
                &tool.origin.pointer,
                message.clone(),
                *help,
            );
        }
        told.is_empty()
    });
    for (rule, _) in options.arguments.iter().zip(used).filter(|(_, used)| !used) {
        let of = rule.operations.as_ref().map(|operations| format!(" of `{operations}`")).unwrap_or_default();
        let what = if rule.value.is_some() { "fixed" } else { "left out" };
        let message = format!("no request has the argument `{}`{of} that is to be {what}", rule.argument);
        let known = program.tools.iter().filter(|tool| is_for(rule, tool, options)).flat_map(|tool| {
            let Kind::Object(rules) = &tool.spec.input.shape().kind else { return Vec::new() };
            rules.fields.iter().flat_map(names).collect()
        });
        let help = match did_you_mean(&rule.argument, known) {
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

struct Fixing<'f> {
    /// The rules for the tool, the last one first, and their places among all.
    rules: &'f [(usize, &'f ArgumentRule)],
    used: &'f mut [bool],
    told: &'f mut Vec<(String, &'static str)>,
}

impl<'f> Fixing<'f> {
    fn tool(&mut self, tool: &mut Tool) {
        let Tool { spec, call: Call::Http(plan), .. } = tool else { return };
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        let mut kept: Vec<Field> = Vec::with_capacity(rules.fields.len());
        let mut derived = plan.derived.to_vec();
        let mut gone = Vec::new();
        for field in &rules.fields {
            let Some(rule) = self.rule_of(field).filter(|_| !is_used_elsewhere(&field.name, plan)) else {
                kept.push(field.clone());
                continue;
            };
            match &rule.value {
                Some(value) => match fixed(field, value, spec) {
                    Ok(json) => derived.push((derived_name(&field.name), Template::Constant(json))),
                    Err(why) => self.told.push((
                        format!("`{}` cannot be fixed as {value}: {why}", field.name),
                        "give a value that the schema of the argument allows",
                    )),
                },
                None if field.required => self.told.push((
                    format!("`{}` is required, so it cannot be left out", field.name),
                    "fix its value, or exclude the operation",
                )),
                None => {}
            }
            gone.push((field.name.clone(), rule.value.is_some()));
        }
        self.reach_into_body(plan, spec, &gone);
        if gone.is_empty() || !self.told.is_empty() {
            return;
        }
        let rules = ObjectRules { fields: kept.into(), ..rules.clone() };
        let input = Shape { kind: Kind::Object(rules), ..spec.input.shape().clone() };
        spec.input = input.into();
        spec.examples = spec.examples.iter().filter_map(|example| without(example, &gone)).collect();
        plan.derived = derived.into();
        redirect(plan, &gone);
        spec.texts = plan.texts();
    }

    /// Refuses a tool whose body is one argument with a field of a name that is to be fixed or left out, if no other
    /// argument is meant: the model would still give it.
    fn reach_into_body(&mut self, plan: &RequestPlan, spec: &ToolSpec, gone: &[(Text, bool)]) {
        let Some(Body { source: BodySource::Argument(body), .. }) = &plan.body else { return };
        let Kind::Object(rules) = &spec.input.shape().kind else { return };
        let Some(whole) = rules.fields.iter().find(|field| field.name == *body) else { return };
        if gone.iter().any(|(name, _)| name == body) {
            return;
        }
        let mut inner = Vec::new();
        fields_within(&whole.shape, spec, MAX_DEPTH, &mut inner);
        for (at, rule) in self.rules {
            let fits = |field: &Field| names(field).any(|name| glob(&rule.argument, name));
            let Some(field) = inner.iter().find(|field| fits(field)) else { continue };
            if rules.fields.iter().any(fits) {
                continue;
            }
            self.used[*at] = true;
            let what = if rule.value.is_some() { "fixed" } else { "left out" };
            self.told.push((
                format!(
                    "`{}` is a field of the body, which is one argument, `{body}`, so it cannot be {what}",
                    field.name
                ),
                "exclude the operation, or name those that are meant: `--fix 'OPERATION NAME=VALUE'`",
            ));
        }
    }

    /// Returns what is said of a field.
    fn rule_of(&mut self, field: &Field) -> Option<&'f ArgumentRule> {
        if field.access == Access::ReadOnly {
            return None;
        }
        let is_meant = |rule: &ArgumentRule| names(field).any(|name| glob(&rule.argument, name));
        let mut found = None;
        for (at, rule) in self.rules.iter().filter(|(_, rule)| is_meant(rule)) {
            // One that another one overrides is no mistake.
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

/// The depth to which references and unions are followed to the fields of a body.
const MAX_DEPTH: usize = 6;

/// Collects the fields of a body that a call may give, in any of its forms.
fn fields_within(shape: &Shape, spec: &ToolSpec, depth: usize, fields: &mut Vec<Field>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match &shape.kind {
        Kind::Object(rules) => {
            let given = rules.fields.iter().filter(|field| field.access != Access::ReadOnly);
            fields.extend(given.cloned());
        }
        Kind::Union(union) => {
            union.variants.iter().for_each(|variant| fields_within(variant, spec, depth, fields));
        }
        Kind::Ref(name) => {
            if let Some(shape) = find_def(&spec.defs, name) {
                fields_within(shape, spec, depth, fields);
            }
        }
        _ => {}
    }
}

/// Whether other parts of a request are made from an argument.
fn is_used_elsewhere(name: &Text, plan: &RequestPlan) -> bool {
    let mut used = false;
    for (_, template) in &plan.derived {
        template.references(&mut |reference| used |= reference.root == Root::Argument(name.clone()));
    }
    used
}

/// Returns the value of an argument as JSON, or why it is not one.
fn fixed(field: &Field, value: &Value, spec: &ToolSpec) -> Result<Text, String> {
    let fields = vec![Field { required: true, ..field.clone() }].into();
    let input = Shape::of(Kind::Object(ObjectRules { fields, extra: Extra::Closed, ..ObjectRules::ANY }));
    let read = |value: &Value| {
        let call = Value::Object(Map::from_iter([(field.name.to_string(), value.clone())]));
        decode(&meant_call(&call, &input, &spec.defs), &input, &spec.defs, &JSON_SCHEMA)
    };
    let decoded = read(value).or_else(|why| {
        // Of a text that stands for a number, what is wrong with the number.
        let meant = value.as_str().and_then(|text| serde_json::from_str(text).ok());
        meant.map_or(Err(why), |meant| read(&meant))
    });
    match decoded {
        Ok(decoded) => Ok(decoded.get(field.wire_name()).map(Value::to_string).unwrap_or_default().into()),
        Err(problems) => Err(problems.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ")),
    }
}

/// The name under which a request finds a fixed argument. No argument of a call is called so.
fn derived_name(argument: &Text) -> Text {
    format!("={argument}").into()
}

/// Returns an example without arguments; `None` if it says nothing then.
fn without(example: &Example, gone: &[(Text, bool)]) -> Option<Example> {
    let Ok(Value::Object(mut call)) = serde_json::from_str(&example.arguments) else {
        return Some(example.clone());
    };
    gone.iter().for_each(|(name, _)| drop(call.shift_remove(name.as_str())));
    let arguments = Value::Object(call).to_string().into();
    (example.arguments == arguments || arguments != Text::Static("{}"))
        .then(|| Example { arguments, ..example.clone() })
}

/// Lets a request take the fixed ones of these arguments from those that are derived. Those that are left out keep their
/// places, which nothing fills: no key of another argument may take them.
fn redirect(plan: &mut RequestPlan, gone: &[(Text, bool)]) {
    let is_gone = |argument: &Text| gone.iter().any(|(name, _)| name == argument);
    let taken = |argument: &Text| if is_gone(argument) { derived_name(argument) } else { argument.clone() };
    let parameters = plan.parameters.iter();
    plan.parameters =
        parameters.map(|one| Parameter { argument: taken(&one.argument), ..one.clone() }).collect();
    let is_left_out = |argument: &Text| gone.iter().any(|(name, is_fixed)| name == argument && !is_fixed);
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
