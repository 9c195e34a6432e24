//! Prints enums of enumerated values.

use std::fmt::{Display, Write as _};

use super::super::literal::{self, visible};
use super::doc as documentation;
use super::model::{Body, Item, Listed};

/// How enums with values of one type are written.
struct EnumStyle<V> {
    /// The noun for a value.
    noun: &'static str,
    /// The variant for values that the document does not list.
    other: &'static str,
    /// The function that returns the value of a variant; `LIFETIME` stands for the lifetime of a string.
    function: &'static str,
    /// The value of the variant for other values, in the function.
    other_arm: &'static str,
    /// A value as a Rust expression.
    literal: fn(&V) -> String,
}

const STRINGS: EnumStyle<String> = EnumStyle {
    noun: "text",
    other: "Other(String)",
    function: "as_str(&self) -> &LIFETIMEstr",
    other_arm: "Self::Other(text) => text",
    literal: |text| literal::string(text),
};

const NUMBERS: EnumStyle<i64> = EnumStyle {
    noun: "number",
    other: "Other(i64)",
    function: "as_i64(&self) -> i64",
    other_arm: "Self::Other(number) => *number",
    literal: i64::to_string,
};

/// Writes the enum of a list of values, after its documentation and derives.
pub(super) fn write(item: &Item, out: &mut String) {
    match &item.body {
        Body::Enum(values) => enumeration(item, values, &STRINGS, out),
        Body::Numbers(values) => enumeration(item, values, &NUMBERS, out),
        _ => {}
    }
}

fn enumeration<V: Display>(item: &Item, values: &[Listed<V>], style: &EnumStyle<V>, out: &mut String) {
    let name = &item.name;
    let EnumStyle { noun, other, function, other_arm, literal } = style;
    let _ = writeln!(out, "    pub enum {name} {{");
    for Listed { name, value, doc } in values {
        let text = value.to_string();
        match (doc.as_str(), documentation::is_same(name, &text)) {
            ("", true) => {}
            ("", false) => {
                let _ = writeln!(out, "        /// `{}`", visible(&text));
            }
            (doc, true) => documentation::write(doc, 8, out),
            (doc, false) => documentation::write(&format!("`{}`: {doc}", visible(&text)), 8, out),
        }
        let _ = writeln!(out, "        {name},");
    }
    if item.is_open {
        let _ = writeln!(out, "        /// A {noun} that the document does not list.\n        {other},");
    }
    let _ = writeln!(
        out,
        "    }}\n\n    impl {name} {{\n        /// All {noun}s that the document lists.\n        \
         pub const ALL: &'static [Self] = &["
    );
    for Listed { name, .. } in values {
        let _ = writeln!(out, "            Self::{name},");
    }
    let function = function.replace("LIFETIME", if item.is_open { "" } else { "'static " });
    let _ = writeln!(
        out,
        "        ];\n\n        /// Returns the {noun}.\n        #[must_use]\n        \
         pub fn {function} {{\n            match self {{"
    );
    for Listed { name, value, .. } in values {
        let _ = writeln!(out, "                Self::{name} => {},", literal(value));
    }
    if item.is_open {
        let _ = writeln!(out, "                {other_arm},");
    }
    out.push_str("            }\n        }\n    }\n");
}
