//! Types that cannot be arguments.

#![allow(unused)]

use toolgen_runtime::ToolInput;

#[derive(ToolInput)]
struct Borrowing<'a> {
    a: &'a str,
}

#[derive(ToolInput)]
struct SerdeWith {
    #[serde(with = "other")]
    a: u8,
    #[serde(rename_all = "x")]
    b: u8,
}

#[derive(ToolInput)]
#[serde(try_from = "u8")]
struct SerdeTryFrom(u8);

#[derive(ToolInput)]
union Union {
    a: u8,
}

#[derive(ToolInput)]
#[serde(rename_all = "camel")]
struct UnknownCase {
    a: u8,
}

#[derive(ToolInput)]
enum VariantNames {
    A,
    #[serde(rename = "A")]
    B,
    #[serde(other)]
    C,
}

#[derive(ToolInput)]
enum Never {}

#[derive(ToolInput)]
#[serde(tag = "t")]
enum Tagged {
    Two(u8, u8),
}

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
enum NamesTwice {
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
