#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct Renamed {
    #[serde(rename = "b")]
    a: u8,
    b: u8,
}

#[derive(ToolInput)]
#[serde(rename_all = "camelCase")]
struct Cased {
    page_size: u8,
    #[serde(rename = "pageSize")]
    size: u8,
}

#[derive(ToolInput)]
struct Alias {
    #[serde(alias = "to", alias = "from")]
    from: u8,
    #[arg(alias = "to")]
    until: u8,
    #[serde(skip)]
    to: u8,
}

#[derive(ToolInput)]
enum Variants {
    A,
    #[serde(alias = "A")]
    B {
        #[serde(rename = "y")]
        x: u8,
        y: u8,
    },
}

#[derive(ToolInput)]
#[serde(tag = "kind")]
enum Tagged {
    One { kind: u8 },
}

#[derive(ToolInput)]
#[serde(tag = "t", content = "t")]
enum Adjacent {
    One(u8),
}

#[derive(ToolInput)]
#[serde(untagged)]
enum Untagged {
    A { x: u8 },
    #[serde(rename = "A")]
    B { y: u8 },
}

fn main() {}
