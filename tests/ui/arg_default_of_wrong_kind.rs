#![allow(unused)]

use toolgen_runtime::{ToolInput, tool};

/// What it does.
#[derive(ToolInput)]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Does it.
#[tool(undocumented)]
fn f(
    #[arg(default = 5)] text: String,
    #[arg(default = true)] number: u32,
    #[arg(default = 0.5)] whole: u32,
    #[arg(default = -5)] flag: bool,
    #[arg(default = "on")] other_flag: bool,
    #[arg(default = 5)] list: Vec<u8>,
    #[arg(default = [1, "x"])] mixed: Vec<u8>,
    #[arg(default = [1])] no_list: u8,
    #[arg(default = 5)] maybe: Option<u8>,
    #[arg(default = "celsius")] unit: Unit,
    #[arg(default = 1)] number_of_unit: Unit,
) {
}

/// Does it.
#[tool(undocumented)]
fn fine(
    #[arg(default = 5)] fraction: f64,
    #[arg(default = ["a", "b"])] list: Vec<String>,
    #[arg(default = [1, 2])] pair: [u8; 2],
    #[arg(default = [])] none: Vec<u8>,
    #[arg(default = Unit::Celsius)] unit: Unit,
    #[arg(default = Some(5))] maybe: Option<u8>,
) {
}

fn main() {}
