//! Denied losses: parts of tools that a dialect cannot express although the options or a manifest require it.

use std::collections::BTreeSet;

use toolgen_core::schema::dialect::Dialect;
use toolgen_core::schema::shape::render::Loss;

use crate::options::Options;
use crate::problem::{Problems, codes};
use crate::selection::{Entry, matched};
use crate::tool::{Program, Tool};

/// Checks that programs built together lose nothing in the dialects where the options or the programs deny losses.
/// Each loss is reported at its tool.
pub fn check(programs: &[Program], options: &Options, problems: &mut Problems) -> bool {
    let mut is_lossless = true;
    for program in programs {
        let dialects: BTreeSet<&String> = options.deny_losses.iter().chain(&program.deny_losses).collect();
        for name in dialects {
            let tools = program.all_tools();
            let Some(dialect) = Dialect::by_name(name) else {
                let Some(first) = tools.first() else { continue };
                let message = format!("losses are denied in the dialect `{name}`; {}", list_dialects());
                problems.report_in(
                    &first.origin.source,
                    codes::LOSS,
                    &first.origin.pointer,
                    message,
                    "name one of these",
                );
                is_lossless = false;
                continue;
            };
            for tool in tools {
                is_lossless &= check_tool(tool, dialect, problems);
            }
        }
    }
    is_lossless
}

/// Lists the dialects: ``there are `json-schema`, …``.
pub(crate) fn list_dialects() -> String {
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
    format!("there are `{}`", names.join("`, `"))
}

fn check_tool(tool: &Tool, dialect: &Dialect, problems: &mut Problems) -> bool {
    let name = &tool.spec.name;
    let mut errors: Vec<(String, &str)> = Vec::new();
    match tool.spec.schema(dialect) {
        Ok(rendered) => {
            let lost = rendered.losses.iter().filter(|loss| !loss.in_prose);
            errors
                .extend(lost.map(|loss| (format!("`{name}` in {}: {loss}", dialect.title), help_for(loss))));
        }
        Err(refusals) => errors.extend(refusals.into_iter().map(|refusal| {
            let location =
                if refusal.pointer.is_empty() { String::new() } else { format!(" at {}", refusal.pointer) };
            let message =
                format!("`{name}` cannot be expressed in {}{location}: {}", dialect.title, refusal.reason);
            (message, "change the schema, omit the tool, or use another dialect")
        })),
    }
    for (message, help) in &errors {
        problems.report_in(&tool.origin.source, codes::LOSS, &tool.origin.pointer, message, *help);
    }
    errors.is_empty()
}

/// Returns how to avoid a loss.
fn help_for(loss: &Loss) -> &'static str {
    match loss.keyword {
        "additionalProperties" => "declare the keys as properties, or set the schema of all other values",
        "items" => "declare the items after the fixed positions, or that there are none: `items: false`",
        "description" => "use fewer characters",
        "$ref" => "define the schema",
        "nullable" => "require the property, remove `null` from it, or use a dialect that is not strict",
        _ => "change the schema, omit the tool, or use another dialect",
    }
}

/// Marks the tools that every dialect must express completely.
pub(crate) fn mark_exact(program: &mut Program, options: &Options, problems: &mut Problems) {
    if options.exact.is_empty() {
        return;
    }
    let tools = program.all_tools();
    let names: Vec<String> = tools.iter().map(|tool| tool.spec.name.to_string()).collect();
    let entries: Vec<Entry<'_>> = tools.iter().map(|tool| Entry::of(tool)).collect();
    let exact = matched(&entries, &names, &options.exact, "as exact, ", problems);
    let exact_names: Vec<_> =
        tools.iter().zip(exact).filter(|(_, exact)| *exact).map(|(tool, _)| tool.spec.name.clone()).collect();
    for name in &exact_names {
        if let Some(tool) = program.find_mut(name) {
            tool.spec.exact = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::source::Document;

    const API: &str = r##"
openapi: 3.0.3
info: {title: t, version: '1'}
servers: [{url: 'https://api.example.com'}]
paths:
  /a:
    post:
      operationId: add
      summary: Adds it.
      requestBody:
        content:
          application/json:
            schema: {type: object, properties: {next: {$ref: '#/components/schemas/Mixed'}}}
      responses: {}
  /b:
    get:
      operationId: find
      tags: [reading]
      summary: Finds it.
      parameters: [{name: q, in: query, schema: {type: string, minLength: 3}}]
      responses: {}
components:
  schemas:
    Mixed: {type: array, prefixItems: [{type: string}]}
"##;

    fn check_api(options: &Options) -> (bool, Vec<String>) {
        let mut problems = Problems::new();
        let text = API.replace("3.0.3", "3.1.0");
        let document = Document::parse(Path::new("api.yaml"), &text, &mut problems).unwrap();
        let program = crate::compile(&document, options, &mut problems).unwrap();
        let is_lossless = check(&[program], options, &mut problems);
        let reported = problems
            .as_slice()
            .iter()
            .map(|problem| format!("{} {} | {}", problem.code, problem.message, problem.help));
        (is_lossless, reported.collect())
    }

    #[test]
    fn denied_loss_is_an_error_with_location_and_help() {
        assert_eq!(check_api(&Options::default()), (true, vec![]));
        assert_eq!(check_api(&Options::default().deny_losses("anthropic")), (true, vec![]));
        let (is_lossless, messages) = check_api(&Options::default().deny_losses("openai-strict"));
        assert!(!is_lossless);
        assert_eq!(
            messages,
            ["E0803 `add` in OpenAI strict: `items` at /$defs/Mixed is not said: arrays end after \
              their last position in the dialect | declare the items after the fixed positions, or that there are none: `items: false`"]
        );
        let (is_lossless, messages) = check_api(&Options::default().deny_losses("latin"));
        assert!(
            !is_lossless && messages[0].contains("`latin`; there are `json-schema`, `openai`"),
            "{messages:?}"
        );
    }

    #[test]
    fn exact_tool_is_rejected_if_a_rule_becomes_prose() {
        let exact = |selector: &str| Options::default().exact(selector).deny_losses("openai-strict");
        let (is_lossless, messages) = check_api(&exact("tag:reading"));
        assert!(!is_lossless);
        assert!(
            messages[1].starts_with(
                "E0803 `find` cannot be expressed in OpenAI strict at /properties/q: the tool is `exact`, and in OpenAI strict \
                 `minLength` is only stated in the description: the dialect does not take the keyword"
            ),
            "{messages:?}"
        );
        let (_, messages) = check_api(&Options::default().exact("fnid"));
        assert_eq!(messages, ["W0330 as exact, `fnid` matches no operation | did you mean `find`?"]);
    }
}
