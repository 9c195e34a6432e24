//! Prints enums of enumerated values.

use std::fmt::{Display, Write as _};

use super::super::literal::{self, visible};
use super::doc as documentation;
use super::model::{Body, Item, Listed};

/// How enums with values of one type are written.
struct Words<V> {
    /// The noun for a value.
    what: &'static str,
    /// The variant for values that the document does not list.
    other: &'static str,
    /// The function that returns the value of a variant; `LIFETIME` stands for the lifetime of a string.
    function: &'static str,
    /// The value of the variant for other values, in the function.
    of_other: &'static str,
    /// A value as a Rust expression.
    literal: fn(&V) -> String,
}

const TEXTS: Words<String> = Words {
    what: "text",
    other: "Other(String)",
    function: "as_str(&self) -> &LIFETIMEstr",
    of_other: "Self::Other(text) => text",
    literal: |text| literal::string(text),
};

const NUMBERS: Words<i64> = Words {
    what: "number",
    other: "Other(i64)",
    function: "as_i64(&self) -> i64",
    of_other: "Self::Other(number) => *number",
    literal: i64::to_string,
};

/// Writes the enum of a list of values, after its documentation and derives.
pub(super) fn write(item: &Item, out: &mut String) {
    match &item.body {
        Body::Enum(values) => enumeration(item, values, &TEXTS, out),
        Body::Numbers(values) => enumeration(item, values, &NUMBERS, out),
        _ => {}
    }
}

fn enumeration<V: Display>(item: &Item, values: &[Listed<V>], words: &Words<V>, out: &mut String) {
    let name = &item.name;
    let Words { what, other, function, of_other, literal } = words;
    let _ = writeln!(out, "    pub enum {name} {{");
    for Listed { name, value, doc } in values {
        let written = value.to_string();
        match (doc.as_str(), documentation::is_same(name, &written)) {
            ("", true) => {}
            ("", false) => {
                let _ = writeln!(out, "        /// `{}`", visible(&written));
            }
            (doc, true) => documentation::write(doc, 8, out),
            (doc, false) => documentation::write(&format!("`{}`: {doc}", visible(&written)), 8, out),
        }
        let _ = writeln!(out, "        {name},");
    }
    if item.open {
        let _ = writeln!(out, "        /// A {what} that the document does not list.\n        {other},");
    }
    let _ = writeln!(
        out,
        "    }}\n\n    impl {name} {{\n        /// All {what}s that the document lists.\n        \
         pub const ALL: &'static [Self] = &["
    );
    for Listed { name, .. } in values {
        let _ = writeln!(out, "            Self::{name},");
    }
    let function = function.replace("LIFETIME", if item.open { "" } else { "'static " });
    let _ = writeln!(
        out,
        "        ];\n\n        /// Returns the {what}.\n        #[must_use]\n        \
         pub fn {function} {{\n            match self {{"
    );
    for Listed { name, value, .. } in values {
        let _ = writeln!(out, "                Self::{name} => {},", literal(value));
    }
    if item.open {
        let _ = writeln!(out, "                {of_other},");
    }
    out.push_str("            }\n        }\n    }\n");
}
