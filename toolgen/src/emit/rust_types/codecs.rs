//! Writes the code that serializes and deserializes generated types.

use std::fmt::Write as _;

use super::super::expr::Expr;
use super::super::literal;
use super::model::{Choice, Item, Struct, StructField, Union, Variant};

/// Writes the serialization of a struct to an object.
pub(super) fn write_object(name: &str, body: &Struct, out: &mut String) {
    let entry = |key: &str, value: String| Expr::Call("", vec![Expr::string(key), Expr::atom(value)]);
    let required = body.constants.iter().map(|(key, value)| entry(key, format!("&{value}")));
    let is_optional = |field: &&StructField| field.is_optional();
    let field = |field: &StructField| entry(&field.key, format!("&self.{}", field.name));
    let required = required.chain(body.fields.iter().filter(|f| !is_optional(f)).map(field)).collect();
    let optional = body.fields.iter().filter(is_optional).map(field).collect();
    let borrow = |items| Expr::Borrow(Box::new(Expr::Array(items)));
    let mut expr = Expr::Call("object", vec![borrow(required), borrow(optional)]);
    if let Some((extra, _)) = &body.extra {
        expr = Expr::Call("with_extra", vec![expr, Expr::atom(format!("&self.{extra}"))]);
    }
    let _ =
        write!(out, "\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{\n            ");
    expr.write(12, 12, 0, out);
    out.push_str("\n        }\n    }\n");
}

/// Writes the deserialization of a struct from an object.
pub(super) fn read_object(name: &str, body: &Struct, out: &mut String) {
    /// Maximum length of a tuple that the runtime deserializes.
    const MAX_TUPLE_LEN: usize = 8;
    begin_read(name, out);
    let names = body.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>();
    let tuple = |names: &[&str]| match names {
        [only] => format!("({only},)"),
        _ => format!("({})", names.join(", ")),
    };
    let mut tuples: Vec<String> = names.chunks(MAX_TUPLE_LEN).map(tuple).collect();
    let last = tuples.pop().unwrap_or_else(|| "()".to_owned());
    let prefix: String = tuples.iter().map(|tuple| format!("And({tuple}, ")).collect();
    let pattern = format!("{prefix}{last}{}", ")".repeat(tuples.len()));
    let (pattern, read, extra) = match &body.extra {
        Some((extra, _)) => (format!("({pattern}, {extra})"), "read_all", Some(extra.as_str())),
        None => (pattern, "read", None),
    };
    const INDENT: usize = 16;
    out.push_str("            let ");
    fill(pattern.split_inclusive(", "), INDENT, out);
    let _ = write!(out, " = {read}(value, &[");
    fill(comma_separated(body.fields.iter().map(|field| literal::string(&field.key))), INDENT, out);
    out.push_str("])?;\n            Ok(Self {");
    let all = comma_separated(names.into_iter().chain(extra).map(str::to_owned));
    if !all.is_empty() {
        out.push(' ');
        fill(all, INDENT, out);
        out.push(' ');
    }
    out.push_str("})\n        }\n    }\n");
}

/// Joins words by commas.
fn comma_separated(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.map(|word| word + ", ").collect();
    if let Some(last) = words.last_mut() {
        last.truncate(last.len() - 2);
    }
    words
}

/// Adds words to the last line, and to further lines if they do not fit.
fn fill(words: impl IntoIterator<Item = impl AsRef<str>>, indent: usize, out: &mut String) {
    const WIDTH: usize = 108;
    for word in words {
        let word = word.as_ref();
        let column = out.len() - out.rfind('\n').map_or(0, |index| index + 1);
        if column > indent && column + word.trim_end().len() > WIDTH {
            out.truncate(out.trim_end().len());
            let _ = write!(out, "\n{:indent$}", "");
        }
        out.push_str(word);
    }
}

fn begin_read(name: &str, out: &mut String) {
    let _ = write!(
        out,
        "\n    impl FromJson for {name} {{\n        fn from_json(value: Value) -> Result<Self, JsonError> {{\n",
    );
}

/// Writes the deserialization of an enum from a value of one of its variants.
pub(super) fn read_union(item: &Item, body: &Union, out: &mut String) {
    begin_read(&item.name, out);
    let variant = |index: usize| body.variants.get(index).map_or("Other", |variant| variant.name.as_str());
    match &body.choice {
        Choice::Best => {
            out.push_str("            let known = Best::of(&value)");
            for Variant { name, .. } in &body.variants {
                let _ = write!(out, "\n                .or(Self::{name})");
            }
            out.push_str("\n                .found();\n");
        }
        Choice::Tag { property, values, by_default } => {
            let _ =
                writeln!(out, "            let known = match tag(&value, {}) {{", literal::string(property));
            // Other values, and a missing value, select the default in any case.
            for index in (0..body.variants.len()).filter(|index| Some(*index) != *by_default) {
                let value_literals = values.iter().filter(|(_, variant)| *variant == index);
                let value_literals: Vec<String> =
                    value_literals.map(|(value, _)| literal::string(value)).collect();
                if !value_literals.is_empty() {
                    let (value_literals, name) = (value_literals.join(" | "), variant(index));
                    let _ =
                        writeln!(out, "                {value_literals} => attempt(&value, Self::{name}),");
                }
            }
            let _ = match by_default {
                Some(index) => {
                    writeln!(out, "                _ => attempt(&value, Self::{}),", variant(*index))
                }
                None => writeln!(out, "                _ => None,"),
            };
            out.push_str("            };\n");
        }
        Choice::Kind(kinds) => {
            out.push_str("            let known = match &value {\n");
            for (index, kind) in kinds.iter().enumerate() {
                let _ = writeln!(
                    out,
                    "                Value::{kind}{} => attempt(&value, Self::{}),",
                    if *kind == "Null" { "" } else { "(_)" },
                    variant(index)
                );
            }
            out.push_str("                _ => None,\n            };\n");
        }
    }
    out.push_str(match item.is_open {
        true => "            Ok(known.unwrap_or(Self::Other(value)))\n        }\n    }\n",
        false => "            known.ok_or_else(|| JsonError::new(\"it matches none of the variants\"))\n        }\n    }\n",
    });
}
