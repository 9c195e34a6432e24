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
use super::place::TypeSite;
use super::repeats::{self, Repeats};
use super::scalars::{constant, integer, one_type, type_names};
use super::titles::Titles;
use super::usage::Usage;
use super::{depth, raw, union, variants};

/// The state of the translation.
pub(super) struct Lowering<'a> {
    defs: &'a List<Def>,
    usage: &'a BTreeMap<String, Usage>,
    repeats: &'a Repeats,
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
    open: Vec<(usize, String)>,
    /// The types of unnamed shapes, by their text and usage: documents repeat themselves, and an `allOf` repeats its
    /// parts.
    inline: BTreeMap<(String, Usage), Ty>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        defs: &'a List<Def>,
        usage: &'a BTreeMap<String, Usage>,
        repeats: &'a Repeats,
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
            open: Vec::new(),
            inline: BTreeMap::new(),
        }
    }

    /// Reserves a name that no type may have: that of the trait of functions, which is next to the types.
    pub(super) fn take(&mut self, name: &str) {
        self.names.take(name);
    }

    /// Reserves the name of a tool's argument struct. It is called for all tools before any other type is named, so
    /// that the names used most in Rust code do not depend on the schemas of the document.
    pub(super) fn reserve_input(&mut self, wanted: &TypeRequest<'_>) -> usize {
        let text = &wanted.spec.description;
        // Without a description, the document has the operation here.
        let mut doc = if **text == *wanted.operation { String::new() } else { first_paragraph(text) };
        if !doc.is_empty() {
            doc.push_str("\n\n");
        }
        doc += &format!("Arguments of [`{0}`](super::{0}): `{1}`.", wanted.ident, wanted.operation);
        let name = self.names.take_or(&idents::camel(wanted.spec.name.as_str()), "Call");
        self.add(name, doc, Origin::Tool)
    }

    /// Reserves the names of the document's named types, before names are made for the others.
    pub(super) fn reserve_names(&mut self) {
        for name in self.usage.keys() {
            if find_def(self.defs, name).is_some_and(union::is_nominal) {
                let taken = self.def_name(name);
                self.def_names.insert(name.clone(), taken);
            }
        }
        self.titles.reserve(&mut self.names);
    }

    /// Reserves the name for a type of the document. Arguments of a tool, or Rust, may already use it.
    fn def_name(&mut self, name: &str) -> String {
        self.names.take_or(&idents::camel(name), "Data")
    }

    /// Builds the types that were only named so far, and returns all types, with the names that are taken.
    pub(super) fn finish(mut self) -> (Vec<Item>, Names) {
        while let Some((index, def)) = self.open.pop() {
            let Some(shape) = find_def(self.defs, &def) else { continue };
            let name = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
            let usage = self.usage.get(&def).copied().unwrap_or_default();
            let place = TypeSite::new(&name, String::new(), usage);
            self.owner = Some(index);
            let body = self.body(shape, &place);
            self.set(index, body);
        }
        for index in 0..self.items.len() {
            if depth::alias_leads_to(&self.items, index) {
                self.set(index, Body::Alias(Ty::Value));
            }
        }
        (self.items, self.names)
    }

    /// Adds an item whose body is set later.
    fn reserve(&mut self, name: &str, doc: String) -> usize {
        let taken = self.names.take_or(name, "Value");
        let origin = Origin::Place { numbered: taken != name };
        self.add(taken, doc, origin)
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
    fn value(&mut self, shape: &Shape, place: &TypeSite) -> Ty {
        let (ty, nullable) = self.split(shape, place);
        if nullable { ty.optional() } else { ty }
    }

    /// Returns the type of a value that is not `null`, and whether `null` is also allowed.
    fn split(&mut self, shape: &Shape, place: &TypeSite) -> (Ty, bool) {
        let (nullable, rest) = without_null(shape);
        let ty = match rest {
            Some(only) => self.plain(only, place),
            None => self.plain(shape, place),
        };
        match ty {
            Ty::Option(inner) => (*inner, true),
            other => (other, nullable || shape.nullable),
        }
    }

    fn plain(&mut self, shape: &Shape, place: &TypeSite) -> Ty {
        if place.nesting > MAX_NESTING {
            return Ty::Value;
        }
        match &shape.kind {
            Kind::Boolean => Ty::Bool,
            Kind::Integer(rules) => integer(rules),
            Kind::Number(_) => Ty::Float,
            Kind::String(rules) => {
                self.text_types.iter().find_map(|of| of.of(&rules.format)).map_or(Ty::Text, Ty::Known)
            }
            Kind::Ref(name) => self.lower_named(name, place),
            Kind::Array(rules) => Ty::Vec(Box::new(self.value(&rules.items, &place.inner("item")))),
            Kind::Tuple(rules) => {
                let whole = u64::try_from(rules.items.len()).ok();
                if rules.items.is_empty() || rules.items.len() > 4 || rules.min_items != whole {
                    return Ty::Vec(Box::new(Ty::Value));
                }
                let items = rules.items.iter().enumerate();
                Ty::Tuple(
                    items.map(|(at, item)| self.value(item, &place.inner(&format!("item {at}")))).collect(),
                )
            }
            Kind::Enum(_) => match one_type(shape) {
                Some(ty) => ty,
                None => self.inline(shape, place),
            },
            Kind::Object(rules) if rules.fields.is_empty() => self.map(rules, None, place),
            Kind::All(parts) => match raw::described(parts).or_else(|| scalar(self.defs, parts)) {
                Some(Shape { kind: Kind::Object(rules), nullable: false, .. }) if rules.fields.is_empty() => {
                    self.map(rules, raw::keys(shape).as_ref(), place)
                }
                Some(only) if !matches!(only.kind, Kind::Object(_)) => self.value(only, place),
                _ => self.inline(shape, place),
            },
            Kind::Object(_) | Kind::Union(_) => self.inline(shape, place),
            Kind::Any | Kind::Never | Kind::Null | Kind::Raw(_) => Ty::Value,
        }
    }

    /// Translates a shape named by the document. Structs, enums and unions have separate items, built later, because
    /// shapes refer to each other in chains of any length.
    fn lower_named(&mut self, name: &str, place: &TypeSite) -> Ty {
        if let Some(index) = self.by_def.get(name) {
            return Ty::Item(*index, Wrap::Plain);
        }
        let Some(shape) = find_def(self.defs, name) else { return Ty::Value };
        if !union::is_nominal(shape) {
            let usage = self.usage.get(name).copied().unwrap_or(place.usage);
            let place = TypeSite { name: idents::camel(name), usage, ..place.inner("") };
            return self.value(shape, &place);
        }
        let doc = first_paragraph(&shape.description);
        let taken = self.def_names.get(name).cloned();
        let taken = taken.unwrap_or_else(|| self.def_name(name));
        let index = self.add(taken, doc, Origin::Document);
        self.by_def.insert(name.to_owned(), index);
        self.open.push((index, name.to_owned()));
        let ty = Ty::Item(index, Wrap::Plain);
        if shape.nullable || without_null(shape).0 { ty.optional() } else { ty }
    }

    /// Translates an unnamed shape that needs a named type.
    fn inline(&mut self, shape: &Shape, place: &TypeSite) -> Ty {
        let key = match repeats::key(shape) {
            Some(texts) => {
                if let Some(name) = self.repeats.named(&texts) {
                    let ty = self.lower_named(name, place);
                    self.used(&ty, place);
                    return ty;
                }
                (texts, Usage::default())
            }
            None => (toolgen_core::schema::shape::render::canonical(shape), place.usage),
        };
        let ty = match self.inline.get(&key) {
            Some(ty) => ty.clone(),
            None => {
                let ty = self.new_inline(shape, place);
                self.inline.insert(key, ty.clone());
                ty
            }
        };
        self.used(&ty, place);
        // A list of strings has one type, and a name for each location, so that the contents of other locations do
        // not change the names here.
        if repeats::key(shape).is_some() && self.names.is_free(&place.name) {
            let index = self.reserve(&place.name, place.what.clone());
            self.set(index, Body::Alias(ty.clone()));
        }
        ty
    }

    /// Records that an unnamed location of the document has a type.
    fn used(&mut self, ty: &Ty, place: &TypeSite) {
        if let Ty::Item(index, _) = ty
            && let Some(item) = self.items.get_mut(*index)
        {
            let TypeSite { name, key, what, .. } = place.clone();
            item.uses.push(Use { owner: self.owner, key, name, what });
        }
    }

    fn new_inline(&mut self, shape: &Shape, place: &TypeSite) -> Ty {
        let doc = first_paragraph(&shape.description);
        let doc = if doc.is_empty() { place.what.clone() } else { doc };
        let short = idents::camel(&place.key);
        let is_repeated = repeats::key(shape).is_some_and(|texts| self.repeats.is_repeated(&texts));
        let index = match self.titles.take(shape) {
            Some(title) => self.add(title, doc, Origin::Title),
            None if is_repeated && self.names.is_free(&short) => self.reserve(&short, doc),
            None => self.reserve(&place.name, doc),
        };
        let name = self.items.get(index).map_or_else(String::new, |item| item.name.clone());
        match self.body(shape, &TypeSite { name, ..place.clone() }) {
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

    fn body(&mut self, shape: &Shape, place: &TypeSite) -> Body {
        match &shape.kind {
            Kind::Enum(values) => union::enumeration(values, &shape.choices),
            Kind::Union(rules) => self.union(rules, place),
            Kind::Object(_) | Kind::All(_) => match object_of(self.defs, shape, 0) {
                Some(rules) if rules.fields.is_empty() => {
                    Body::Alias(self.map(&rules, raw::keys(shape).as_ref(), place))
                }
                Some(rules) => Body::Struct(self.structure(&rules, place)),
                None => Body::Alias(self.restricted(shape, place)),
            },
            _ => Body::Alias(self.value(shape, &place.inner("value"))),
        }
    }

    /// Translates a union of at least two shapes other than `null`.
    fn union(&mut self, rules: &UnionRules, place: &TypeSite) -> Body {
        let shapes: Vec<&Shape> =
            rules.variants.iter().filter(|variant| variant.kind != Kind::Null).collect();
        if let [only] = shapes.as_slice() {
            return Body::Alias(self.value(only, place));
        }
        if let Some(body) = union::simple(&shapes) {
            return body;
        }
        if shapes.is_empty() {
            return Body::Alias(Ty::Value);
        }
        let choice = union::choice(self.defs, rules, &shapes);
        let mut scope = Names::of_types(&["Other"]);
        let names = variants::names(self.defs, &shapes, &choice);
        let variants = shapes.iter().zip(names).map(|(shape, name)| {
            // A name that all variants share and that the document gives to the union itself does not become
            // `PetPet`.
            let own = place.name.strip_suffix("Data").filter(|own| !own.is_empty());
            let is_own =
                own.into_iter().chain([place.name.as_str()]).any(|own| name.eq_ignore_ascii_case(own));
            let is_base = is_own && !matches!(shape.kind, Kind::Ref(_));
            let name = scope.take(if is_base { "Base" } else { &name });
            let doc = first_paragraph(&shape.description);
            let ty = self.value(shape, &place.inner(&name));
            Variant { name, doc, ty }
        });
        let variants = variants.collect();
        Body::Union(Union { variants, choice })
    }

    /// Returns the type of a shape that is not an object. In an `allOf` with only one part that is not a restriction,
    /// this is the type of that part.
    fn restricted(&mut self, shape: &Shape, place: &TypeSite) -> Ty {
        let Kind::All(parts) = &shape.kind else { return Ty::Value };
        match raw::described(parts).or_else(|| scalar(self.defs, parts)) {
            Some(only) if parts.len() > 1 => self.value(only, &place.inner("value")),
            _ => Ty::Value,
        }
    }

    fn map(&mut self, rules: &ObjectRules, keys: Option<&Shape>, place: &TypeSite) -> Ty {
        let of = match (&rules.extra, &*rules.patterns) {
            (Extra::Of(shape), []) => self.value(shape, &place.inner("value")),
            (Extra::Closed, [only]) => self.value(&only.shape, &place.inner("value")),
            _ => Ty::Value,
        };
        let key = keys.map(|keys| self.value(keys, &place.inner("key")));
        let key = key.filter(|key| matches!(key, Ty::Known(_) | Ty::Item(..))).unwrap_or(Ty::Text);
        Ty::Map { key: Box::new(key), value: Box::new(of) }
    }

    fn structure(&mut self, rules: &ObjectRules, place: &TypeSite) -> Struct {
        let mut scope = Names::default();
        let mut body = Struct::default();
        for field in &rules.fields {
            if !place.usage.has(field.access) {
                continue;
            }
            let key = field.wire_name();
            if let Some(value) = constant(field) {
                body.constants.push((key.to_owned(), value));
                continue;
            }
            let (ty, nullable) = self.split(&field.shape, &place.field(key));
            // A field of one direction is absent in the other.
            let one_way = field.access != Access::Both && place.usage.input && place.usage.output;
            let presence = match (field.required && !one_way, nullable && ty != Ty::Value) {
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
            Extra::Of(shape) => Some(self.value(shape, &place.inner("extra"))),
            _ if !rules.patterns.is_empty() => Some(Ty::Value),
            _ => None,
        };
        body.extra = extra.map(|ty| (scope.take("extra"), ty));
        body
    }
}
