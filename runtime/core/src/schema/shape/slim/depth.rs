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
/// The outline of a value without a more specific outline.
const ANY: &str = "any value";
/// Maximum number of references that are followed to find out what a shape accepts.
const MAX_FOLLOWED: usize = 16;

impl Slimmer<'_> {
    /// Returns a shape that accepts everything that a deep shape accepts. Its description is the outline of the deep
    /// shape.
    pub(super) fn outlined_shape(&mut self, shape: &Shape) -> Shape {
        let is_object_only = is_object(shape, self.defs, 0);
        let outline = cut(&render_outline(shape, self.defs, 0), MAX_OUTLINE);
        self.trim(TrimKind::Depth, format!("cut here: {outline}"));
        Shape {
            kind: if is_object_only { Kind::Object(ObjectRules::ANY) } else { Kind::Any },
            nullable: is_object_only && allows_null(shape, self.defs, 0),
            description: outline.into(),
            ..shape.clone()
        }
    }
}

/// Whether a shape itself is never cut, only its parts.
pub(super) fn is_never_cut(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Array(_) | Kind::Tuple(_))
}

/// Returns the outline of a shape that contains an object with fields; `None` for any other shape, or if the outline
/// would be empty.
#[must_use]
pub fn outline_within(shape: &Shape, defs: &List<Def>) -> Option<String> {
    is_deep(shape, defs, &mut BTreeSet::new()).then(|| outline_of_deep(shape, defs))?
}

/// Like [`outline_within`], for a shape that contains an object with fields.
fn outline_of_deep(shape: &Shape, defs: &List<Def>) -> Option<String> {
    Some(cut(&render_outline(shape, defs, 0), MAX_OUTLINE)).filter(|outline| outline != ANY)
}

/// Returns the outline of fields that are not shown in full.
pub(super) fn outline_of(fields: &[&Field], defs: &List<Def>) -> String {
    let fields = fields.iter().copied().cloned().collect();
    let shape = Shape::of(Kind::Object(ObjectRules { fields, ..ObjectRules::ANY }));
    cut(&render_outline(&shape, defs, 0), MAX_OUTLINE)
}

/// Adds the discriminating property to variants that were cut: without it, a call is rejected.
pub(super) fn add_tags(rules: &mut UnionRules, original: &Kind, defs: &List<Def>) {
    let (Some(discriminator), Kind::Union(original)) = (&rules.discriminator, original) else { return };
    let with_tag = |(cut, original): (&Shape, &Shape)| {
        let (Kind::Ref(name), Kind::Object(_)) = (&original.kind, &cut.kind) else { return cut.clone() };
        let Some(Kind::Object(target)) = resolved(original, defs).map(|target| &target.kind) else {
            return cut.clone();
        };
        let is_default = discriminator.default_variant.as_ref().is_some_and(|default| default == name);
        let field = target.fields.iter().find(|field| field.wire_name() == discriminator.property.as_str());
        let Some(field) = field.filter(|_| !is_default) else { return cut.clone() };
        let mapped =
            discriminator.mapping.iter().filter(|(_, target_name)| target_name == name).map(|(tag, _)| tag);
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
    rules.variants = rules.variants.iter().zip(original.variants.iter()).map(with_tag).collect();
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
            let rest_is_deep = matches!(&rules.rest, Extra::Of(shape) if is_deep(shape, defs, seen));
            rest_is_deep || rules.items.iter().any(|item| is_deep(item, defs, seen))
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
    let recurse = |shape: &Shape| followed < MAX_FOLLOWED && is_object(shape, defs, followed + 1);
    match &shape.kind {
        Kind::Object(_) => true,
        Kind::Union(rules) => {
            let is_variant = |variant: &Shape| variant.kind == Kind::Null || recurse(variant);
            rules.variants.iter().all(is_variant) && rules.variants.iter().any(recurse)
        }
        Kind::All(parts) => parts.iter().any(recurse),
        Kind::Ref(name) => find_def(defs, name).is_some_and(recurse),
        _ => false,
    }
}

/// Whether a shape may accept `null`.
fn allows_null(shape: &Shape, defs: &List<Def>, followed: usize) -> bool {
    let recurse = |shape: &Shape| followed >= MAX_FOLLOWED || allows_null(shape, defs, followed + 1);
    shape.nullable
        || match &shape.kind {
            Kind::Null | Kind::Any | Kind::Raw(_) => true,
            Kind::Union(rules) => rules.variants.iter().any(recurse),
            Kind::All(parts) => parts.iter().any(recurse),
            Kind::Ref(name) => find_def(defs, name).is_some_and(recurse),
            _ => false,
        }
}

/// Returns the fields of an object in compact notation: `{id: integer, tags?: string[]}`.
fn render_outline(shape: &Shape, defs: &List<Def>, level: usize) -> String {
    let Some(target) = resolved(shape, defs).filter(|_| level < MAX_LEVELS) else {
        return ANY.to_owned();
    };
    let nested = |shape: &Shape| render_outline(shape, defs, level + 1);
    match &target.kind {
        Kind::Object(_) if level > 1 => "object".to_owned(),
        Kind::Object(rules) => {
            let mut visible: Vec<&Field> =
                rules.fields.iter().filter(|field| field.access != Access::ReadOnly).collect();
            visible.sort_by_key(|field| !field.required);
            let outline_field = |field: &&Field| {
                let mark = if field.required { "" } else { "?" };
                format!("{}{mark}: {}", field.name, nested(&field.shape))
            };
            let mut lines: Vec<String> = visible.iter().map(outline_field).collect();
            if let Extra::Of(shape) = &rules.extra {
                lines.push(format!("[key]: {}", nested(shape)));
            }
            if lines.is_empty() { "object".to_owned() } else { format!("{{{}}}", lines.join(", ")) }
        }
        Kind::Array(rules) => match nested(&rules.items) {
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
            let variants = join_outlines(&rules.variants, " | ", nested);
            // A variant that is any value makes the others redundant.
            if variants.split(" | ").any(|variant| variant == ANY) { ANY.to_owned() } else { variants }
        }
        Kind::All(parts) => {
            let is_described = |part: &&Shape| nested(part) != ANY;
            let described: Vec<Shape> = parts.iter().filter(is_described).cloned().collect();
            if described.is_empty() { ANY.to_owned() } else { join_outlines(&described, " & ", nested) }
        }
        _ => ANY.to_owned(),
    }
}

/// Whether the outline of a shape may have several alternatives.
fn is_choice(shape: &Shape, defs: &List<Def>) -> bool {
    let kind = resolved(shape, defs).map(|target| &target.kind);
    matches!(kind, Some(Kind::Union(_) | Kind::Enum(_) | Kind::All(_)))
}

fn join_outlines(shapes: &[Shape], separator: &str, outline_nested: impl Fn(&Shape) -> String) -> String {
    let mut seen = BTreeSet::new();
    let names: Vec<String> =
        shapes.iter().map(outline_nested).filter(|name| seen.insert(name.clone())).collect();
    names.join(separator)
}
