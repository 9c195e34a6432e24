//! The form in which a model writes the values of a shape, in dialects that cannot express the shape directly.
//!
//! Not every dialect has maps, tuples, untyped values, recursion or arbitrary keys. A value that the dialect cannot
//! express is written in another form: a map as an array of key-value pairs, a tuple as an object with a field for
//! each position, a key under another name, and everything else as JSON text. Only [`Codec::form`] decides the form;
//! rendering, encoding and decoding call it. The decision is not stored.

mod ambiguous_unions;
pub(super) mod encode;
pub(super) mod read;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};

use super::render::merge::Merger;
use super::{
    Access, ArrayRules, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, StringRules, TupleRules,
    UnionMode, UnionRules, condition_messages, find_def, prose,
};
use crate::base::frozen::List;
use crate::schema::dialect::{Dialect, KeyRule};

/// The only argument of a tool whose arguments have no names.
pub(super) const ROOT_KEY: &str = "arguments";
/// The field with the pairs of an object that also has fields.
const EXTRA_PAIRS_KEY: &str = "additional_properties";
/// The fields of a pair.
pub(super) const KEY: &str = "key";
pub(super) const VALUE: &str = "value";
/// The field with the items after the fixed positions of a tuple.
const REST_ITEMS_KEY: &str = "more_items";

/// The form in which a value is written.
#[derive(Debug)]
pub(super) enum Form {
    /// Unchanged.
    Plain,
    /// As JSON text.
    Text,
    /// As an array of pairs of a key and a value of this shape.
    Pairs(Shape),
    /// As an object with these fields, one for each position of an array.
    Positions(Vec<Field>),
    /// As a value of this shape, which allows the same values. The number counts the schemas whose rules were lost.
    Substitute(Shape, usize),
}

/// The named shapes around a location, the innermost last.
pub(super) type EnclosingDefs = Vec<String>;

/// A member of an object as it is written.
pub(super) struct Member<'s> {
    /// The key.
    pub(super) key: Cow<'s, str>,
    /// Whether the key is always present.
    pub(super) required: bool,
    pub(super) kind: MemberKind<'s>,
}

/// The meaning of a member.
pub(super) enum MemberKind<'s> {
    /// A field.
    Field(&'s Field),
    /// All other keys, as pairs with values of this shape.
    Others(Box<Shape>),
}

/// Decides the forms of values.
pub(super) struct Codec<'a> {
    pub(super) defs: &'a List<Def>,
    pub(super) dialect: &'a Dialect,
    /// Fields with this access are ignored.
    pub(super) hidden: Access,
    /// The named shapes that each named shape reaches.
    reachable: OnceCell<BTreeMap<&'a str, BTreeSet<&'a str>>>,
    /// The remaining comparisons of shapes for [`Codec::is_ambiguous`].
    remaining_comparisons: Cell<usize>,
    /// The number of pairs of shapes that were merged.
    pairs: Cell<usize>,
}

impl<'a> Codec<'a> {
    pub(super) fn new(defs: &'a List<Def>, dialect: &'a Dialect, hidden: Access) -> Codec<'a> {
        Codec {
            defs,
            dialect,
            hidden,
            reachable: OnceCell::new(),
            remaining_comparisons: Cell::new(0),
            pairs: Cell::new(0),
        }
    }

    /// Returns the form in which values of a shape are written at a location.
    pub(super) fn form(&self, shape: &Shape, enclosing: &[String]) -> Form {
        match &shape.kind {
            Kind::Any | Kind::Raw(_) if self.writes_untyped_as_text() => Form::Text,
            Kind::Enum(values) if self.writes_untyped_as_text() && values.iter().any(is_composite) => {
                Form::Text
            }
            Kind::Ref(name) if self.is_cut(name, enclosing) => Form::Text,
            Kind::Object(rules) => self.object_form(rules),
            Kind::Tuple(rules) if !self.dialect.open_objects && !self.dialect.accepts("prefixItems") => {
                match tuple_form(rules) {
                    Form::Substitute(array, lost) => {
                        Form::Substitute(with_annotations_of(&array, shape), lost)
                    }
                    Form::Positions(fields) if fields.iter().all(|field| !self.is_rendered(field)) => {
                        Form::Substitute(with_annotations_of(&empty_array(), shape), 0)
                    }
                    form => form,
                }
            }
            Kind::All(parts) if !self.dialect.accepts("allOf") => match self.merge_parts(parts) {
                Some((merged, lost)) => Form::Substitute(with_annotations_of(&merged, shape), lost),
                None => Form::Text,
            },
            Kind::Union(rules) if self.writes_untyped_as_text() && self.is_ambiguous(rules) => Form::Text,
            _ => Form::Plain,
        }
    }

    /// Whether untyped values are written as JSON text.
    fn writes_untyped_as_text(&self) -> bool {
        !self.dialect.untyped || !self.dialect.empty_objects
    }

    fn object_form(&self, rules: &ObjectRules) -> Form {
        let (allows_empty, allows_open) = (self.dialect.empty_objects, self.dialect.open_objects);
        if (allows_empty && allows_open) || !self.has_no_field(rules) {
            return Form::Plain;
        }
        let is_closed = rules.extra == Extra::Closed && rules.patterns.is_empty();
        match extra_value_shape(rules) {
            _ if allows_open => Form::Text,
            Some(value) if !matches!(value.kind, Kind::Any | Kind::Raw(_)) => Form::Pairs(value),
            None if is_closed && allows_empty => Form::Plain,
            _ => Form::Text,
        }
    }

    /// Whether an object has no rendered field.
    fn has_no_field(&self, rules: &ObjectRules) -> bool {
        rules.fields.iter().all(|field| !self.is_rendered(field))
    }

    /// Whether a field is rendered. A field that must be absent has no schema in a dialect without `not`.
    fn is_rendered(&self, field: &Field) -> bool {
        let is_never = |target: &Shape| target.kind == Kind::Never && !target.nullable;
        let must_be_absent = !field.required
            && !field.shape.nullable
            && !self.dialect.accepts("not")
            && super::resolved(&field.shape, self.defs).is_some_and(is_never);
        field.access != self.hidden && !must_be_absent
    }

    /// Returns the members of an object as they are written.
    pub(super) fn members<'s>(&self, rules: &'s ObjectRules) -> Vec<Member<'s>> {
        let fields: Vec<&Field> = rules.fields.iter().filter(|field| self.is_rendered(field)).collect();
        let keys = written_keys(&fields, self.dialect.keys);
        let member = |(field, key): (&&'s Field, Cow<'s, str>)| Member {
            key,
            required: field.required,
            kind: MemberKind::Field(field),
        };
        let mut members: Vec<Member<'s>> = fields.iter().zip(keys).map(member).collect();
        if !self.dialect.open_objects
            && !members.is_empty()
            && let Some(value) = extra_value_shape(rules)
        {
            let mut key = EXTRA_PAIRS_KEY.to_owned();
            while members.iter().any(|member| member.key == key) {
                key.push('_');
            }
            members.push(Member {
                key: key.into(),
                required: false,
                kind: MemberKind::Others(Box::new(value)),
            });
        }
        members
    }

    /// Returns the named shape. A name without a definition allows any value.
    pub(super) fn target(&self, name: &str) -> &'a Shape {
        find_def(self.defs, name).unwrap_or(&Shape::ANY)
    }

    /// Whether the named shape is written as JSON text at a location, because it would contain itself.
    fn is_cut(&self, name: &str, enclosing: &[String]) -> bool {
        if !self.dialect.accepts("$ref") {
            return enclosing.iter().any(|enclosing_name| enclosing_name == name);
        }
        let Some(innermost) = enclosing.last().filter(|_| !self.dialect.recursion) else { return false };
        let reachable = self.reachable.get_or_init(|| reachable_names(self.defs));
        name == innermost || reachable.get(name).is_some_and(|names| names.contains(innermost.as_str()))
    }

    /// Enters a named shape.
    pub(super) fn enter_def(&self, name: &str, enclosing: &[String]) -> EnclosingDefs {
        let mut names = if self.dialect.accepts("$ref") { Vec::new() } else { enclosing.to_vec() };
        names.push(name.to_owned());
        names
    }

    /// Returns one shape for the values that match all parts, if it exists and no rule is left over.
    fn merge_parts(&self, parts: &[Shape]) -> Option<(Shape, usize)> {
        let mut merger = Merger::new(self.defs, self.hidden);
        let merged = merger.merge_all(parts, 0);
        self.pairs.update(|pairs| pairs.saturating_add(merger.pairs()));
        self.remaining_comparisons.update(|remaining| remaining.saturating_sub(merger.pairs()));
        let mut merged = merged?;
        if !merger.raw.is_empty() {
            let notes: Vec<String> = merger.raw.iter().map(|text| raw_note(text)).collect();
            merged.description = prose::describe(&merged.description, &notes).into();
        }
        Some((merged, merger.raw.len()))
    }

    /// Whether all arguments are written as one argument.
    pub(super) fn is_single_argument(&self, shape: &Shape) -> bool {
        let Some(shape) = super::resolved(shape, self.defs) else { return false };
        let is_strict = !self.dialect.open_objects;
        match &shape.kind {
            Kind::Object(rules) => match self.object_form(rules) {
                Form::Text => !is_strict && (rules.extra != Extra::Closed || !rules.patterns.is_empty()),
                Form::Pairs(_) => true,
                _ => false,
            },
            Kind::All(parts) if is_strict => {
                self.merge_parts(parts).is_none_or(|(merged, _)| self.is_single_argument(&merged))
            }
            Kind::Union(_) => is_strict,
            _ => false,
        }
    }
}

/// Describes a schema that the dialect cannot express.
pub(super) fn raw_note(text: &str) -> String {
    condition_messages::describe_rules(text)
}

/// Returns a shape with the annotations of the shape that it replaces.
pub(super) fn with_annotations_of(inner: &Shape, outer: &Shape) -> Shape {
    let nullable = inner.nullable || outer.nullable;
    let mut shape = Shape { kind: inner.kind.clone(), nullable, ..outer.clone() };
    shape.adopt(inner);
    shape
}

fn is_composite(value: &Literal) -> bool {
    matches!(value, Literal::Json(_))
}

/// Returns the shape of the values of additional keys, if they are allowed and their shape is known.
fn extra_value_shape(rules: &ObjectRules) -> Option<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    let extra = if let Extra::Of(shape) = &rules.extra { Some(&**shape) } else { None };
    for shape in rules.patterns.iter().map(|pattern| &pattern.shape).chain(extra) {
        if shape.kind != Kind::Never && !shapes.contains(shape) {
            shapes.push(shape.clone());
        }
    }
    match shapes.len() {
        0 => None,
        1 => shapes.pop(),
        _ => {
            let rules = UnionRules { mode: UnionMode::Any, variants: shapes.into(), discriminator: None };
            Some(Shape::of(Kind::Union(rules)))
        }
    }
}

/// Returns the array of pairs that represents a map.
pub(super) fn pairs(rules: &ObjectRules, value: Shape) -> Shape {
    let key = match (&*rules.patterns, &rules.extra) {
        ([only], Extra::Closed) => StringRules { pattern: only.pattern.clone(), ..StringRules::ANY },
        _ => StringRules::ANY,
    };
    let field = |name: &'static str, shape: Shape| Field { name: name.into(), shape, ..Field::REQUIRED };
    let pair = ObjectRules {
        fields: vec![field(KEY, Shape::of(Kind::String(key))), field(VALUE, value)].into(),
        extra: Extra::Closed,
        ..ObjectRules::ANY
    };
    let has_fields = !rules.fields.is_empty();
    Shape::of(Kind::Array(ArrayRules {
        items: Shape::of(Kind::Object(pair)).into(),
        min_items: rules.min_properties.filter(|_| !has_fields),
        max_items: rules.max_properties.filter(|_| !has_fields),
        unique: false,
    }))
}

fn empty_array() -> Shape {
    Shape::of(Kind::Array(ArrayRules { max_items: Some(0), ..ArrayRules::ANY }))
}

/// Returns the form of a tuple: an object, or an array if no position has its own shape.
fn tuple_form(rules: &TupleRules) -> Form {
    let min_items = usize::try_from(rules.min_items.unwrap_or(0)).unwrap_or(usize::MAX);
    let rest_array = |items: &Shape| {
        let (min_items, max_items) = (rules.min_items, rules.max_items);
        let after_positions = |limit: Option<u64>| {
            limit.map(|limit| limit.saturating_sub(u64::try_from(rules.items.len()).unwrap_or(u64::MAX)))
        };
        Shape::of(Kind::Array(ArrayRules {
            items: items.clone().into(),
            min_items: after_positions(min_items).filter(|limit| *limit > 0),
            max_items: after_positions(max_items),
            unique: false,
        }))
    };
    let rest_shape = match &rules.rest {
        Extra::Of(shape) => Some(rest_array(shape)),
        Extra::Open if rules.items.is_empty() => Some(rest_array(&Shape::ANY)),
        _ => None,
    };
    if rules.items.is_empty() {
        return Form::Substitute(rest_shape.unwrap_or_else(empty_array), 0);
    }
    let position_field = |(index, shape): (usize, &Shape)| Field {
        name: format!("item_{}", index + 1).into(),
        required: index < min_items,
        shape: shape.clone(),
        ..Field::OPTIONAL
    };
    let mut fields: Vec<Field> = rules.items.iter().enumerate().map(position_field).collect();
    if let Some(shape) = rest_shape {
        fields.push(Field { name: REST_ITEMS_KEY.into(), shape, ..Field::OPTIONAL });
    }
    Form::Positions(fields)
}

/// Returns the keys of fields as they are written, without duplicates. A key that the dialect accepts is unchanged.
fn written_keys<'s>(fields: &[&'s Field], rule: KeyRule) -> Vec<Cow<'s, str>> {
    let KeyRule::Ascii { also, starts_with_letter, length } = rule else {
        return fields.iter().map(|field| Cow::Borrowed(field.name.as_str())).collect();
    };
    let mut keys: Vec<Cow<'s, str>> = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.name.as_str();
        if rule.accepts(name) {
            keys.push(name.into());
            continue;
        }
        let allowed_char = |c: char| if c.is_ascii_alphanumeric() || also.contains(c) { c } else { '_' };
        let mut base: String = name.chars().map(allowed_char).collect();
        let trimmed = base.trim_matches('_');
        base = if trimmed.is_empty() { String::from("field") } else { trimmed.to_owned() };
        if starts_with_letter && !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            base.insert(0, '_');
        }
        let is_used =
            |key: &str| fields.iter().any(|field| field.name == *key) || keys.iter().any(|used| used == key);
        let mut key: String = base.chars().take(length).collect();
        let mut number = 1;
        while is_used(&key) {
            number += 1;
            let suffix = format!("_{number}");
            key = base.chars().take(length.saturating_sub(suffix.len())).chain(suffix.chars()).collect();
        }
        keys.push(key.into());
    }
    keys
}

/// Returns the names of the shapes that each named shape reaches, directly or indirectly.
fn reachable_names(defs: &List<Def>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for def in defs {
        collect_references(def.schema.shape(), direct.entry(def.name.as_str()).or_default());
    }
    let reachable_from = |start: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut pending: Vec<&str> = direct.get(start).into_iter().flatten().copied().collect();
        while let Some(name) = pending.pop() {
            if seen.insert(name) {
                pending.extend(direct.get(name).into_iter().flatten().copied());
            }
        }
        seen
    };
    direct.keys().map(|name| (*name, reachable_from(name))).collect()
}

/// Collects the names that a shape refers to.
fn collect_references<'s>(shape: &'s Shape, names: &mut BTreeSet<&'s str>) {
    let extra_shape = |extra: &'s Extra| if let Extra::Of(shape) = extra { Some(&**shape) } else { None };
    match &shape.kind {
        Kind::Ref(name) => {
            names.insert(name);
        }
        Kind::Array(rules) => collect_references(&rules.items, names),
        Kind::Tuple(rules) => {
            rules
                .items
                .iter()
                .chain(extra_shape(&rules.rest))
                .for_each(|shape| collect_references(shape, names));
        }
        Kind::Object(rules) => {
            let fields = rules.fields.iter().map(|field| &field.shape);
            let patterns = rules.patterns.iter().map(|pattern| &pattern.shape);
            fields
                .chain(patterns)
                .chain(extra_shape(&rules.extra))
                .for_each(|shape| collect_references(shape, names));
        }
        Kind::Union(rules) => rules.variants.iter().for_each(|shape| collect_references(shape, names)),
        Kind::All(parts) => parts.iter().for_each(|shape| collect_references(shape, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
