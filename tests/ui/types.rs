//! Types that are invalid in their place: the compiler reports all of them, after the macros.

#![allow(unused)]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use toolgen_runtime::{ToolInput, tool};

/// Does it.
#[tool(undocumented)]
fn arg_default_of_a_number(#[arg(default = "ten")] a: i64, #[arg(default = "x")] fine: String) {}

/// What it does.
#[derive(ToolInput)]
struct ArgDefaultOfANumber {
    #[arg(default = "yes")]
    a: bool,
}

/// Does it.
#[tool(undocumented)]
fn arg_default_of_other_type(#[arg(default = "x")] a: f32) -> f32 {
    a
}

/// Does it.
#[tool(undocumented)]
fn arg_path_of_number(#[arg(path(within = "workdir"))] a: u8) -> u8 {
    a
}

/// Does it.
#[tool(undocumented)]
fn argument_map_of_numbers(of_numbers: HashMap<u8, String>, sorted: BTreeMap<u8, String>, fine: BTreeMap<String, u8>) {}

struct Db;

/// Does it.
#[tool(undocumented)]
fn argument_shared_state(db: Arc<Db>) {}

struct Point;

/// Does it.
#[tool(undocumented)]
fn argument_type_unknown(at: Point, near: &Point, all: Vec<Point>) {
    let _ = (at, near, all);
}

struct InjectUnknown;

/// Does it.
#[tool]
fn inject_unknown(#[inject] db: &InjectUnknown) {
    let _ = db;
}

struct Broken;

/// Does it.
#[tool]
fn result_error_unknown() -> Result<u8, Broken> {
    Err(Broken)
}

struct ResultNotSerialisable;

/// Does it.
#[tool]
fn result_not_serialisable() -> Result<ResultNotSerialisable, String> {
    Ok(ResultNotSerialisable)
}

fn main() {}
