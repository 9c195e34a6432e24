//! Prints types as source text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::super::ModuleStyle;
use super::super::literal::{self, visible};
use super::codecs::{read_object, read_union, write_object};
use super::location_aliases::{self, LocationAliases};
use super::model::{Body, CallTypes, Item, Presence, Struct, StructField, Ty, Union, Variant, Wrap};
use super::type_site::nested_name;
use super::{Types, doc as documentation, enums, tags};

/// Returns the modules, and the types of each call. `tags` are the names of the modules of tags.
pub(super) fn types(
    items: &[Item],
    calls: &[CallTypes<'_>],
    aliases: &LocationAliases,
    tags: &[&str],
    style: &ModuleStyle,
) -> Types {
    let mut modules: BTreeMap<Option<usize>, ModuleContent<'_>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.body != Body::Pending) {
        modules.entry(item.tag_index).or_default().items.push((index, item));
    }
    for call in calls {
        modules.entry(call.tag_index).or_default().calls.push(call);
    }
    let idents = calls.iter().map(|call| (call.ident, call.tag_index)).collect();
    let tags_by_struct = tags::constant_tags(items);
    let printer = Printer {
        items,
        aliases,
        modules,
        idents,
        constant_tags: tags_by_struct,
        tags,
        runtime: &style.runtime,
        derives: &style.derives,
    };
    let call_types = |call: &CallTypes<'_>| {
        let input = items.get(call.input).map_or_else(String::new, |item| item.name.clone());
        let output = printer.ty_at(&call.output, &nested_name(&input, "Output"), call.tag_index);
        (input, output)
    };
    Types {
        text: printer.module(None),
        tags: (0..tags.len()).map(|tag_index| printer.module(Some(tag_index))).collect(),
        calls: calls.iter().map(call_types).collect(),
    }
}

/// Adds words to the output, in lines of bounded length.
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

/// The contents of a module.
#[derive(Default)]
struct ModuleContent<'a> {
    /// The items, with their indices.
    items: Vec<(usize, &'a Item)>,
    calls: Vec<&'a CallTypes<'a>>,
}

pub(super) struct Printer<'a> {
    pub(super) items: &'a [Item],
    aliases: &'a LocationAliases,
    modules: BTreeMap<Option<usize>, ModuleContent<'a>>,
    /// The tag index of each call.
    idents: HashMap<&'a str, Option<usize>>,
    /// The fields of structs whose string is constant.
    pub(super) constant_tags: BTreeMap<usize, (&'a str, &'a str)>,
    tags: &'a [&'a str],
    pub(super) runtime: &'a str,
    derives: &'a [String],
}

impl Printer<'_> {
    /// Returns the types module of a tag's module, or of the enclosing one; an empty string if it has no items.
    fn module(&self, tag_index: Option<usize>) -> String {
        let Some(content) = self.modules.get(&tag_index).filter(|content| !content.items.is_empty()) else {
            return String::new();
        };
        let mut out = String::from(
            "\npub use self::types::*;\n\n\
             /// The arguments and the results of the tools as Rust types.\n\
             #[allow(\n    \
                 missing_docs, clippy::doc_markdown, clippy::large_enum_variant, clippy::module_inception,\n    \
                 clippy::option_option, clippy::struct_excessive_bools, clippy::struct_field_names,\n    \
                 clippy::enum_variant_names, clippy::too_many_arguments, clippy::trivially_copy_pass_by_ref,\n    \
                 clippy::match_same_arms, clippy::type_complexity,\n    \
                 reason = \"the document chose the names, the descriptions and the structure\"\n\
             )]\n\
             pub mod types {\n",
        );
        let _ = writeln!(out, "    use {}::__private::types_prelude::*;", self.runtime);
        if tag_index.is_some() && self.modules.get(&None).is_some_and(|enclosing| !enclosing.items.is_empty())
        {
            out.push_str(
                "    #[allow(unused_imports, reason = \"which of them the types need depends on the document\")]\n    \
                 use super::super::types::*;\n",
            );
        }
        content.items.iter().for_each(|(_, item)| self.item(item, &mut out));
        content.calls.iter().for_each(|call| self.call(call, &mut out));
        self.implement(&content.items, &mut out);
        out.push_str("}\n");
        out
    }

    fn item(&self, item: &Item, out: &mut String) {
        let Item { name, doc, body, .. } = item;
        out.push('\n');
        if !doc.is_empty() {
            documentation::write(&self.link_from(doc, item.tag_index), 4, out);
        }
        match body {
            Body::Pending => {}
            Body::Alias(ty) => {
                let _ = writeln!(out, "    pub type {name} = {};", self.ty(ty));
            }
            Body::Struct(body) => self.structure(item, body, out),
            Body::Enum(_) | Body::Numbers(_) => {
                self.derive(item, if item.is_open { &[] } else { &["Copy"] }, out);
                enums::write(item, out);
            }
            Body::Union(body) => self.union(item, body, out),
        }
    }

    /// Returns documentation with its link to a tool adapted to the module of the type.
    fn link_from<'d>(&self, doc: &'d str, tag_index: Option<usize>) -> Cow<'d, str> {
        const LINK: &str = "](super::";
        let path = || {
            let (_, rest) = doc.split_once(LINK)?;
            let (ident, _) = rest.split_once(')')?;
            let target = *self.idents.get(ident)?;
            let up = if tag_index.is_some() { "super::" } else { "" };
            let down = target
                .and_then(|target| self.tags.get(target))
                .map_or_else(String::new, |tag| format!("{tag}::"));
            (target != tag_index).then(|| format!("{LINK}{up}{down}"))
        };
        if self.tags.is_empty() {
            return Cow::Borrowed(doc);
        }
        path().map_or(Cow::Borrowed(doc), |path| Cow::Owned(doc.replacen(LINK, &path, 1)))
    }

    /// Writes the derives of a type: `extra` in addition to the common ones, and equality if it is total.
    fn derive(&self, item: &Item, extra: &[&str], out: &mut String) {
        let keys: &[&str] = match (item.is_key, item.is_sorted) {
            (true, true) => &["Eq", "Hash", "PartialOrd", "Ord"],
            (true, false) => &["Eq", "Hash"],
            (false, _) => &[],
        };
        let all = ["Clone"].iter().chain(extra).chain(&["Debug", "PartialEq"]).chain(keys);
        let all: Vec<&str> = all.copied().chain(self.derives.iter().map(String::as_str)).collect();
        let _ = writeln!(out, "    #[derive({})]", all.join(", "));
    }

    fn structure(&self, item: &Item, body: &Struct, out: &mut String) {
        let name = &item.name;
        let all_optional = body.fields.iter().all(StructField::is_optional);
        self.derive(item, if all_optional { &["Default"] } else { &[] }, out);
        if item.is_constructed {
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
                let _ = writeln!(out, "        pub {name}: {},", self.field(field, item));
            }
            if let Some((name, ty)) = &body.extra {
                out.push_str("        /// Further fields.\n");
                let ty = self.ty_at(ty, &location_aliases::inner(&item.name, "extra"), item.tag_index);
                let _ = writeln!(out, "        pub {name}: BTreeMap<String, {ty}>,");
            }
            out.push_str("    }\n");
        }
        write_object(name, body, out);
        read_object(name, body, out);
    }

    fn field(&self, field: &StructField, item: &Item) -> String {
        let ty = self.ty_at(&field.ty, &location_aliases::field(&item.name, &field.key), item.tag_index);
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
            let ty = self.ty_at(&variant.ty, &location_aliases::inner(name, &variant.name), item.tag_index);
            let _ = writeln!(out, "        {}({ty}),", variant.name);
        }
        if item.is_open {
            out.push_str("        /// What the document does not describe.\n        Other(Value),\n");
        }
        let _ =
            writeln!(out, "    }}\n\n    impl ToJson for {name} {{\n        fn to_json(&self) -> Value {{");
        out.push_str("            match self {\n");
        for (index, Variant { name, .. }) in body.variants.iter().enumerate() {
            let _ = match tags::missing_tag(self.items, body, index) {
                Some((property, text)) => {
                    let (property, text) = (literal::string(property), literal::string(text));
                    writeln!(
                        out,
                        "                Self::{name}(value) => tagged(value.to_json(), {property}, {text}),"
                    )
                }
                None => writeln!(out, "                Self::{name}(value) => value.to_json(),"),
            };
        }
        if item.is_open {
            out.push_str("                Self::Other(value) => value.to_json(),\n");
        }
        out.push_str("            }\n        }\n    }\n");
        read_union(item, body, out);
    }

    /// Writes the macros that implement the other traits for all types of a module.
    fn implement(&self, all: &[(usize, &Item)], out: &mut String) {
        let runtime = self.runtime;
        let items = || all.iter().map(|(_, item)| *item).filter(|item| !matches!(item.body, Body::Alias(_)));
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
            let enums = |is_open: bool| {
                let enums = items().filter(move |item| is_kind(&item.body) && item.is_open == is_open);
                enums.map(|item| item.name.as_str())
            };
            if enums(true).chain(enums(false)).next().is_some() {
                let _ = write!(out, "\n    {runtime}::{name}! {{");
                wrap(enums(false).chain(["|"]).chain(enums(true)), out);
                out.push_str("\n    }\n");
            }
        }
        let linked = || items().filter(|item| item.is_linked).map(|item| item.name.as_str());
        if linked().next().is_some() {
            let _ = write!(out, "\n    {runtime}::__link! {{");
            wrap(linked(), out);
            out.push_str("\n    }\n");
        }
        self.write_constructors(all, out);
    }

    fn call(&self, call: &CallTypes<'_>, out: &mut String) {
        let Some(Item { name, .. }) = self.items.get(call.input) else { return };
        let _ = write!(
            out,
            "\n    impl TypedTool for {name} {{\n        type Output = {};\n\n        \
             fn tool() -> &'static Tool {{\n            &super::{}\n        }}\n    }}\n",
            self.ty_at(&call.output, &nested_name(name, "Output"), call.tag_index),
            call.ident,
        );
        if let Some(item) = &call.item {
            let item = self.ty_at(item, &nested_name(name, "Item"), call.tag_index);
            let _ = writeln!(out, "\n    impl TypedItems for {name} {{\n        type Item = {item};\n    }}");
        }
    }

    pub(super) fn ty(&self, ty: &Ty) -> String {
        self.ty_at(ty, "", None)
    }

    /// Returns a type as written at a location in a type of this module. The empty location is unknown.
    pub(super) fn ty_at(&self, ty: &Ty, location: &str, tag_index: Option<usize>) -> String {
        let part = |part: &str, ty: &Ty| match location {
            "" => self.ty(ty),
            _ => self.ty_at(ty, &location_aliases::inner(location, part), tag_index),
        };
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
            Ty::Option(inner) => format!("Option<{}>", self.ty_at(inner, location, tag_index)),
            Ty::Vec(inner) => format!("Vec<{}>", part("item", inner)),
            Ty::Map { key, value } => format!("BTreeMap<{}, {}>", self.key(key), part("value", value)),
            Ty::Tuple(items) => {
                let items = items.iter().enumerate();
                let items: Vec<_> =
                    items.map(|(index, item)| part(&format!("item {index}"), item) + ",").collect();
                format!("({})", items.join(" "))
            }
            Ty::Item(index, wrap) => {
                let is_visible = |alias: &usize| {
                    self.items
                        .get(*alias)
                        .is_some_and(|alias| alias.tag_index.is_none() || alias.tag_index == tag_index)
                };
                let aliases = self.aliases.name(self.items, location, *index).filter(is_visible);
                let name =
                    self.items.get(aliases.unwrap_or(*index)).map_or("Value", |item| item.name.as_str());
                match wrap {
                    Wrap::Plain => name.to_owned(),
                    Wrap::Box => format!("Box<{name}>"),
                    Wrap::Link => format!("Link<{name}>"),
                }
            }
        }
    }

    /// Returns the key of a map as source text.
    pub(super) fn key(&self, key: &Ty) -> String {
        match key {
            // The item is an enum of strings, which needs no box.
            Ty::Item(index, _) => self.ty(&Ty::Item(*index, Wrap::Plain)),
            other => self.ty(other),
        }
    }
}
