//! Measures the time to index all tools of a document, to search them, and to parse their schemas, which are text in
//! generated code. The argument is the document.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use toolgen::{Document, Options, Problems};
use toolgen_runtime::schema::shape::read::read_canonical;
use toolgen_runtime::schema::shape::render::canonical;
use toolgen_runtime::spec::search::SearchIndex;

/// Minimum duration of each measurement: the system counts CPU time in steps of milliseconds.
const LASTS: Duration = Duration::from_secs(1);
const BOOKSHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../specs/bookshop.yaml");

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| BOOKSHOP.to_owned());
    let mut problems = Problems::new();
    let program = Document::load(Path::new(&path), &mut problems)
        .and_then(|document| toolgen::compile(&document, &Options::default(), &mut problems));
    let Some(program) = program else {
        eprintln!("{path}: gives no tools");
        return ExitCode::FAILURE;
    };
    let tools = program.all_tools();
    println!("{} tools of {path}; the mean of a second, in milliseconds of the processor", tools.len());
    let index = || SearchIndex::new(tools.iter().map(|tool| (&tool.spec, "")));
    told("index", index);
    let made = index();
    told("a search", || made.search("list issues", 5, |_| true));
    let texts: Vec<String> = tools.iter().map(|tool| canonical(&tool.spec.input)).collect();
    let parsed = |text: &String| serde_json::from_str(text).ok().map(|value| read_canonical(&value));
    told("schemas read", || texts.iter().filter_map(parsed).filter(|shape| shape.default.is_none()).count());
    ExitCode::SUCCESS
}

/// Prints the time of one round.
fn told<T>(what: &str, mut run: impl FnMut() -> T) {
    black_box(run());
    let (start, before) = (Instant::now(), used());
    let mut rounds = 0;
    while start.elapsed() < LASTS {
        black_box(run());
        rounds += 1;
    }
    let (elapsed, after) = (start.elapsed(), used());
    let spent = after.zip(before).map_or(elapsed, |(after, before)| after.saturating_sub(before)) / rounds;
    println!("{what:20} {:8.3}", spent.as_secs_f64() * 1e3);
}

/// Returns the CPU time of this process, if the system reports it: it does not depend on other load of the machine.
fn used() -> Option<Duration> {
    let told = fs::read_to_string("/proc/self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
