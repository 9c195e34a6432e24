//! Types as text.

use std::fmt::Write as _;

use super::super::expr::Expr;
use super::super::literal::{self, visible};
use super::model::{Body, CallTypes, Choice, Item, Presence, Struct, StructField, Ty, Union, Variant, Wrap};
use super::{Types, doc as documentation, lists};

/// The whole module, and the types of each call.
pub(super) fn types(items: &[Item], calls: &[CallTypes<'_>], runtime: &str, derives: &[String]) -> Types {
    let mut out = String::from(
        "\npub use self::types::*;\n\n\
         /// The arguments and the results of the tools as Rust types.\n\
         #[allow(\n    \
             missing_docs, clippy::doc_markdown, clippy::large_enum_variant, clippy::module_inception,\n    \
             clippy::option_option, clippy::struct_excessive_bools, clippy::struct_field_names,\n    \
             clippy::enum_variant_names, clippy::too_many_arguments, clippy::trivially_copy_pass_by_ref,\n    \
             clippy::type_complexity,\n    \
             reason = \"the document chose the names, the texts and the structure\"\n\
         )]\n\
         pub mod types {\n",
    );
    let _ = writeln!(out, "    use {runtime}::__private::types_prelude::*;");
    let printer = Printer { items, derives };
    for item in items {
        printer.item(item, &mut out);
    }
    for call in calls {
        printer.call(call, &mut out);
    }
    printer.implement(runtime, &mut out);
    out.push_str("}\n");
    let of_call = |call: &CallTypes<'_>| {
        let input = items.get(call.input).map_or_else(String::new, |item| item.name.clone());
        (input, printer.ty(&call.output))
    };
    Types { text: out, calls: calls.iter().map(of_call).collect() }
}

/// Adds words after what is there, in lines of bounded length.
fn wrap<'w>(words: impl Iterator<Item = &'w str>, out: &mut String) {
    let mut column = usize::MAX;
    for word in words {
        if column.saturating_add(word.len()) > 108 {
            out.push_str("\n       ");
            column = 7;
        }
        out.push(' ');
        out.push_str(word);
        column += word.len() + 1;
    }
}

struct Printer<'a> {
    items: &'a [Item],
    derives: &'a [String],
}

impl Printer<'_> {
    fn item(&self, item: &Item, out: &mut String) {
        let Item { name, doc, body, .. } = item;
        if *body == Body::Pending {
            return;
        }
        out.push('\n');
        if !doc.is_empty() {
            documentation::write(doc, 4, out);
        }
        match body {
            Body::Pending => {}
            Body::Alias(ty) => {
                let _ = writeln!(out, "    pub type {name} = {};", self.ty(ty));
            }
            Body::Struct(body) => self.structure(item, body, out),
            Body::Enum(_) | Body::Numbers(_) => {
                self.derive(item, if item.open { &[] } else { &["Copy"] }, out);
                lists::write(item, out);
            }
            Body::Union(body) => self.union(item, body, out),
        }
    }

    /// Writes what a type derives: besides what all do, `extra`, and equality where it is total.
    fn derive(&self, item: &Item, extra: &[&str], out: &mut String) {
        let keys: &[&str] = if item.is_key { &["Eq", "Hash"] } else { &[] };
        let all = ["Clone"].iter().chain(extra).chain(&["Debug", "PartialEq"]).chain(keys);
        let all: Vec<&str> = all.copied().chain(self.derives.iter().map(String::as_str)).collect();
        let _ = writeln!(out, "    #[derive({})]", all.join(", "));
    }

    fn structure(&self, item: &Item, body: &Struct, out: &mut String) {
        let name = &item.name;
        let all_optional = body.fields.iter().all(StructField::is_left_out);
        self.derive(item, if all_optional { &["Default"] } else { &[] }, out);
        if item.made {
            out.push_str("    #[non_exhaustive]\n");
        }
        if body.fields.is_empty() && body.extra.is_none() {
            let _ = writeln!(out, "    pub struct {name} {{}}");
        } else {
            let _ = writeln!(out, "    pub struct {name} {{");
            for field in &body.fields {
                let StructField { name, key, doc, presence: _, ty: _ } = field;
                if !doc.is_empty() {
                    documentation::write(doc, 8, out);
                } else if !documentation::is_same(name, key) {
                    let _ = writeln!(out, "        /// `{}`", visible(key));
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
        read_object(name, body, out);
    }

    fn field(&self, field: &StructField) -> String {
        let ty = self.ty(&field.ty);
        match field.presence {
            Presence::Required => ty,
            Presence::Nullable | Presence::Optional => format!("Option<{ty}>"),
            Presence::OptionalNullable => format!("Option<Option<{ty}>>"),
        }
    }

    fn union(&self, item: &Item, body: &Union, out: &mut String) {
        let name = &item.name;
        self.derive(item, &[], out);
        let _ = writeln!(out, "    pub enum {name} {{");
        for variant in &body.variants {
            if !variant.doc.is_empty() {
                documentation::write(&variant.doc, 8, out);
            }
            let _ = writeln!(out, "        {}({}),", variant.name, self.ty(&variant.ty));
        }
        if item.open {
            out.push_str("        /// What the document does not describe.\n        Other(Value),\n");
        }
        let _ =
            writeln!(out, "    }}\n\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{");
        out.push_str("            match self {\n");
        let other = item.open.then_some("Other");
        for variant in body.variants.iter().map(|variant| variant.name.as_str()).chain(other) {
            let _ = writeln!(out, "                Self::{variant}(value) => value.to_json(),");
        }
        out.push_str("            }\n        }\n    }\n");
        read_union(item, body, out);
    }

    /// Writes the macros that implement the rest for all types.
    fn implement(&self, runtime: &str, out: &mut String) {
        let named = |item: &&Item| !matches!(item.body, Body::Alias(_) | Body::Pending);
        let items = || self.items.iter().filter(named);
        if items().next().is_some() {
            let _ = write!(out, "\n    {runtime}::__serde! {{");
            wrap(items().map(|item| item.name.as_str()), out);
            out.push_str("\n    }\n");
        }
        for (name, are_numbers) in [("__choices", false), ("__numbers", true)] {
            let is_kind = move |body: &Body| match body {
                Body::Enum(_) => !are_numbers,
                Body::Numbers(_) => are_numbers,
                _ => false,
            };
            let lists = |open: bool| {
                let lists = items().filter(move |item| is_kind(&item.body) && item.open == open);
                lists.map(|item| item.name.as_str())
            };
            if lists(true).chain(lists(false)).next().is_some() {
                let _ = write!(out, "\n    {runtime}::{name}! {{");
                wrap(lists(false).chain(["|"]).chain(lists(true)), out);
                out.push_str("\n    }\n");
            }
        }
        let linked = || items().filter(|item| item.linked).map(|item| item.name.as_str());
        if linked().next().is_some() {
            let _ = write!(out, "\n    {runtime}::__link! {{");
            wrap(linked(), out);
            out.push_str("\n    }\n");
        }
        let mut made = items().filter(|item| item.made).peekable();
        if made.peek().is_some() {
            let _ = writeln!(out, "\n    {runtime}::__build! {{");
            for item in made {
                if let Body::Struct(body) = &item.body {
                    self.build(&item.name, body, out);
                }
            }
            out.push_str("    }\n");
        }
    }

    /// Writes what the functions take that make a struct.
    fn build(&self, name: &str, body: &Struct, out: &mut String) {
        let (mut required, mut optional) = (Vec::new(), Vec::new());
        for field in &body.fields {
            let StructField { name, presence, ty, .. } = field;
            let ty = match presence {
                Presence::Required | Presence::Optional => self.ty(ty),
                Presence::Nullable | Presence::OptionalNullable => format!("Option<{}>", self.ty(ty)),
            };
            if field.is_left_out() {
                optional.push(format!("with_{} {name}: {ty}", name.trim_end_matches('_')));
            } else {
                required.push(format!("{name}: {ty}"));
            }
        }
        let extra = body.extra.as_ref().map_or("", |(name, _)| name.as_str());
        let _ = writeln!(
            out,
            "        {name} ({}) {{ {} }} [{extra}];",
            required.join(", "),
            optional.join(", ")
        );
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
        if let Some(item) = &call.item {
            let item = self.ty(item);
            let _ = writeln!(out, "\n    impl TypedItems for {name} {{\n        type Item = {item};\n    }}");
        }
    }

    fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => "bool".to_owned(),
            Ty::Short => "i32".to_owned(),
            Ty::Int => "i64".to_owned(),
            Ty::Unsigned => "u64".to_owned(),
            Ty::Float => "f64".to_owned(),
            Ty::Text => "String".to_owned(),
            Ty::Unit => "()".to_owned(),
            Ty::Known(path) => (*path).to_owned(),
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

fn write_object(name: &str, body: &Struct, out: &mut String) {
    let entry = |key: &str, value: String| Expr::Call("", vec![Expr::string(key), Expr::atom(value)]);
    let always = body.constants.iter().map(|(key, value)| entry(key, format!("&{value}")));
    let is_given = |field: &&StructField| field.is_left_out();
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
    /// The length of the longest tuple that the runtime reads.
    const MAX: usize = 8;
    begin_read(name, out);
    let names = body.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>();
    let mut tuples: Vec<String> = names.chunks(MAX).map(|names| format!("({},)", names.join(", "))).collect();
    let last = tuples.pop().unwrap_or_else(|| "()".to_owned());
    let open: String = tuples.iter().map(|tuple| format!("And({tuple}, ")).collect();
    let pattern = format!("{open}{last}{}", ")".repeat(tuples.len()));
    let keys = body.fields.iter().map(|field| literal::string(&field.key)).collect::<Vec<_>>().join(", ");
    let (pattern, read, extra) = match &body.extra {
        Some((extra, _)) => (format!("({pattern}, {extra})"), "read_all", Some(extra.as_str())),
        None => (pattern, "read", None),
    };
    let all = names.into_iter().chain(extra).collect::<Vec<_>>().join(", ");
    let _ = write!(
        out,
        "            let {pattern} = {read}(value, &[{keys}])?;\n            \
         Ok(Self {{ {all} }})\n        }}\n    }}\n"
    );
}

fn begin_read(name: &str, out: &mut String) {
    let _ = write!(
        out,
        "\n    impl FromJson for {name} {{\n        fn from_json(value: Value) -> Result<Self, JsonError> {{\n",
    );
}

fn read_union(item: &Item, body: &Union, out: &mut String) {
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
    out.push_str(match item.open {
        true => "            Ok(known.unwrap_or(Self::Other(value)))\n        }\n    }\n",
        false => "            known.ok_or_else(|| JsonError::new(\"none of the shapes to choose from\"))\n        }\n    }\n",
    });
}
