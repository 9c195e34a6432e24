//! The child shapes of a shape.

use super::{Extra, Field, Kind, PatternField, Shape, UnionMode};
use crate::base::frozen::{Frozen, List};

/// The location of a shape in its parent.
pub(super) struct Child<'a> {
    /// The reference tokens of its JSON pointer.
    pub(super) tokens: [&'a str; 2],
    /// The name of the field, if the child is the value of a field; otherwise empty.
    pub(super) name: &'a str,
    /// Whether the child is the value of an object's key, and so one level deeper.
    pub(super) is_member: bool,
    /// Whether the child is the value of a required field.
    pub(super) is_required: bool,
}

impl<'a> Child<'a> {
    fn new(tokens: [&'a str; 2]) -> Child<'a> {
        Child { tokens, name: "", is_member: false, is_required: false }
    }

    fn member(tokens: [&'a str; 2]) -> Child<'a> {
        Child { is_member: true, ..Child::new(tokens) }
    }

    fn field(field: &'a Field) -> Child<'a> {
        let child = Child::member(["properties", &field.name]);
        Child { name: &field.name, is_required: field.required, ..child }
    }
}

/// Visits the child shapes of a kind, in the order of [`map_children`].
pub(super) fn visit_children<'a>(kind: &'a Kind, visit: &mut dyn FnMut(Child<'_>, &'a Shape)) {
    let mut visit_all = |keyword: &str, shapes: &'a [Shape]| {
        for (index, shape) in shapes.iter().enumerate() {
            visit(Child::new([keyword, &index.to_string()]), shape);
        }
    };
    match kind {
        Kind::Array(rules) => visit(Child::new(["items", ""]), &rules.items),
        Kind::Tuple(rules) => {
            visit_all("prefixItems", &rules.items);
            if let Extra::Of(shape) = &rules.rest {
                visit(Child::new(["items", ""]), shape);
            }
        }
        Kind::Object(rules) => {
            rules.fields.iter().for_each(|field| visit(Child::field(field), &field.shape));
            for field in rules.patterns.iter() {
                visit(Child::member(["patternProperties", &field.pattern]), &field.shape);
            }
            if let Extra::Of(shape) = &rules.extra {
                visit(Child::member(["additionalProperties", ""]), shape);
            }
        }
        Kind::Union(rules) => visit_all(union_keyword(rules.mode), &rules.variants),
        Kind::All(parts) => visit_all("allOf", parts),
        _ => {}
    }
}

fn union_keyword(mode: UnionMode) -> &'static str {
    if mode == UnionMode::One { "oneOf" } else { "anyOf" }
}

type Visit<'f> = dyn FnMut(Child<'_>, &Shape) -> Shape + 'f;

/// Returns a kind with other child shapes.
pub(super) fn map_children(kind: &Kind, visit: &mut Visit<'_>) -> Kind {
    let mut kind = kind.clone();
    match &mut kind {
        Kind::Array(rules) => {
            let items = visit(Child::new(["items", ""]), &rules.items);
            rules.items = Frozen::from(items);
        }
        Kind::Tuple(rules) => {
            rules.items = map_list("prefixItems", &rules.items, visit);
            rules.rest = map_extra("items", &rules.rest, false, visit);
        }
        Kind::Object(rules) => {
            let field =
                |field: &Field| Field { shape: visit(Child::field(field), &field.shape), ..field.clone() };
            rules.fields = rules.fields.iter().map(field).collect();
            let pattern = |field: &PatternField| {
                let child = Child::member(["patternProperties", &field.pattern]);
                PatternField { shape: visit(child, &field.shape), pattern: field.pattern.clone() }
            };
            rules.patterns = rules.patterns.iter().map(pattern).collect();
            rules.extra = map_extra("additionalProperties", &rules.extra, true, visit);
        }
        Kind::Union(rules) => {
            rules.variants = map_list(union_keyword(rules.mode), &rules.variants, visit);
        }
        Kind::All(parts) => *parts = map_list("allOf", parts, visit),
        _ => {}
    }
    kind
}

fn map_list(keyword: &str, shapes: &[Shape], visit: &mut Visit<'_>) -> List<Shape> {
    let visit_item =
        |(index, shape): (usize, &Shape)| visit(Child::new([keyword, &index.to_string()]), shape);
    shapes.iter().enumerate().map(visit_item).collect()
}

fn map_extra(keyword: &str, extra: &Extra, is_member: bool, visit: &mut Visit<'_>) -> Extra {
    match extra {
        Extra::Of(shape) => Extra::Of(visit(Child { is_member, ..Child::new([keyword, ""]) }, shape).into()),
        other => other.clone(),
    }
}
