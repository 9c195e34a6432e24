#![allow(unused)]

use toolgen_runtime::tool;

struct Point;

/// Does it.
#[tool]
fn f() -> Result<Point, String> {
    Ok(Point)
}

fn main() {}
