//! Translates shapes to types.

mod calls;

use std::collections::BTreeMap;

use toolgen_core::schema::shape::{Access, Extra, Kind, ObjectRules, UnionRules, find_def};
use toolgen_core::{Def, List, Shape};

use super::super::TextType;
use super::super::idents::{self, Names};
use super::doc::{self, first_paragraph};
use super::model::{
    Body, Item, Origin, Presence, Struct, StructField, Ty, TypeRequest, Union, Use, Variant, Wrap,
};
use super::objects::{MAX_NESTING, object_of, scalar, without_null};
use super::repeats::{self, RepeatLayer};
use super::scalars::{constant, integer, scalar_type, type_names};
use super::titles::Titles;
use super::type_site::TypeSite;
use super::usage::Usage;
use super::{depth, raw, union, variants};

/// The state of the translation.
pub(super) struct Lowering<'a> {
    defs: &'a List<Def>,
    usage: &'a BTreeMap<String, Usage>,
    repeats: &'a RepeatLayer,
    titles: Titles,
    text_types: &'a [TextType],
    items: Vec<Item>,
    /// The type that is being translated.
    owner: Option<usize>,
    names: Names,
    /// The names of the items of named shapes.
    def_names: BTreeMap<String, String>,
    /// The item of each named shape that has one.
    by_def: BTreeMap<String, usize>,
    /// Named shapes whose items are still to be built.
    pending: Vec<(usize, String)>,
    /// The types of unnamed shapes, by their text and usage: documents repeat themselves, and an `allOf` repeats its
    /// parts.
    inline: BTreeMap<(String, Usage), Ty>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        defs: &'a List<Def>,
        usage: &'a BTreeMap<String, Usage>,
        repeats: &'a RepeatLayer,
        titles: Titles,
        text_types: &'a [TextType],
    ) -> Lowering<'a> {
        Lowering {
            defs,
            usage,
            repeats,
            titles,
            text_types,
            items: Vec::new(),
            owner: None,
            names: type_names(),
            def_names: BTreeMap::new(),
            by_def: BTreeMap::new(),
            pending: Vec::new(),
            inline: BTreeMap::new(),
        }
    }

    /// Reserves the name of the trait of functions, which is next to the types: no type can have that name.
    pub(super) fn reserve_name(&mut self, name: &str) {
        self.names.take(name);
    }

    /// Reserves the name of a tool's argument struct. It is called for all tools before any other type is named, so
    /// that the names used most in Rust code do not depend on the schemas of the document.
    pub(super) fn reserve_input(&mut self, request: &TypeRequest<'_>) -> usize {
        let text = &request.spec.description;
        // Without a description, the document has the operation here.
        let mut doc = if **text == *request.operation { String::new() } else { first_paragraph(text) };
        if !doc.is_empty() {
            doc.push_str("\n\n");
        }
        doc += &format!("Arguments of [`{0}`](super::{0}): `{1}`.", request.ident, request.operation);
        let name = self.names.take_or(&idents::camel(request.spec.name.as_str()), "Call");
        self.add(name, doc, Origin::Tool)
    }

    /// Reserves the names of the document's named types, before the other types are named.
    pub(super) fn reserve_names(&mut self) {
        for name in self.usage.keys() {
            if find_def(self.defs, name).is_some_and(union::is_nominal) {
                let unique = self.def_name(name);
                self.def_names.insert(name.clone(), unique);
            }
        }
        self.titles.reserve(&mut self.names);
    }

    /// Reserves the name for a type of the document. Arguments of a tool, or Rust, may already use it.
    fn def_name(&mut self, name: &str) -> String {
        self.names.take_or(&idents::camel(name), "Data")
    }

    /// Builds the pending types, and returns all types and the reserved names.
    pub(super) fn finish(mut self) -> (Vec<Item>, Names) {
        while let Some((index, def)) = self.pending.pop() {
            let Some(shape) = find_def(self.defs, &def) else { continue };
            let name = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
            let usage = self.usage.get(&def).copied().unwrap_or_default();
            let site = TypeSite::new(&name, String::new(), usage);
            self.owner = Some(index);
            let body = self.body(shape, &site);
            self.set(index, body);
        }
        for index in 0..self.items.len() {
            if depth::is_cyclic_alias(&self.items, index) {
                self.set(index, Body::Alias(Ty::Value));
            }
        }
        (self.items, self.names)
    }

    /// Adds an item whose body is set later.
    fn reserve(&mut self, name: &str, doc: String) -> usize {
        let unique = self.names.take_or(name, "Value");
        let origin = Origin::Location { numbered: unique != name };
        self.add(unique, doc, origin)
    }

    fn add(&mut self, name: String, doc: String, origin: Origin) -> usize {
        self.items.push(Item::new(name, doc, origin, self.owner));
        self.items.len() - 1
    }

    fn set(&mut self, index: usize, body: Body) {
        if let Some(item) = self.items.get_mut(index) {
            item.body = body;
        }
    }

    /// Returns the type of a value, `null` included.
    fn value(&mut self, shape: &Shape, site: &TypeSite) -> Ty {
        let (ty, nullable) = self.split(shape, site);
        if nullable { ty.optional() } else { ty }
    }

    /// Returns the type of a value that is not `null`, and whether `null` is also allowed.
    fn split(&mut self, shape: &Shape, site: &TypeSite) -> (Ty, bool) {
        let (nullable, inner) = without_null(shape);
        let ty = match inner {
            Some(inner) => self.plain(inner, site),
            None => self.plain(shape, site),
        };
        match ty {
            Ty::Option(inner) => (*inner, true),
            other => (other, nullable || shape.nullable),
        }
    }

    fn plain(&mut self, shape: &Shape, site: &TypeSite) -> Ty {
        if site.nesting > MAX_NESTING {
            return Ty::Value;
        }
        match &shape.kind {
            Kind::Boolean => Ty::Bool,
            Kind::Integer(rules) => integer(rules),
            Kind::Number(_) => Ty::Float,
            Kind::String(rules) => self
                .text_types
                .iter()
                .find_map(|text_type| text_type.of(&rules.format))
                .map_or(Ty::Text, Ty::Known),
            Kind::Ref(name) => self.lower_named(name, site),
            Kind::Array(rules) => Ty::Vec(Box::new(self.value(&rules.items, &site.inner("item")))),
            Kind::Tuple(rules) => {
                let count = u64::try_from(rules.items.len()).ok();
                if rules.items.is_empty() || rules.items.len() > 4 || rules.min_items != count {
                    return Ty::Vec(Box::new(Ty::Value));
                }
                let items = rules.items.iter().enumerate();
                Ty::Tuple(
                    items
                        .map(|(index, item)| self.value(item, &site.inner(&format!("item {index}"))))
                        .collect(),
                )
            }
            Kind::Enum(_) => match scalar_type(shape) {
                Some(ty) => ty,
                None => self.inline(shape, site),
            },
            Kind::Object(rules) if rules.fields.is_empty() => self.map(rules, None, site),
            Kind::All(parts) => match raw::describing_part(parts).or_else(|| scalar(self.defs, parts)) {
                Some(Shape { kind: Kind::Object(rules), nullable: false, .. }) if rules.fields.is_empty() => {
                    self.map(rules, raw::key_shape(shape).as_ref(), site)
                }
                Some(only) if !matches!(only.kind, Kind::Object(_)) => self.value(only, site),
                _ => self.inline(shape, site),
            },
            Kind::Object(_) | Kind::Union(_) => self.inline(shape, site),
            Kind::Any | Kind::Never | Kind::Null | Kind::Raw(_) => Ty::Value,
        }
    }

    /// Translates a shape named by the document. Structs, enums and unions have separate items, built later, because
    /// shapes refer to each other in chains of any length.
    fn lower_named(&mut self, name: &str, site: &TypeSite) -> Ty {
        if let Some(index) = self.by_def.get(name) {
            return Ty::Item(*index, Wrap::Plain);
        }
        let Some(shape) = find_def(self.defs, name) else { return Ty::Value };
        if !union::is_nominal(shape) {
            let usage = self.usage.get(name).copied().unwrap_or(site.usage);
            let site = TypeSite { name: idents::camel(name), usage, ..site.inner("") };
            return self.value(shape, &site);
        }
        let doc = first_paragraph(&shape.description);
        let unique = self.def_names.get(name).cloned();
        let unique = unique.unwrap_or_else(|| self.def_name(name));
        let index = self.add(unique, doc, Origin::Document);
        self.by_def.insert(name.to_owned(), index);
        self.pending.push((index, name.to_owned()));
        let ty = Ty::Item(index, Wrap::Plain);
        if shape.nullable || without_null(shape).0 { ty.optional() } else { ty }
    }

    /// Translates an unnamed shape that needs a named type.
    fn inline(&mut self, shape: &Shape, site: &TypeSite) -> Ty {
        let key = match repeats::key(shape) {
            Some(texts) => {
                if let Some(name) = self.repeats.named(&texts) {
                    let ty = self.lower_named(name, site);
                    self.record_use(&ty, site);
                    return ty;
                }
                (texts, Usage::default())
            }
            None => (toolgen_core::schema::shape::render::canonical(shape), site.usage),
        };
        let ty = match self.inline.get(&key) {
            Some(ty) => ty.clone(),
            None => {
                let ty = self.new_inline(shape, site);
                self.inline.insert(key, ty.clone());
                ty
            }
        };
        self.record_use(&ty, site);
        // A list of strings has one type, and a name for each location, so that the contents of other locations do
        // not change the names here.
        if repeats::key(shape).is_some() && self.names.is_free(&site.name) {
            let index = self.reserve(&site.name, site.fallback_doc.clone());
            self.set(index, Body::Alias(ty.clone()));
        }
        ty
    }

    /// Records that an unnamed location of the document has this type.
    fn record_use(&mut self, ty: &Ty, site: &TypeSite) {
        if let Ty::Item(index, _) = ty
            && let Some(item) = self.items.get_mut(*index)
        {
            let TypeSite { name, key, fallback_doc, .. } = site.clone();
            item.uses.push(Use { owner: self.owner, key, name, fallback_doc });
        }
    }

    fn new_inline(&mut self, shape: &Shape, site: &TypeSite) -> Ty {
        let doc = first_paragraph(&shape.description);
        let doc = if doc.is_empty() { site.fallback_doc.clone() } else { doc };
        let short = idents::camel(&site.key);
        let is_repeated = repeats::key(shape).is_some_and(|texts| self.repeats.is_repeated(&texts));
        let index = match self.titles.take(shape) {
            Some(title) => self.add(title, doc, Origin::Title),
            None if is_repeated && self.names.is_free(&short) => self.reserve(&short, doc),
            None => self.reserve(&site.name, doc),
        };
        let name = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
        match self.body(shape, &TypeSite { name, ..site.clone() }) {
            Body::Alias(ty) if index + 1 == self.items.len() => {
                // Nothing refers to the item.
                self.items.pop();
                ty
            }
            Body::Alias(ty) => {
                self.set(index, Body::Alias(ty.clone()));
                ty
            }
            body => {
                self.set(index, body);
                Ty::Item(index, Wrap::Plain)
            }
        }
    }

    fn body(&mut self, shape: &Shape, site: &TypeSite) -> Body {
        match &shape.kind {
            Kind::Enum(values) => union::enumeration(values, &shape.choices),
            Kind::Union(rules) => self.union(rules, site),
            Kind::Object(_) | Kind::All(_) => match object_of(self.defs, shape, 0) {
                Some(rules) if rules.fields.is_empty() => {
                    Body::Alias(self.map(&rules, raw::key_shape(shape).as_ref(), site))
                }
                Some(rules) => Body::Struct(self.structure(&rules, site)),
                None => Body::Alias(self.restricted(shape, site)),
            },
            _ => Body::Alias(self.value(shape, &site.inner("value"))),
        }
    }

    /// Translates a union of at least two shapes other than `null`.
    fn union(&mut self, rules: &UnionRules, site: &TypeSite) -> Body {
        let shapes: Vec<&Shape> =
            rules.variants.iter().filter(|variant| variant.kind != Kind::Null).collect();
        if let [only] = shapes.as_slice() {
            return Body::Alias(self.value(only, site));
        }
        if let Some(body) = union::simple_body(&shapes) {
            return body;
        }
        if shapes.is_empty() {
            return Body::Alias(Ty::Value);
        }
        let choice = union::choice(self.defs, rules, &shapes);
        let mut scope = Names::of_types(&["Other"]);
        let names = variants::names(self.defs, &shapes, &choice);
        let variants = shapes.iter().zip(names).map(|(shape, name)| {
            // A variant without a name that would repeat the name of the union, as in `PetPet`, is called `Base`.
            let base_name = site.name.strip_suffix("Data").filter(|base_name| !base_name.is_empty());
            let is_repetition = base_name
                .into_iter()
                .chain([site.name.as_str()])
                .any(|base_name| name.eq_ignore_ascii_case(base_name));
            let is_base = is_repetition && !matches!(shape.kind, Kind::Ref(_));
            let name = scope.take(if is_base { "Base" } else { &name });
            let doc = first_paragraph(&shape.description);
            let ty = self.value(shape, &site.inner(&name));
            Variant { name, doc, ty }
        });
        let variants = variants.collect();
        Body::Union(Union { variants, choice })
    }

    /// Returns the type of a shape that is not an object. For an `allOf` with only one part that is not a restriction,
    /// this is the type of that part.
    fn restricted(&mut self, shape: &Shape, site: &TypeSite) -> Ty {
        let Kind::All(parts) = &shape.kind else { return Ty::Value };
        match raw::describing_part(parts).or_else(|| scalar(self.defs, parts)) {
            Some(only) if parts.len() > 1 => self.value(only, &site.inner("value")),
            _ => Ty::Value,
        }
    }

    fn map(&mut self, rules: &ObjectRules, keys: Option<&Shape>, site: &TypeSite) -> Ty {
        let value = match (&rules.extra, &*rules.patterns) {
            (Extra::Of(shape), []) => self.value(shape, &site.inner("value")),
            (Extra::Closed, [only]) => self.value(&only.shape, &site.inner("value")),
            _ => Ty::Value,
        };
        let key = keys.map(|keys| self.value(keys, &site.inner("key")));
        let key = key.filter(|key| matches!(key, Ty::Known(_) | Ty::Item(..))).unwrap_or(Ty::Text);
        Ty::Map { key: Box::new(key), value: Box::new(value) }
    }

    fn structure(&mut self, rules: &ObjectRules, site: &TypeSite) -> Struct {
        let mut scope = Names::default();
        let mut body = Struct::default();
        for field in &rules.fields {
            if !site.usage.includes(field.access) {
                continue;
            }
            let key = field.wire_name();
            if let Some(value) = constant(field) {
                body.constants.push((key.to_owned(), value));
                continue;
            }
            let (ty, nullable) = self.split(&field.shape, &site.field(key));
            // A field of one direction is absent in the other.
            let is_one_way = field.access != Access::Both && site.usage.input && site.usage.output;
            let presence = match (field.required && !is_one_way, nullable && ty != Ty::Value) {
                (true, false) => Presence::Required,
                (true, true) => Presence::Nullable,
                (false, false) => Presence::Optional,
                (false, true) => Presence::OptionalNullable,
            };
            let doc = doc::with_rules(first_paragraph(&field.shape.description), &field.shape);
            let name = scope.take_field(key);
            body.fields.push(StructField { name, key: key.to_owned(), doc, presence, ty });
        }
        let extra = match &rules.extra {
            Extra::Of(shape) => Some(self.value(shape, &site.inner("extra"))),
            _ if !rules.patterns.is_empty() => Some(Ty::Value),
            _ => None,
        };
        body.extra = extra.map(|ty| (scope.take("extra"), ty));
        body
    }
}
