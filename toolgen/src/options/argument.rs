//! What is said of an argument.

use serde_json::Value;
use toolgen_core::spec::template::text_of;

use crate::select::Selector;

/// What is said of arguments of tools that send requests, see [`Options::fix`](super::Options::fix).
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentRule {
    /// The operations; `None` for all.
    pub operations: Option<Selector>,
    /// The argument, by its name or that of the document; `*` stands for any characters.
    pub argument: String,
    /// The value of each request; `None` if the argument is left out.
    pub value: Option<Value>,
}

impl ArgumentRule {
    /// Returns the option of `cargo toolgen` that says the same, and its value.
    pub(super) fn option(&self) -> (&'static str, String) {
        let of = self.operations.iter().map(|operations| format!("{operations} ")).collect::<String>();
        match &self.value {
            None => ("--omit", format!("{of}{}", self.argument)),
            Some(value) => ("--fix", format!("{of}{}={}", self.argument, text_of(value))),
        }
    }
}
