#![allow(unused)]

use toolgen_runtime::tool;

/// Does it.
#[tool(undocumented, requires(entity("plan", argument = "plan_slog"), entity("phase")))]
fn f(plan_slug: String) {}

fn main() {}
