//! Proves that shapes are disjoint: no value matches two of them.

use super::{Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, resolved};
use crate::base::frozen::{List, Text};

/// Maximum nesting of shapes that are compared: deeper ones may be cyclic.
const MAX_DEPTH: usize = 6;

/// Whether these shapes are pairwise disjoint. The proof uses types, enumerated values, required fields and closed
/// objects; `false` means “not proven”.
pub(super) fn pairwise_disjoint(shapes: &[Shape], defs: &List<Def>) -> bool {
    let pairs =
        shapes.iter().enumerate().flat_map(|(index, a)| shapes[index + 1..].iter().map(move |b| (a, b)));
    // Unions of more variants are not compared: the number of pairs would be too large.
    shapes.len() <= 64 && pairs.into_iter().all(|(a, b)| are_disjoint(a, b, defs, MAX_DEPTH))
}

fn are_disjoint(a: &Shape, b: &Shape, defs: &List<Def>, depth: usize) -> bool {
    let (Some(target_a), Some(target_b)) = (resolved(a, defs), resolved(b, defs)) else { return false };
    let (a, b) = (with_nullability(a, target_a), with_nullability(b, target_b));
    if depth == 0 || a.1 && b.1 {
        return false;
    }
    let (a, b) = (a.0, b.0);
    let recurse = |a: &Shape, b: &Shape| are_disjoint(a, b, defs, depth - 1);
    match (&a.kind, &b.kind) {
        (Kind::Never, _) | (_, Kind::Never) => true,
        (Kind::Union(rules), _) => rules.variants.iter().all(|variant| recurse(variant, b)),
        (_, Kind::Union(rules)) => rules.variants.iter().all(|variant| recurse(a, variant)),
        (Kind::All(parts), _) => parts.iter().any(|part| recurse(part, b)),
        (_, Kind::All(parts)) => parts.iter().any(|part| recurse(a, part)),
        (Kind::Enum(ours), Kind::Enum(theirs)) => {
            !ours.iter().any(|value| theirs.iter().any(|other| value.equals(other)))
        }
        (Kind::Object(ours), Kind::Object(theirs)) => {
            let is_disjoint = |field: &Field, other: &Field| {
                field.name == other.name && recurse(&field.shape, &other.shape)
            };
            required(ours).any(|field| required(theirs).any(|other| is_disjoint(field, other)))
                || forbids_required(ours, theirs)
                || forbids_required(theirs, ours)
        }
        _ => types(&a.kind) & types(&b.kind) == 0,
    }
}

/// Returns the fields that are always present, in arguments and in results.
fn required(rules: &ObjectRules) -> impl Iterator<Item = &Field> {
    rules.fields.iter().filter(|field| field.required && field.access == Access::Both)
}

/// Whether a closed object forbids a key that another object requires.
fn forbids_required(closed: &ObjectRules, other: &ObjectRules) -> bool {
    let names = |field: &Field| -> Vec<Text> {
        [&field.name, &field.wire].into_iter().chain(&field.aliases).cloned().collect()
    };
    let is_declared = |names: &[Text]| {
        let has_name = |field: &Field| {
            names.iter().any(|name| {
                !name.is_empty()
                    && (field.name == *name || field.wire == *name || field.aliases.contains(name))
            })
        };
        closed.fields.iter().any(has_name)
    };
    closed.extra == Extra::Closed
        && closed.patterns.is_empty()
        && required(other).any(|field| !is_declared(&names(field)))
}

/// Returns the target of a shape, and whether it allows `null`.
fn with_nullability<'s>(shape: &Shape, target: &'s Shape) -> (&'s Shape, bool) {
    (target, shape.nullable || target.nullable || types(&target.kind) & NULL != 0)
}

const NULL: u8 = 1;

/// Returns the JSON types of a shape's values, one bit each.
fn types(kind: &Kind) -> u8 {
    match kind {
        Kind::Never => 0,
        Kind::Null => NULL,
        Kind::Boolean => 2,
        // An integer is a number.
        Kind::Integer(_) | Kind::Number(_) => 4,
        Kind::String(_) => 8,
        Kind::Array(_) | Kind::Tuple(_) => 16,
        Kind::Object(_) => 32,
        Kind::Enum(values) => values.iter().fold(0, |types, value| types | literal_type(value)),
        Kind::Any | Kind::Raw(_) | Kind::Union(_) | Kind::All(_) | Kind::Ref(_) => u8::MAX,
    }
}

fn literal_type(value: &Literal) -> u8 {
    match value.type_name() {
        "null" => NULL,
        "boolean" => 2,
        "integer" | "number" => 4,
        "string" => 8,
        "array" => 16,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::schema::shape::read::read;

    fn are_disjoint_schemas(variants: &[Value]) -> bool {
        let shapes: Vec<Shape> = variants.iter().map(|variant| read(variant, &mut Vec::new())).collect();
        pairwise_disjoint(&shapes, &List::EMPTY)
    }

    #[test]
    fn types_values_and_tags_make_shapes_disjoint() {
        let tagged = |tag: &str| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": tag}}});
        let untagged = json!({"type": "object", "properties": {"kind": {"const": "b"}}});
        assert!(are_disjoint_schemas(&[
            json!({"type": "string"}),
            json!({"type": "integer"}),
            tagged("a"),
            tagged("b")
        ]));
        assert!(are_disjoint_schemas(&[
            json!({"enum": [1, "a"]}),
            json!({"enum": [2, "b"]}),
            json!({"type": "array"})
        ]));
        assert!(!are_disjoint_schemas(&[json!({"type": "integer"}), json!({"type": "number"})]));
        assert!(!are_disjoint_schemas(&[tagged("a"), tagged("a")]));
        assert!(!are_disjoint_schemas(&[tagged("a"), untagged]), "the tag is optional");
        let closed = |key: &str| json!({"type": "object", "required": [key], "properties": {key: {}}, "additionalProperties": false});
        let open = json!({"type": "object", "required": ["c"], "properties": {"a": {}}});
        assert!(are_disjoint_schemas(&[closed("a"), closed("b"), open.clone()]));
        assert!(!are_disjoint_schemas(&[open, tagged("a")]));
        let generated = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": "b", "readOnly": true}}});
        assert!(!are_disjoint_schemas(&[tagged("a"), generated]), "a model does not send it");
        let or_null = |of: &str| json!({"type": [of, "null"]});
        assert!(!are_disjoint_schemas(&[or_null("string"), or_null("integer")]), "null fits both");
        assert!(!are_disjoint_schemas(&[json!({}), json!({"type": "string"})]));
    }
}
