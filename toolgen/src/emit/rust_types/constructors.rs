//! Writes constructors: functions for the fields of structs, and conversions into unions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::literal;
use super::location_aliases;
use super::model::{Body, Item, Presence, Struct, StructField, Ty, Union, Wrap};
use super::print::Printer;
use super::tags::resolve_alias;

impl Printer<'_> {
    /// Writes the macros that implement constructors for those types of a module that programs construct.
    pub(super) fn write_constructors(&self, items: &[(usize, &Item)], out: &mut String) {
        let runtime = self.runtime;
        let (mut structs, mut unions) = (String::new(), String::new());
        for (index, item) in items.iter().filter(|(_, item)| item.is_constructed) {
            match &item.body {
                Body::Struct(body) => {
                    self.build(item, body, self.constant_tags.get(index).copied(), &mut structs);
                }
                Body::Union(body) => self.conversions(*index, item, body, &mut unions),
                _ => {}
            }
        }
        for (name, content) in [("__build", structs), ("__from", unions)] {
            if !content.is_empty() {
                let _ = write!(out, "\n    {runtime}::{name}! {{\n{content}    }}\n");
            }
        }
    }

    /// Writes the parameters of the functions that construct a struct. `tag` is the property that identifies the
    /// variant of a union, and its string.
    fn build(&self, item: &Item, body: &Struct, tag: Option<(&str, &str)>, out: &mut String) {
        let (mut required, mut optional) = (Vec::new(), Vec::new());
        let mut constant = String::new();
        for field in &body.fields {
            let name = &field.name;
            if let Some((property, text)) = tag
                && field.key == property
                && let Some(value) = self.constant_value(field, text)
            {
                constant = format!(" = {name}: {value}");
            } else if field.is_optional() {
                let base_name = name.trim_end_matches('_');
                let null = match field.presence {
                    Presence::OptionalNullable => format!(" or null_{base_name}"),
                    _ => String::new(),
                };
                optional.push(format!("with_{base_name} {name}: {}{null}", self.build_field(field, item)));
            } else {
                required.push(format!("{name}: {}", self.build_field(field, item)));
            }
        }
        let extra = body.extra.as_ref().map_or("", |(name, _)| name.as_str());
        let _ = writeln!(
            out,
            "        {} ({}) {{ {} }} [{extra}]{constant};",
            item.name,
            required.join(", "),
            optional.join(", ")
        );
    }

    /// Returns the value of a field whose string is always the same, as an expression.
    fn constant_value(&self, field: &StructField, text: &str) -> Option<String> {
        if field.presence != Presence::Required {
            return None;
        }
        match resolve_alias(self.items, &field.ty) {
            Ty::Text => Some(literal::string(text)),
            Ty::Item(index, Wrap::Plain) => {
                let Item { name, body: Body::Enum(values), .. } = self.items.get(*index)? else {
                    return None;
                };
                let value = values.iter().find(|candidate| candidate.value == text)?;
                Some(format!("{name}::{}", value.name))
            }
            _ => None,
        }
    }

    /// Returns the parameter of a field, in the form that `__build!` reads.
    fn build_field(&self, field: &StructField, owner: &Item) -> String {
        let location = location_aliases::field(&owner.name, &field.key);
        let (item_location, value_location) =
            (location_aliases::inner(&location, "item"), location_aliases::inner(&location, "value"));
        let ty = |ty: &Ty, location: &str| self.ty_at(ty, location, owner.tag_index);
        if field.presence == Presence::Nullable {
            return format!("(Option<{}>)", ty(&field.ty, &location));
        }
        match resolve_alias(self.items, &field.ty) {
            Ty::Vec(inner) => format!("[{}]", ty(inner, &item_location)),
            Ty::Map { key, value } => match resolve_alias(self.items, value) {
                Ty::Vec(inner) => {
                    format!(
                        "{{{}, [{}]}}",
                        self.key(key),
                        ty(inner, &location_aliases::inner(&value_location, "item"))
                    )
                }
                _ => format!("{{{}, {}}}", self.key(key), ty(value, &value_location)),
            },
            _ => format!("({})", ty(&field.ty, &location)),
        }
    }

    /// Returns the variant for arrays, and its items, if only one variant of a union is an array.
    fn array(&self, body: &Union) -> Option<String> {
        let mut lists =
            body.variants.iter().filter_map(|variant| match resolve_alias(self.items, &variant.ty) {
                Ty::Vec(inner) => Some(format!("{}[{}]", variant.name, self.ty(inner))),
                _ => None,
            });
        lists.next().filter(|_| lists.next().is_none())
    }

    /// Writes the conversions into a union: from each content that only one of its variants has.
    fn conversions(&self, own_index: usize, item: &Item, body: &Union, out: &mut String) {
        let content = |ty: &Ty| match resolve_alias(self.items, ty) {
            Ty::Item(index, _) if *index == own_index => None,
            Ty::Item(index, _) => Some(self.ty(&Ty::Item(*index, Wrap::Plain))),
            ty @ (Ty::Bool | Ty::Short | Ty::Int | Ty::Unsigned | Ty::Float | Ty::Text | Ty::Vec(_)) => {
                Some(self.ty(ty))
            }
            _ => None,
        };
        let contents: Vec<(&str, String)> = body
            .variants
            .iter()
            .filter_map(|variant| Some((variant.name.as_str(), content(&variant.ty)?)))
            .collect();
        let mut seen = BTreeSet::new();
        let ambiguous: BTreeSet<&str> =
            contents.iter().filter(|(_, ty)| !seen.insert(ty.as_str())).map(|(_, ty)| ty.as_str()).collect();
        let mut conversions = Vec::new();
        for (variant, ty) in contents.iter().filter(|(_, ty)| !ambiguous.contains(ty.as_str())) {
            conversions.push(format!("{variant}({ty})"));
            if ty == "String" {
                conversions.push(format!("{variant}(&str)"));
            }
        }
        conversions.extend(self.array(body));
        if !conversions.is_empty() {
            let _ = writeln!(out, "        {} {{ {} }}", item.name, conversions.join(", "));
        }
    }
}
