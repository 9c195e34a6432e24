//! The part of the vendor checks that uses the product: renders the tools of documents for every vendor, and samples
//! arguments from the grammars that a vendor compiles from the schemas.
//!
//! ```text
//! toolgen-provider-grammar render DOCUMENT…                         one JSON line for each tool and dialect
//! toolgen-provider-grammar sample COUNT SEED I/N RESULTS DOCUMENT…  adds a JSON line for each tool to the file RESULTS
//! ```
//!
//! Of N shards of the tools, the I-th is sampled. Tools with a line in RESULTS are skipped, so that an interrupted
//! run can continue.
//!
//! A document is anything that `cargo toolgen` compiles, or a tool list of an MCP server. `--macros` means the tools
//! that the tests of the macros declare.

#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros/macros.rs"]
mod macros;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros/macros_derive.rs"]
mod macros_derive;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros/macros_guards.rs"]
mod macros_guards;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros/macros_schema.rs"]
mod macros_schema;
mod render;
mod sample;
mod sources;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["render", ref documents @ ..] => render::run(&sources::all(documents)),
        ["sample", count, seed, shard, results, ref documents @ ..] => {
            let (Ok(count), Ok(seed), Some(shard)) = (count.parse(), seed.parse(), part(shard)) else {
                return usage();
            };
            let plan = sample::Plan { count, seed, shard, results: Path::new(results) };
            if let Err(error) = sample::run(&sources::all(documents), &plan) {
                eprintln!("{results}: {error}");
                return ExitCode::FAILURE;
            }
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

/// Parses `2/8`, the second of eight shards.
fn part(text: &str) -> Option<(usize, usize)> {
    let (part, of) = text.split_once('/')?;
    let (part, of) = (part.parse().ok()?, of.parse().ok()?);
    (1..=of).contains(&part).then_some((part, of))
}

fn usage() -> ExitCode {
    eprintln!("usage: render DOCUMENT… | sample COUNT SEED I/N RESULTS DOCUMENT…");
    ExitCode::from(2)
}
