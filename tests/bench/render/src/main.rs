//! How long a list of tools takes to be rendered for a request: a thousand tools of a document, in every dialect, and a
//! plan of as many as a request takes. `cargo run --release -- DOCUMENT`

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolgen::{Document, Options, Problems};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::ToolSpec;
use toolgen_runtime::wire::{PlanOptions, WireFormat};

const TOOLS: usize = 1_000;
const ROUNDS: usize = 20;

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
        "{TOOLS} tools from the {} of {path}; the best of {ROUNDS} rounds, in milliseconds",
        tools.len()
    );
    for dialect in Dialect::ALL {
        let own = |format: &WireFormat| [Some(dialect), dialect.lax].contains(&Some(format.dialect()));
        let format = WireFormat::ALL.into_iter().find(own).unwrap_or(WireFormat::OpenAiChat);
        let rendered = best(|| specs.iter().filter(|spec| spec.schema(dialect).is_ok()).count());
        let planned = best(|| {
            let plan = format.plan_with(dialect, specs.iter().copied(), PlanOptions::default().cut());
            plan.map_or(0, |plan| plan.decisions().len())
        });
        println!("{:20} schemas {:7.2}, plan {:7.2}", dialect.name, millis(rendered), millis(planned));
    }
    ExitCode::SUCCESS
}

fn best(mut run: impl FnMut() -> usize) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    });
    rounds.min().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
