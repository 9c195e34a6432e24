#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct Page {
    limit: u8,
    #[serde(alias = "from")]
    offset: u8,
}

#[derive(ToolInput)]
struct Query {
    limit: u8,
    #[serde(flatten)]
    page: Page,
}

#[derive(ToolInput)]
struct Aliased {
    from: String,
    #[serde(flatten)]
    page: Page,
}

#[derive(ToolInput)]
#[serde(tag = "limit")]
enum Tagged {
    One(Page),
}

fn main() {}
