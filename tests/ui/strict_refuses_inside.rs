use toolgen_runtime::{ToolInput, tool};

#[derive(ToolInput)]
struct Filter {
    bounds: (u8, u8),
}

/// Does it.
#[tool(undocumented, dialects(openai, openai_strict))]
fn search(filters: Vec<Filter>, #[arg(alias("x"))] any: Option<toolgen_runtime::shape::decode::ArgumentProblem>) {
    let _ = (filters, any);
}

fn main() {}
