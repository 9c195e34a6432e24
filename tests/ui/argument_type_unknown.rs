#![allow(unused)]

use toolgen_runtime::tool;

struct Point;

/// Does it.
#[tool(undocumented)]
fn f(at: Point, near: &Point, all: Vec<Point>) {
    let _ = (at, near, all);
}

fn main() {}
