//! The shapes that a shape is made of.

use crate::base::frozen::{Frozen, List};
use crate::schema::shape::{Extra, Field, Kind, PatternField, Shape, UnionMode};

/// The place of a shape in the one around it.
pub(in crate::schema::shape) struct Child<'a> {
    /// The reference tokens of its JSON pointer.
    pub(in crate::schema::shape) tokens: [&'a str; 2],
    /// The name of the field it is the value of; empty for others.
    pub(in crate::schema::shape) name: &'a str,
    /// Whether it is a value of an object, so one level deeper.
    pub(in crate::schema::shape) is_member: bool,
}

type Visit<'f> = dyn FnMut(Child<'_>, &Shape) -> Shape + 'f;

/// Returns a kind with other shapes in it.
pub(in crate::schema::shape) fn mapped(kind: &Kind, visit: &mut Visit<'_>) -> Kind {
    let mut kind = kind.clone();
    match &mut kind {
        Kind::Array(rules) => {
            let items = visit(Child { tokens: ["items", ""], name: "", is_member: false }, &rules.items);
            rules.items = Frozen::from(items);
        }
        Kind::Tuple(rules) => {
            rules.items = list("prefixItems", &rules.items, visit);
            rules.rest = extra("items", &rules.rest, false, visit);
        }
        Kind::Object(rules) => {
            let field = |field: &Field| {
                let child = Child { tokens: ["properties", &field.name], name: &field.name, is_member: true };
                Field { shape: visit(child, &field.shape), ..field.clone() }
            };
            rules.fields = rules.fields.iter().map(field).collect();
            let pattern = |field: &PatternField| {
                let child =
                    Child { tokens: ["patternProperties", &field.pattern], name: "", is_member: true };
                PatternField { shape: visit(child, &field.shape), pattern: field.pattern.clone() }
            };
            rules.patterns = rules.patterns.iter().map(pattern).collect();
            rules.extra = extra("additionalProperties", &rules.extra, true, visit);
        }
        Kind::Union(rules) => {
            let keyword = if rules.mode == UnionMode::One { "oneOf" } else { "anyOf" };
            rules.variants = list(keyword, &rules.variants, visit);
        }
        Kind::All(parts) => *parts = list("allOf", parts, visit),
        _ => {}
    }
    kind
}

fn list(keyword: &str, shapes: &[Shape], visit: &mut Visit<'_>) -> List<Shape> {
    let one = |(index, shape): (usize, &Shape)| {
        visit(Child { tokens: [keyword, &index.to_string()], name: "", is_member: false }, shape)
    };
    shapes.iter().enumerate().map(one).collect()
}

fn extra(keyword: &str, extra: &Extra, is_member: bool, visit: &mut Visit<'_>) -> Extra {
    match extra {
        Extra::Of(shape) => {
            Extra::Of(visit(Child { tokens: [keyword, ""], name: "", is_member }, shape).into())
        }
        other => other.clone(),
    }
}
