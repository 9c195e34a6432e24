#![allow(unused)]

use std::sync::Arc;

use toolgen_runtime::tool;

struct Db;

/// Does it.
#[tool(undocumented)]
fn f(db: Arc<Db>) {}

fn main() {}
