//! Tests of counting.

use std::path::Path;

use toolgen_core::schema::dialect::{GEMINI, OPENAI};

use super::*;
use crate::problem::Problems;
use crate::source::Document;
use crate::{Options, Program};

/// Compares with the output of the tokenizers' own programs.
#[test]
fn token_counts_match_the_reference_tokenizers() {
    for (text, o200k, cl100k) in [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
        ("<|endoftext|>", 7, 7),
    ] {
        assert_eq!((Tokenizer::O200k.count(text), Tokenizer::Cl100k.count(text)), (o200k, cl100k), "{text}");
    }
}

const API: &str = r##"{
  "openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "https://pets.example"}],
  "paths": {
    "/pets": {
      "get": {
        "operationId": "list_pets", "tags": ["read"], "summary": "Lists pets.",
        "parameters": [{"name": "kind", "in": "query", "description": "Which kind.", "schema": {"type": "string", "examples": ["cat"]}}],
        "responses": {}
      },
      "post": {
        "operationId": "add_pet", "tags": ["write"], "summary": "Adds a pet.",
        "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
          "mother": {"$ref": "#/components/schemas/Pet"}, "father": {"$ref": "#/components/schemas/Pet"}
        }}}}},
        "responses": {}
      }
    }
  },
  "components": {"schemas": {"Pet": {"type": "object", "description": "A <b>pet</b>.", "properties": {"name": {"type": "string"}}}}}
}"##;

fn program(options: &Options) -> Program {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("api.json"), API, &mut problems).unwrap();
    crate::compile(&document, options, &mut problems).unwrap()
}

fn report(rendering: Rendering) -> Report {
    let program = program(&Options::default());
    Report::of(&program.all_tools(), &OPENAI, rendering, Tokenizer::O200k)
}

#[test]
fn token_shares_of_a_tool_sum_to_the_total() {
    let report = report(Rendering::Full);
    for tool in &report.tools {
        assert_eq!(tool.parts.numbers().iter().sum::<usize>(), tool.tokens, "{tool:?}");
    }
    let [add, list] = report.tools.as_slice() else { panic!("{report:?}") };
    assert_eq!((add.name.as_str(), list.name.as_str()), ("add_pet", "list_pets"));
    assert!(add.parts.defs > 0 && add.parts.examples == 0, "{add:?}");
    assert!(list.parts.examples > 0 && list.parts.parameters == 3 && list.parts.defs == 0, "{list:?}");
    assert_eq!(report.total(), report.parts().numbers().iter().sum::<usize>());
    assert_eq!((report.percentile(50), report.percentile(100)), (list.tokens, add.tokens));
    let groups: Vec<(String, usize)> =
        report.groups().into_iter().map(|group| (group.name, group.tokens)).collect();
    assert_eq!(groups, [("write".to_owned(), add.tokens), ("read".to_owned(), list.tokens)]);
}

#[test]
fn shorter_renderings_use_fewer_tokens() {
    let [full, compact, summary] =
        [Rendering::Full, Rendering::Compact, Rendering::Summary].map(|form| report(form).total());
    assert!(summary < compact && compact < full, "{summary} {compact} {full}");
    let [index, signature, docs] =
        [Rendering::Index, Rendering::Signature, Rendering::Docs].map(|form| report(form).total());
    assert!(0 < index && index < signature && index < docs, "{index} {signature} {docs}");
    let program = program(&Options::default());
    let tools = program.all_tools();
    let report = Report::with_savings(&tools, &OPENAI, Rendering::Full, Tokenizer::O200k);
    let examples = report.savings.iter().find(|saving| saving.levers == "examples=drop").unwrap();
    assert!(examples.tokens > 0);
    assert!(report.savings.is_sorted_by_key(|saving| std::cmp::Reverse(saving.tokens)));
}

#[test]
fn exceeded_budget_is_reported_with_suggestions() {
    let report = report(Rendering::Full);
    let budget = |total, tool| TokenBudget { total, tool, dialect: "openai".to_owned() };
    assert!(report.exceeded(&budget(Some(10_000), Some(5_000))).is_empty());
    let wrong = report.exceeded(&budget(Some(10), Some(report.percentile(50))));
    let total = report.total();
    assert!(
        wrong[0]
            .starts_with(&format!("the tools take {total} tokens in `openai`, more than the budget of 10; "))
    );
    assert!(wrong[1].starts_with("1 tool takes more than the budget of "), "{}", wrong[1]);
    assert!(wrong[1].contains("`add_pet`"), "{}", wrong[1]);
}

#[test]
fn exceeded_build_budget_is_a_problem_with_a_code() {
    let options = |dialect: &str| Options::default().token_budget(10, None, dialect);
    let check = |options: &Options| {
        let mut problems = Problems::new();
        let fits = crate::size::check_budget(&[program(options)], options, &mut problems);
        (
            fits,
            problems.as_slice().iter().map(|one| format!("{} {}", one.code, one.message)).collect::<Vec<_>>(),
        )
    };
    let (fits, messages) = check(&options("gemini"));
    assert!(!fits && messages[0].starts_with("E0802 the tools take "), "{messages:?}");
    let (fits, messages) = check(&options("latin"));
    assert!(!fits && messages[0].contains("dialect `latin`; there are `json-schema`"), "{messages:?}");
    assert!(check(&Options::default()).0);
}

#[test]
fn hostile_strings_are_escaped_in_the_html_report() {
    let mut report = report(Rendering::Full);
    report.tools[0].name = "</script><script>alert(1)</script>{{title}}".to_owned();
    let page = report.html("a<b>{{data}}");
    assert!(!page.contains("<script>alert") && page.contains("a&lt;b>{{data}}"));
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["tools"][0]["name"], "</script><script>alert(1)</script>{{title}}");
    for outside in ["http:", "https:", "src=", "@import", "innerHTML"] {
        assert!(!page.replace(&data.to_string(), "").contains(outside), "{outside}");
    }
}

#[test]
fn dialects_are_counted_as_sent() {
    let program = program(&Options::default());
    for dialect in Dialect::ALL {
        let report = Report::of(&program.all_tools(), dialect, Rendering::Full, Tokenizer::Cl100k);
        assert_eq!(report.tools.len(), 2, "{}", dialect.name);
    }
    let tool = &program.all_tools()[0].spec;
    let sent = |dialect| wire_form(tool, dialect, tool.schema(dialect).unwrap());
    assert!(sent(&GEMINI).contains(r#""name":"add_pet""#), "{}", sent(&GEMINI));
    assert!(sent(&OPENAI).contains(r#""type":"function""#), "{}", sent(&OPENAI));
}
