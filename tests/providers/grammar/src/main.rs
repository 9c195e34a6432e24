//! What the checks of providers need of the product: the tools of documents as every provider gets them, and arguments
//! drawn from the grammars that a provider compiles of the schemas.
//!
//! ```text
//! toolgen-provider-grammar render DOCUMENT…             one JSON line for each tool and dialect
//! toolgen-provider-grammar sample COUNT SEED DOCUMENT…  one JSON line for each tool and dialect that has a finding, and a summary
//! ```
//!
//! A document is what `cargo toolgen` compiles, or a list of tools of an MCP server. `--macros` stands for the tools that
//! the tests of the macros declare.

#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros.rs"]
mod macros;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros_derive.rs"]
mod macros_derive;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros_guards.rs"]
mod macros_guards;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::all,
    reason = "only its tools are wanted, not its tests"
)]
#[path = "../../../tests/macros_told.rs"]
mod macros_told;
mod render;
mod sample;
mod sources;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["render", ref documents @ ..] => render::run(&sources::all(documents)),
        ["sample", count, seed, ref documents @ ..] => match (count.parse(), seed.parse()) {
            (Ok(count), Ok(seed)) => sample::run(&sources::all(documents), count, seed),
            _ => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: render DOCUMENT… | sample COUNT SEED DOCUMENT…");
    ExitCode::from(2)
}
