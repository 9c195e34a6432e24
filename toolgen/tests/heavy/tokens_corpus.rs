//! Counts the tokens of every tool of the corpus, if it is there.
//!
//! The corpus is not part of the repository: `TOOLGEN_CORPUS` names it, `../shared/corpus` beside the repository is
//! the default.

use std::path::Path;

use toolgen::tokens::{Rendering, Report, Tokenizer};
use toolgen::{Document, Options, Problems, Program, Tool};
use toolgen_runtime::schema::dialect::{Dialect, OPENAI};

use toolgen_test_support::needs;

/// The most tokens of a tool that nobody configured.
const MOST: usize = 8_000;

fn compile(path: &Path) -> Program {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems).unwrap_or_else(|| panic!("{}", path.display()));
    toolgen::compile(&document, &Options::default(), &mut problems)
        .unwrap_or_else(|| panic!("{}", path.display()))
}

/// A token is at least a byte, so most tools need not be counted.
fn may_be_large(tool: &Tool, dialect: &Dialect) -> bool {
    tool.spec.schema(dialect).is_ok_and(|message| message.bytes() > MOST)
}

#[test]
#[ignore = "heavy: corpus"]
fn every_corpus_tool_has_at_most_8000_tokens() {
    let paths = needs::corpus();
    let (mut tools, mut counted, mut wrong) = (0, 0, Vec::new());
    for (index, path) in paths.into_iter().enumerate() {
        let program = compile(&path);
        tools += program.tools.len();
        // All dialects of every document would take minutes: each document is counted in one, in turn.
        for dialect in Dialect::ALL.iter().cycle().skip(index).take(1) {
            let large: Vec<&Tool> = program.tools.iter().filter(|tool| may_be_large(tool, dialect)).collect();
            counted += large.len();
            let report = Report::of(&large, dialect, Rendering::Full, Tokenizer::O200k);
            for tool in report.tools.iter().filter(|tool| tool.tokens > MOST) {
                wrong.push(format!("{} {} {}: {}", path.display(), dialect.name, tool.name, tool.tokens));
            }
        }
    }
    println!("{tools} tools, {counted} times one had more than {MOST} bytes and was counted");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "heavy: corpus"]
fn largest_api_fits_in_178_000_tokens() {
    let Some(corpus) = needs::corpus_folder("openapi") else { return };
    let program = compile(&corpus.join("github-api.json"));
    let report = Report::of(&program.all_tools(), &OPENAI, Rendering::Compact, Tokenizer::O200k);
    println!("{} tools, {} tokens", report.tools.len(), report.total());
    assert!(report.tools.len() > 1_000 && report.total() < 178_000, "{}", report.total());
    // Every argument stays: what compact trims are texts and repetition.
    let full = Report::of(&program.all_tools(), &OPENAI, Rendering::Full, Tokenizer::O200k);
    assert!(full.total() > 2 * report.total(), "{} {}", full.total(), report.total());
}
