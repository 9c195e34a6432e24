//! What is said of an argument.

use std::fmt;

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

/// Writes the rule as an option of `cargo toolgen`, after a space.
impl fmt::Display for ArgumentRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.operations.iter().map(|operations| format!("{operations} ")).collect::<String>();
        match &self.value {
            None => write!(f, " --omit {}", quoted(&format!("{of}{}", self.argument))),
            Some(value) => {
                write!(f, " --fix {}", quoted(&format!("{of}{}={}", self.argument, text_of(value))))
            }
        }
    }
}

/// Quotes a text for a shell, if that is needed.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
