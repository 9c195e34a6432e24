//! The size of tools: trimming, ceilings and budgets.

use std::collections::BTreeSet;
use std::slice;

use toolgen_core::internal::{Forms, resolved};
use toolgen_core::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_core::schema::shape::slim::Trim;
use toolgen_core::schema::shape::{Kind, Slim};
use toolgen_core::spec::Projection;
use toolgen_core::{Text, ToolSpec};

use crate::options::Options;
use crate::problem::{Problems, codes};
use crate::schema_losses::list_dialects;
use crate::selector::suggestion;
use crate::source::Pointer;
use crate::tool::{Program, TokenBudget, Tool};

/// Sets the trims that the options name for all tools of a program. Reports arguments to keep that no tool has: any
/// word is a valid name, even `dorp`.
pub(crate) fn trim(program: &mut Program, options: &Options, problems: &mut Problems) {
    let Some(slim) = &options.slim else { return };
    set_slim(program, slim);
    let specs: Vec<&ToolSpec> = program.all_tools().into_iter().map(|tool| &tool.spec).collect();
    for (message, help) in unmatched_keeps(slim, &specs) {
        problems.report(codes::SELECTOR, &Pointer::ROOT, message, help);
    }
}

/// Lets models choose the fields of the results of all tools of a program that the projection applies to.
pub(crate) fn project(program: &mut Program, projection: Projection) {
    if projection == Projection::Off {
        return;
    }
    for tool in program.tools.iter_mut().filter(|tool| projection.applies_to(&tool.spec)) {
        tool.spec = tool.spec.clone().with_projection();
    }
    program.parts.iter_mut().for_each(|part| project(&mut part.program, projection));
}

fn set_slim(program: &mut Program, slim: &Slim) {
    program.tools.iter_mut().for_each(|tool| tool.spec.slim = slim.clone());
    program.parts.iter_mut().for_each(|part| set_slim(&mut part.program, slim));
}

/// Returns the names after `optional=` that are not arguments of any of these tools, each with its help.
pub(crate) fn unmatched_keeps(slim: &Slim, specs: &[&ToolSpec]) -> Vec<(String, String)> {
    let roots = specs.iter().filter_map(|spec| resolved(&spec.input, &spec.defs));
    let arguments: BTreeSet<&str> = roots
        .filter_map(|root| if let Kind::Object(rules) = &root.kind { Some(&rules.fields) } else { None })
        .flat_map(|fields| fields.iter().map(|field| field.name.as_str()))
        .collect();
    let kept = slim.optional.iter().flat_map(|names| names.iter()).map(Text::as_str);
    let unknown = kept.filter(|name| !arguments.contains(name)).map(|name| {
        let help = match suggestion(name, arguments.iter().copied().chain(["drop", "keep"])) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "write `drop`, `keep`, or the names of arguments, as in `optional=a+b`".to_owned(),
        };
        (format!("`optional=` names the argument `{name}`, which no tool has"), help)
    });
    unknown.collect()
}

/// Reports the tools that exceed their ceiling in plain JSON Schema, and their trims.
pub fn check_ceiling(program: &Program, problems: &mut Problems) {
    for tool in program.all_tools() {
        let Some((bytes, ceiling, trims)) = over_ceiling(&tool.spec) else { continue };
        let name = &tool.spec.name;
        let message = format!("`{name}` takes {bytes} bytes, more than the ceiling of {ceiling}: {trims}");
        let help = "choose what is trimmed with `--slim`, `Options::slim` or `slim` in a manifest, or disable the \
            ceiling with `ceiling=off`";
        problems.report_in(&tool.origin.source, codes::CEILING, &tool.origin.pointer, message, help);
    }
}

/// Returns the size of a tool that exceeds its ceiling, the ceiling, and a description of what a model sees.
fn over_ceiling(spec: &ToolSpec) -> Option<(usize, usize, String)> {
    let ceiling = spec.slim.ceiling?;
    // An exact tool is shown in full.
    let (visible, full_size) = Forms::of(spec).measured(&JSON_SCHEMA).ok()?;
    let bytes = full_size? + spec.name.as_str().len();
    Some((
        bytes,
        ceiling,
        format!("a model is shown {} bytes, with {}", visible.bytes(), Trim::summed(&visible.trims)),
    ))
}

/// Checks that programs built together are within the budget of the options, and each within its own. Excesses are
/// reported.
pub fn check_budget(programs: &[Program], options: &Options, problems: &mut Problems) -> bool {
    let Some(first) = programs.iter().flat_map(Program::all_tools).next() else { return true };
    let together = options.token_budget.iter().flat_map(|budget| exceeded(programs, budget));
    let separate = programs.iter().filter_map(|program| Some((program, program.token_budget.as_ref()?)));
    let separate = separate.flat_map(|(program, budget)| exceeded(slice::from_ref(program), budget));
    let excesses: Vec<String> = together.chain(separate).collect();
    for message in &excesses {
        let help = "select fewer operations, trim with `--slim` or `Options::slim`, or raise the budget; `cargo toolgen \
                    tokens` shows where the tokens go";
        problems.report_in(&first.origin.source, codes::BUDGET, &Pointer::ROOT, message, help);
    }
    excesses.is_empty()
}

fn exceeded(programs: &[Program], budget: &TokenBudget) -> Vec<String> {
    let Some(dialect) = Dialect::by_name(&budget.dialect) else {
        return vec![format!("the budget names the dialect `{}`; {}", budget.dialect, list_dialects())];
    };
    let tools: Vec<&Tool> = programs.iter().flat_map(Program::all_tools).collect();
    count_excesses(&tools, dialect, budget)
}

#[cfg(feature = "tokens")]
fn count_excesses(tools: &[&Tool], dialect: &Dialect, budget: &TokenBudget) -> Vec<String> {
    use crate::tokens::{Rendering, Report, Tokenizer};
    Report::of(tools, dialect, Rendering::Full, Tokenizer::O200k).exceeded(budget)
}

#[cfg(not(feature = "tokens"))]
fn count_excesses(_: &[&Tool], _: &Dialect, _: &TokenBudget) -> Vec<String> {
    vec![
        "there is a token budget, but this build of toolgen has no tokenizer: enable the feature `tokens` of the \
         dependency `toolgen`"
            .to_owned(),
    ]
}
