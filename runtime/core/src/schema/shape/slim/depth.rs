//! Replaces deep parts by an object, or by any value, whose description lists the fields.

use std::collections::BTreeSet;

use super::{Slimmer, TrimKind};
use crate::base::frozen::List;
use crate::base::truncate::cut;
use crate::schema::shape::{
    Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, UnionRules, find_def, prose, resolved,
};

/// Maximum length of an outline, in characters.
const MAX_OUTLINE: usize = 240;
/// Maximum number of levels of arrays and variants in an outline.
const MAX_LEVELS: usize = 4;
/// The outline of a value that has no other.
const ANY: &str = "any value";
/// Maximum number of references that are followed to find out what a shape accepts.
const MAX_FOLLOWED: usize = 16;

impl Slimmer<'_> {
    /// Returns a shape that accepts everything that a deep one accepts; its description is the outline of the deep
    /// one.
    pub(super) fn outlined(&mut self, shape: &Shape) -> Shape {
        let object = is_object(shape, self.defs, 0);
        let outline = cut(&outline(shape, self.defs, 0), MAX_OUTLINE);
        self.trim(TrimKind::Depth, format!("cut here: {outline}"));
        Shape {
            kind: if object { Kind::Object(ObjectRules::ANY) } else { Kind::Any },
            nullable: object && takes_null(shape, self.defs, 0),
            description: outline.into(),
            ..shape.clone()
        }
    }
}

/// Whether a shape itself is never cut, only its parts.
pub(super) fn is_whole(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Array(_) | Kind::Tuple(_))
}

/// Returns the outline of a shape that contains an object with fields; `None` for any other shape, and if the outline
/// would be empty.
#[must_use]
pub fn outline_within(shape: &Shape, defs: &List<Def>) -> Option<String> {
    is_deep(shape, defs, &mut BTreeSet::new()).then(|| outline_of_deep(shape, defs))?
}

/// Like [`outline_within`], for a shape that contains an object with fields.
fn outline_of_deep(shape: &Shape, defs: &List<Def>) -> Option<String> {
    Some(cut(&outline(shape, defs, 0), MAX_OUTLINE)).filter(|outline| outline != ANY)
}

/// Returns the outline of fields that are not shown in full.
pub(super) fn outline_of(fields: &[&Field], defs: &List<Def>) -> String {
    let fields = fields.iter().copied().cloned().collect();
    let shape = Shape::of(Kind::Object(ObjectRules { fields, ..ObjectRules::ANY }));
    cut(&outline(&shape, defs, 0), MAX_OUTLINE)
}

/// Adds the discriminating property to variants that were cut: without it, a call is rejected.
pub(super) fn tag(rules: &mut UnionRules, given: &Kind, defs: &List<Def>) {
    let (Some(by), Kind::Union(given)) = (&rules.discriminator, given) else { return };
    let tagged = |(cut, given): (&Shape, &Shape)| {
        let (Kind::Ref(name), Kind::Object(_)) = (&given.kind, &cut.kind) else { return cut.clone() };
        let Some(Kind::Object(target)) = resolved(given, defs).map(|target| &target.kind) else {
            return cut.clone();
        };
        let is_default = by.default_variant.as_ref().is_some_and(|by_default| by_default == name);
        let field = target.fields.iter().find(|field| field.wire_name() == by.property.as_str());
        let Some(field) = field.filter(|_| !is_default) else { return cut.clone() };
        let mapped = by.mapping.iter().filter(|(_, to)| to == name).map(|(tag, _)| tag);
        let mut tags: Vec<Literal> = mapped.map(|tag| Literal::String(tag.clone())).collect();
        if matches!(field.shape.kind, Kind::Enum(_)) {
            tags.clear();
        } else if tags.is_empty() {
            tags.push(Literal::String(name.clone()));
        }
        let kind = if tags.is_empty() { field.shape.kind.clone() } else { Kind::Enum(tags.into()) };
        let field = Field { shape: Shape::of(kind), required: true, ..field.clone() };
        let kind = Kind::Object(ObjectRules { fields: vec![field].into(), ..ObjectRules::ANY });
        Shape { kind, ..cut.clone() }
    };
    rules.variants = rules.variants.iter().zip(given.variants.iter()).map(tagged).collect();
}

/// Returns a description with an outline.
pub(super) fn with_outline(description: &str, outline: &str) -> String {
    let outline = (!outline.is_empty()).then(|| outline.to_owned());
    prose::describe(description, outline.as_slice())
}

/// Whether a shape contains an object with fields.
pub(super) fn is_deep<'a>(shape: &'a Shape, defs: &'a List<Def>, seen: &mut BTreeSet<&'a str>) -> bool {
    match &shape.kind {
        Kind::Array(rules) => is_deep(&rules.items, defs, seen),
        Kind::Tuple(rules) => {
            let rest = matches!(&rules.rest, Extra::Of(shape) if is_deep(shape, defs, seen));
            rest || rules.items.iter().any(|item| is_deep(item, defs, seen))
        }
        Kind::Object(rules) => {
            !rules.fields.is_empty() || !rules.patterns.is_empty() || matches!(rules.extra, Extra::Of(_))
        }
        Kind::Union(rules) => rules.variants.iter().any(|variant| is_deep(variant, defs, seen)),
        Kind::All(parts) => parts.iter().any(|part| is_deep(part, defs, seen)),
        Kind::Ref(name) => {
            seen.insert(name) && find_def(defs, name).is_some_and(|shape| is_deep(shape, defs, seen))
        }
        Kind::Raw(_) => true,
        _ => false,
    }
}

/// Whether a shape accepts only objects, and `null` if it is nullable.
fn is_object(shape: &Shape, defs: &List<Def>, followed: usize) -> bool {
    let is = |shape: &Shape| followed < MAX_FOLLOWED && is_object(shape, defs, followed + 1);
    match &shape.kind {
        Kind::Object(_) => true,
        Kind::Union(rules) => {
            let is_variant = |variant: &Shape| variant.kind == Kind::Null || is(variant);
            rules.variants.iter().all(is_variant) && rules.variants.iter().any(is)
        }
        Kind::All(parts) => parts.iter().any(is),
        Kind::Ref(name) => find_def(defs, name).is_some_and(is),
        _ => false,
    }
}

/// Whether a shape may accept `null`.
fn takes_null(shape: &Shape, defs: &List<Def>, followed: usize) -> bool {
    let takes = |shape: &Shape| followed >= MAX_FOLLOWED || takes_null(shape, defs, followed + 1);
    shape.nullable
        || match &shape.kind {
            Kind::Null | Kind::Any | Kind::Raw(_) => true,
            Kind::Union(rules) => rules.variants.iter().any(takes),
            Kind::All(parts) => parts.iter().any(takes),
            Kind::Ref(name) => find_def(defs, name).is_some_and(takes),
            _ => false,
        }
}

/// Returns the fields of an object in compact notation: `{id: integer, tags?: string[]}`.
fn outline(shape: &Shape, defs: &List<Def>, level: usize) -> String {
    let Some(target) = resolved(shape, defs).filter(|_| level < MAX_LEVELS) else {
        return ANY.to_owned();
    };
    let named = |shape: &Shape| outline(shape, defs, level + 1);
    match &target.kind {
        Kind::Object(_) if level > 1 => "object".to_owned(),
        Kind::Object(rules) => {
            let mut visible: Vec<&Field> =
                rules.fields.iter().filter(|field| field.access != Access::ReadOnly).collect();
            visible.sort_by_key(|field| !field.required);
            let outline_field = |field: &&Field| {
                let mark = if field.required { "" } else { "?" };
                format!("{}{mark}: {}", field.name, named(&field.shape))
            };
            let mut lines: Vec<String> = visible.iter().map(outline_field).collect();
            if let Extra::Of(shape) = &rules.extra {
                lines.push(format!("[key]: {}", named(shape)));
            }
            if lines.is_empty() { "object".to_owned() } else { format!("{{{}}}", lines.join(", ")) }
        }
        Kind::Array(rules) => match named(&rules.items) {
            items if items == ANY => "array".to_owned(),
            items if items.contains(' ') && is_choice(&rules.items, defs) => format!("({items})[]"),
            items => format!("{items}[]"),
        },
        Kind::Tuple(_) => "array".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Integer(_) => "integer".to_owned(),
        Kind::Number(_) => "number".to_owned(),
        Kind::String(_) => "string".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::Enum(values) => {
            let listed_values: Vec<String> = values.iter().take(6).map(prose::value).collect();
            let more = if values.len() > listed_values.len() { " | …" } else { "" };
            format!("{}{more}", listed_values.join(" | "))
        }
        Kind::Union(rules) => {
            let variants = joined(&rules.variants, " | ", named);
            // A variant that is any value makes the others redundant.
            if variants.split(" | ").any(|one| one == ANY) { ANY.to_owned() } else { variants }
        }
        Kind::All(parts) => {
            let is_told = |part: &&Shape| named(part) != ANY;
            let described: Vec<Shape> = parts.iter().filter(is_told).cloned().collect();
            if described.is_empty() { ANY.to_owned() } else { joined(&described, " & ", named) }
        }
        _ => ANY.to_owned(),
    }
}

/// Whether the outline of a shape may have several alternatives.
fn is_choice(shape: &Shape, defs: &List<Def>) -> bool {
    let kind = resolved(shape, defs).map(|target| &target.kind);
    matches!(kind, Some(Kind::Union(_) | Kind::Enum(_) | Kind::All(_)))
}

fn joined(shapes: &[Shape], with: &str, named: impl Fn(&Shape) -> String) -> String {
    let mut seen = BTreeSet::new();
    let names: Vec<String> = shapes.iter().map(named).filter(|one| seen.insert(one.clone())).collect();
    names.join(with)
}
