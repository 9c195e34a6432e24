//! How long a list of tools takes to be rendered for a request: a thousand tools of a document, in every dialect, and a
//! plan of as many as a request takes; and how long an index takes to search all of them.
//! `cargo run --release -- DOCUMENT [DIALECT]`

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolgen::{Document, Options, Problems};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::schema::shape::read::read_canonical;
use toolgen_runtime::schema::shape::render::canonical;
use toolgen_runtime::spec::ToolSpec;
use toolgen_runtime::spec::search::SearchIndex;
use toolgen_runtime::wire::{PlanOptions, WireFormat};

const TOOLS: usize = 1_000;
const ROUNDS: u32 = 40;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "../../../specs/bookshop.yaml".into());
    let mut problems = Problems::new();
    let program = Document::load(Path::new(&path), &mut problems)
        .and_then(|document| toolgen::compile(&document, &Options::default(), &mut problems));
    let Some(program) = program else {
        eprintln!("{path}: gives no tools");
        return ExitCode::FAILURE;
    };
    let tools = program.all_tools();
    let specs: Vec<&ToolSpec> = tools.iter().map(|tool| &tool.spec).cycle().take(TOOLS).collect();
    println!(
        "{TOOLS} tools from the {} of {path}; the mean of {ROUNDS} rounds, in milliseconds of the processor",
        tools.len()
    );
    let only = std::env::args().nth(2);
    for dialect in Dialect::ALL.into_iter().filter(|it| only.as_ref().is_none_or(|only| *only == it.name)) {
        let own = |format: &WireFormat| [Some(dialect), dialect.lax].contains(&Some(format.dialect()));
        let format = WireFormat::ALL.into_iter().find(own).unwrap_or(WireFormat::OpenAiChat);
        let rendered = mean(|| specs.iter().filter(|spec| spec.schema(dialect).is_ok()).count());
        let planned = mean(|| {
            let plan = format.plan_with(dialect, specs.iter().copied(), PlanOptions::default().cut());
            plan.map_or(0, |plan| plan.decisions().len())
        });
        println!("{:20} schemas {:7.2}, plan {:7.2}", dialect.name, millis(rendered), millis(planned));
    }
    let all: Vec<&ToolSpec> = tools.iter().map(|tool| &tool.spec).collect();
    search(&all);
    ExitCode::SUCCESS
}

/// The index of all tools, and what reading their schemas takes, which stand as text in generated code.
fn search(specs: &[&ToolSpec]) {
    let index = || SearchIndex::new(specs.iter().map(|&spec| (spec, "")));
    let built = mean(|| index().search("list issues", 1, |_| true).len());
    let texts: Vec<String> = specs.iter().map(|spec| canonical(&spec.input)).collect();
    let parsed = |text: &String| serde_json::from_str(text).ok().map(|value| read_canonical(&value));
    let read = mean(|| texts.iter().filter_map(parsed).filter(|shape| shape.default.is_none()).count());
    println!("{:20} built {:9.2}, schemas read {:7.2}", "search index", millis(built), millis(read));
}

/// The time that one of the rounds takes.
fn mean(mut run: impl FnMut() -> usize) -> Duration {
    std::hint::black_box(run());
    let (start, before) = (Instant::now(), used());
    for _ in 0..ROUNDS {
        std::hint::black_box(run());
    }
    let (elapsed, after) = (start.elapsed(), used());
    after.zip(before).map_or(elapsed, |(after, before)| after.saturating_sub(before)) / ROUNDS
}

/// The time of the processor that this program has used, where the system tells it: a machine may have other work.
fn used() -> Option<Duration> {
    let told = fs::read_to_string("/proc/self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
