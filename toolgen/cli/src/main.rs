//! `cargo toolgen`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_toolgen::main()
}
