//! Types as text.

use std::fmt::Write as _;

use super::super::expr::Expr;
use super::super::literal::{self, visible};
use super::model::{Body, CallTypes, Choice, Item, Presence, Struct, StructField, Ty, Union, Wrap};
use super::{Types, doc as documentation};

/// The whole module, and the types of each call.
pub(super) fn types(items: &[Item], calls: &[CallTypes<'_>], runtime: &str) -> Types {
    let mut out = String::from(
        "\npub use self::types::*;\n\n\
         /// The arguments and the results of the tools as Rust types.\n\
         #[allow(\n    \
             clippy::doc_markdown, clippy::large_enum_variant, clippy::option_option, clippy::struct_excessive_bools,\n    \
             clippy::struct_field_names, clippy::enum_variant_names, clippy::type_complexity, clippy::module_inception,\n    \
             reason = \"the document chose the names, the texts and the structure\"\n\
         )]\n\
         pub mod types {\n",
    );
    let _ = writeln!(out, "    use {runtime}::__private::types_prelude::*;");
    let printer = Printer { items };
    for item in items {
        printer.item(item, &mut out);
    }
    for call in calls {
        printer.call(call, &mut out);
    }
    let mut names = |head: &str, wanted: &dyn Fn(&Item) -> bool| {
        let listed = |item: &&Item| !matches!(item.body, Body::Alias(_) | Body::Pending) && wanted(item);
        let names: Vec<_> = items.iter().filter(listed).map(|item| item.name.as_str()).collect();
        if names.is_empty() {
            return;
        }
        let _ = write!(out, "\n    {runtime}::{head}! {{");
        let mut column = usize::MAX;
        for name in names {
            if column.saturating_add(name.len()) > 108 {
                out.push_str("\n       ");
                column = 7;
            }
            out.push(' ');
            out.push_str(name);
            column += name.len() + 1;
        }
        out.push_str("\n    }\n");
    };
    names("__serialize", &|_| true);
    names("__deserialize", &|item| item.read);
    names("__link", &|item| item.read && item.linked);
    out.push_str("}\n");
    let of_call = |call: &CallTypes<'_>| {
        let input = items.get(call.input).map_or_else(String::new, |item| item.name.clone());
        (input, printer.ty(&call.output))
    };
    Types { text: out, calls: calls.iter().map(of_call).collect() }
}

/// Whether a type is read from JSON, and what becomes of a value that the document does not describe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Never,
    /// It is an error.
    Closed,
    /// It is kept.
    Open,
}

struct Printer<'a> {
    items: &'a [Item],
}

impl Printer<'_> {
    fn item(&self, item: &Item, out: &mut String) {
        let Item { name, doc, body, read, open, linked: _ } = item;
        let reading = match (read, open) {
            (false, _) => Reading::Never,
            (true, false) => Reading::Closed,
            (true, true) => Reading::Open,
        };
        out.push('\n');
        match body {
            Body::Pending => {}
            Body::Alias(ty) => {
                let shown =
                    if doc.is_empty() { "What the document says of it has no form in Rust." } else { doc };
                documentation::write(shown, 4, out);
                let _ = writeln!(out, "    pub type {name} = {};", self.ty(ty));
            }
            Body::Struct(body) => self.structure(name, doc, body, *read, out),
            Body::Enum(values) => enumeration(name, doc, values, reading, out),
            Body::Union(body) => self.union(name, doc, body, reading, out),
        }
    }

    fn structure(&self, name: &str, doc: &str, body: &Struct, read: bool, out: &mut String) {
        documentation::write(if doc.is_empty() { "An object of the document." } else { doc }, 4, out);
        let all_optional = body
            .fields
            .iter()
            .all(|field| matches!(field.presence, Presence::Optional | Presence::OptionalNullable));
        let default = if all_optional { "Default, " } else { "" };
        let _ = writeln!(out, "    #[derive(Clone, Debug, {default}PartialEq)]");
        if body.fields.is_empty() && body.extra.is_none() {
            let _ = writeln!(out, "    pub struct {name} {{}}");
        } else {
            let _ = writeln!(out, "    pub struct {name} {{");
            for field in &body.fields {
                let StructField { name, key, doc, presence: _, ty: _ } = field;
                if doc.is_empty() {
                    let _ = writeln!(out, "        /// `{}`", visible(key));
                } else {
                    documentation::write(doc, 8, out);
                }
                let _ = writeln!(out, "        pub {name}: {},", self.field(field));
            }
            if let Some((name, ty)) = &body.extra {
                out.push_str("        /// Further fields.\n");
                let _ = writeln!(out, "        pub {name}: BTreeMap<String, {}>,", self.ty(ty));
            }
            out.push_str("    }\n");
        }
        write_object(name, body, out);
        if read {
            read_object(name, body, out);
        }
    }

    fn field(&self, field: &StructField) -> String {
        let ty = self.ty(&field.ty);
        match field.presence {
            Presence::Required => ty,
            Presence::Nullable | Presence::Optional => format!("Option<{ty}>"),
            Presence::OptionalNullable => format!("Option<Option<{ty}>>"),
        }
    }

    fn union(&self, name: &str, doc: &str, body: &Union, reading: Reading, out: &mut String) {
        documentation::write(if doc.is_empty() { "One of several." } else { doc }, 4, out);
        let _ = writeln!(out, "    #[derive(Clone, Debug, PartialEq)]\n    pub enum {name} {{");
        for variant in &body.variants {
            if variant.doc.is_empty() {
                let _ = writeln!(out, "        /// `{}`", variant.name);
            } else {
                documentation::write(&variant.doc, 8, out);
            }
            let _ = writeln!(out, "        {}({}),", variant.name, self.ty(&variant.ty));
        }
        if reading == Reading::Open {
            out.push_str("        /// What the document does not describe.\n        Other(Value),\n");
        }
        let _ =
            writeln!(out, "    }}\n\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{");
        out.push_str("            match self {\n");
        for variant in &body.variants {
            let _ = writeln!(out, "                Self::{}(value) => value.to_json(),", variant.name);
        }
        if reading == Reading::Open {
            out.push_str("                Self::Other(value) => value.to_json(),\n");
        }
        out.push_str("            }\n        }\n    }\n");
        if reading != Reading::Never {
            read_union(name, body, reading, out);
        }
    }

    fn call(&self, call: &CallTypes<'_>, out: &mut String) {
        let Some(Item { name, .. }) = self.items.get(call.input) else { return };
        let _ = write!(
            out,
            "\n    impl TypedTool for {name} {{\n        type Output = {};\n\n        \
             fn tool() -> &'static Tool {{\n            &super::{}\n        }}\n    }}\n",
            self.ty(&call.output),
            call.ident,
        );
    }

    fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => "bool".to_owned(),
            Ty::Int => "i64".to_owned(),
            Ty::Unsigned => "u64".to_owned(),
            Ty::Float => "f64".to_owned(),
            Ty::Text => "String".to_owned(),
            Ty::Value => "Value".to_owned(),
            Ty::Option(inner) => format!("Option<{}>", self.ty(inner)),
            Ty::Vec(inner) => format!("Vec<{}>", self.ty(inner)),
            Ty::Map(inner) => format!("BTreeMap<String, {}>", self.ty(inner)),
            Ty::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.ty(item) + ",").collect();
                format!("({})", items.join(" "))
            }
            Ty::Item(index, wrap) => {
                let name = self.items.get(*index).map_or("Value", |item| item.name.as_str());
                match wrap {
                    Wrap::Plain => name.to_owned(),
                    Wrap::Box => format!("Box<{name}>"),
                    Wrap::Link => format!("Link<{name}>"),
                }
            }
        }
    }
}

fn enumeration(name: &str, doc: &str, values: &[(String, String)], reading: Reading, out: &mut String) {
    documentation::write(if doc.is_empty() { "A text to choose." } else { doc }, 4, out);
    let _ = writeln!(out, "    #[derive(Clone, Debug, PartialEq)]\n    pub enum {name} {{");
    for (variant, value) in values {
        let _ = writeln!(out, "        /// `{}`\n        {variant},", visible(value));
    }
    if reading == Reading::Open {
        out.push_str("        /// A text the document does not list.\n        Other(String),\n");
    }
    let _ = writeln!(out, "    }}\n\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{");
    out.push_str("            match self {\n");
    for (variant, value) in values {
        let _ = writeln!(out, "                Self::{variant} => {}.to_json(),", literal::string(value));
    }
    if reading == Reading::Open {
        out.push_str("                Self::Other(text) => text.to_json(),\n");
    }
    out.push_str("            }\n        }\n    }\n");
    if reading == Reading::Never {
        return;
    }
    begin_read(name, out);
    out.push_str("            let text = text(value)?;\n            Ok(match &*text {\n");
    for (variant, value) in values {
        let _ = writeln!(out, "                {} => Self::{variant},", literal::string(value));
    }
    let other = match reading {
        Reading::Open => "Self::Other(text)",
        _ => "return Err(JsonError::new(\"none of the texts to choose from\"))",
    };
    let _ = write!(out, "                _ => {other},\n            }})\n        }}\n    }}\n");
}

fn write_object(name: &str, body: &Struct, out: &mut String) {
    let entry = |key: &str, value: String| Expr::Call("", vec![Expr::string(key), Expr::atom(value)]);
    let always = body.constants.iter().map(|(key, value)| entry(key, format!("&{value}")));
    let is_given =
        |field: &&StructField| matches!(field.presence, Presence::Optional | Presence::OptionalNullable);
    let field = |field: &StructField| entry(&field.key, format!("&self.{}", field.name));
    let always = always.chain(body.fields.iter().filter(|f| !is_given(f)).map(field)).collect();
    let given = body.fields.iter().filter(is_given).map(field).collect();
    let borrow = |items| Expr::Borrow(Box::new(Expr::Array(items)));
    let mut expr = Expr::Call("object", vec![borrow(always), borrow(given)]);
    if let Some((extra, _)) = &body.extra {
        expr = Expr::Call("with_extra", vec![expr, Expr::atom(format!("&self.{extra}"))]);
    }
    let _ =
        write!(out, "\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{\n            ");
    expr.write(12, 12, 0, out);
    out.push_str("\n        }\n    }\n");
}

fn read_object(name: &str, body: &Struct, out: &mut String) {
    begin_read(name, out);
    if body.fields.is_empty() && body.extra.is_none() {
        out.push_str("            Fields::new(value).map(|_| Self {})\n        }\n    }\n");
        return;
    }
    let mutable = if body.fields.is_empty() { "" } else { "mut " };
    let _ = writeln!(out, "            let {mutable}fields = Fields::new(value)?;\n            Ok(Self {{");
    for StructField { name, key, presence, ty, .. } in &body.fields {
        let method = if *presence == Presence::OptionalNullable { "nullable" } else { "get" };
        let _ = (ty, writeln!(out, "                {name}: fields.{method}({})?,", literal::string(key)));
    }
    if let Some((name, _)) = &body.extra {
        let _ = writeln!(out, "                {name}: fields.rest()?,");
    }
    out.push_str("            })\n        }\n    }\n");
}

fn begin_read(name: &str, out: &mut String) {
    let _ = write!(
        out,
        "\n    impl FromJson for {name} {{\n        fn from_json(value: Value) -> Result<Self, JsonError> {{\n",
    );
}

fn read_union(name: &str, body: &Union, reading: Reading, out: &mut String) {
    begin_read(name, out);
    let variant = |index: usize| body.variants.get(index).map_or("Other", |variant| variant.name.as_str());
    match &body.choice {
        Choice::Never => out.push_str("            let known = None;\n"),
        Choice::First(order) => {
            out.push_str("            let known = None");
            for index in order {
                let _ =
                    write!(out, "\n                .or_else(|| attempt(&value, Self::{}))", variant(*index));
            }
            out.push_str(";\n");
        }
        Choice::Tag(property, values) => {
            let _ =
                writeln!(out, "            let known = match tag(&value, {}) {{", literal::string(property));
            for (value, index) in values {
                let _ = writeln!(
                    out,
                    "                {} => attempt(&value, Self::{}),",
                    literal::string(value),
                    variant(*index)
                );
            }
            out.push_str("                _ => None,\n            };\n");
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
    out.push_str(match reading {
        Reading::Open => "            Ok(known.unwrap_or(Self::Other(value)))\n        }\n    }\n",
        _ => "            known.ok_or_else(|| JsonError::new(\"none of the shapes to choose from\"))\n        }\n    }\n",
    });
}
