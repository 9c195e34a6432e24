//! Names that could collide with generated items, `cfg` on arguments, tools from `macro_rules!`.
#![deny(warnings)]

use toolgen_runtime::{ToolContext, ToolInput, tool, toolset};

/// A trait that has everything.
pub trait Everything {
    /// Collides with a method that is generated.
    fn convert(&self) {}
    /// Collides with a method that is generated.
    fn split(&self) {}
    /// Collides with a method that is generated.
    fn output(&self) {}
}

impl<T: ?Sized> Everything for T {}

/// Arguments with the names that macros like to use.
#[tool(undocumented)]
#[allow(clippy::too_many_arguments)]
pub fn args(args: u8, ctx: u8, self_: u8, out: u8, value: u8, how: u8, error: u8, defs: u8) -> u8 {
    args + ctx + self_ + out + value + how + error + defs
}

/// Raw names.
#[tool(undocumented, reads("{type}"), at_most_one(r#type, r#gen))]
pub fn r#match(r#type: String, r#gen: Option<u8>, mut r#fn: Vec<u8>, context: &ToolContext) -> String {
    r#fn.push(1);
    format!("{} {} {} {:?}", r#type, r#fn.len(), context.tool_name, r#gen)
}

/// Arguments that are not always there.
#[tool(undocumented)]
pub fn sometimes(
    #[cfg(feature = "extra")] extra: u8,
    #[cfg(not(feature = "extra"))] other: u8,
    always: u8,
) -> u8 {
    #[cfg(feature = "extra")]
    let other = extra;
    other + always
}

macro_rules! getters {
    ($($(#[$meta:meta])* $name:ident($key:ident: $type:ty) = $text:literal, $limit:expr;)*) => {$(
        $(#[$meta])*
        #[doc = $text]
        #[tool(undocumented, name = $text)]
        pub fn $name(#[arg(default = $limit)] $key: $type) -> $type {
            $key
        }
    )*};
}

getters! {
    get_a(a: u8) = "first", 1;
    /// More to say.
    get_b(b: Option<String>) = "second", Some(String::from("x"));
}

/// Raw names in types.
#[derive(ToolInput)]
pub struct Raw {
    /// A keyword.
    pub r#type: u8,
}

/// Takes it.
#[tool(undocumented, description = concat!("Takes ", "it."))]
pub async fn take(raw: Raw, #[doc = concat!("A ", "number.")] number: i64) -> Result<(), std::fmt::Error> {
    let _ = (raw.r#type, number);
    Ok(())
}

/// Borrows for a named time.
#[tool(undocumented)]
pub fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() > b.len() { a } else { b }
}

/// All of them.
pub fn all() -> usize {
    toolset![args, r#match, sometimes, get_a, get_b, take, longest].len()
}
