//! Pagination: recognises it by the parameters and responses that documents declare, and applies the user's own
//! declarations.

mod names;
mod recognise;
mod response_shape;

use toolgen_core::schema::shape::{Field, Kind, Number, NumberRules, ObjectRules};
use toolgen_core::spec::plan::{NextPage, Pagination};
use toolgen_core::{ExecutionPlan, Shape, ToolSpec};

use crate::options::Options;
use crate::problem::{Problems, codes};
use crate::selection::selects;
use crate::selector::Selector;
use crate::source::Pointer;
use crate::tool::{Program, Tool};

/// Maximum number of items that a model may request at once.
const MAX_ITEMS: i128 = 10_000;

/// The argument that lets a model request several pages at once.
const ARGUMENT: &str = "max_items";

/// Sets the pagination of each tool of a program.
pub(crate) fn paginate(program: &mut Program, options: &Options, problems: &mut Problems) {
    let rules = rules(options, problems);
    let mut used = vec![false; rules.len()];
    for tool in &mut program.tools {
        let matching = rules.iter().enumerate().filter(|(_, (selector, _))| selects(selector, tool, options));
        let text =
            matching.inspect(|(index, _)| used[*index] = true).last().map(|(_, (_, pages))| pages.clone());
        let Tool { spec, call: ExecutionPlan::Http(plan), .. } = tool else { continue };
        plan.pagination = match text {
            Some(text) => text,
            // A declaration of the front end is kept, except for a header, which may serve another purpose.
            None if plan
                .pagination
                .as_ref()
                .is_none_or(|pages| *pages == Pagination::new(NextPage::Link)) =>
            {
                recognise::recognise(plan, spec)
            }
            None => plan.pagination.take(),
        };
        if let Some(pages) =
            plan.pagination.as_mut().filter(|pages| options.max_items && pages.max_items_argument.is_empty())
        {
            add_max_items(spec, pages);
        }
    }
    for ((selector, _), _) in rules.iter().zip(used).filter(|(_, used)| !used) {
        let message = format!("the pagination setting for `{selector}` matches no operation of the document");
        let help = "name an operation that becomes a tool, by its id, `METHOD /path` or `tag:NAME`";
        problems.report(codes::PAGINATION, &Pointer::ROOT, message, help);
    }
}

type Rule<'o> = (&'o Selector, Option<Pagination>);

/// Parses the user's declarations. Invalid ones are reported.
fn rules<'o>(options: &'o Options, problems: &mut Problems) -> Vec<Rule<'o>> {
    let mut rules = Vec::with_capacity(options.pagination.len());
    for (selector, text) in &options.pagination {
        match text.trim() {
            "none" => rules.push((selector, None)),
            text => match text.parse() {
                Ok(pages) => rules.push((selector, Some(pages))),
                Err(error) => {
                    let message = format!("the pagination setting for `{selector}` is not understood");
                    problems.report(
                        codes::PAGINATION,
                        &Pointer::ROOT,
                        message,
                        format!("{error}; or `none`"),
                    );
                }
            },
        }
    }
    rules
}

/// Adds the argument that lets a model request several pages at once.
fn add_max_items(spec: &mut ToolSpec, pages: &mut Pagination) {
    let Kind::Object(rules) = &spec.input.shape().kind else { return };
    let is_taken = |name: &str| rules.fields.iter().any(|field| *field.name == *name || *field.wire == *name);
    let mut name = ARGUMENT.to_owned();
    while is_taken(&name) {
        name.push_str("_of_all_pages");
    }
    let numbers = NumberRules {
        minimum: Some(Number::Int(1)),
        maximum: Some(Number::Int(MAX_ITEMS)),
        ..NumberRules::ANY
    };
    let description =
        "Reads as many pages as it takes to get this many items, at most. Without it, one page.";
    let shape = Shape { description: description.into(), ..Shape::of(Kind::Integer(numbers)) };
    let field = Field { name: name.clone().into(), shape, ..Field::OPTIONAL };
    let fields = rules.fields.iter().cloned().chain([field]).collect();
    let rules = ObjectRules { fields, ..rules.clone() };
    let input = Shape { kind: Kind::Object(rules), ..spec.input.shape().clone() };
    spec.input = input.into();
    pages.max_items_argument = name.into();
}
