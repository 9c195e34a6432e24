//! The types of values that need no named type, and the names that generated types cannot have.

use toolgen_core::schema::shape::{Choices, Field, Kind, Literal, Number, NumberRules};
use toolgen_core::{List, Shape};

use super::super::idents::Names;
use super::super::literal;
use super::model::Ty;

/// Returns the type of an integer.
pub(super) fn integer(rules: &NumberRules) -> Ty {
    let exceeds = |max: i64| {
        let bounds = [&rules.minimum, &rules.maximum];
        bounds.into_iter().any(|bound| matches!(bound, Some(Number::Int(n)) if *n > i128::from(max)))
    };
    if rules.format == "uint64" || exceeds(i64::MAX) {
        Ty::Unsigned
    } else if rules.format == "int32" && !exceeds(i64::from(i32::MAX)) {
        Ty::Short
    } else {
        Ty::Int
    }
}

/// Returns the type of enumerated values that do not form an enum: neither strings nor named integers.
pub(super) fn scalar_type(shape: &Shape) -> Option<Ty> {
    let Kind::Enum(values) = &shape.kind else { return None };
    let all = |is: fn(&Literal) -> bool| !values.is_empty() && values.iter().all(is);
    if all(|value| matches!(value, Literal::String(_))) {
        return None;
    }
    if are_named_integers(values, &shape.choices) {
        return None;
    }
    Some(if all(|value| matches!(value, Literal::Bool(_))) {
        Ty::Bool
    } else if all(|value| as_i64(value).is_some()) {
        Ty::Int
    } else if all(|value| matches!(value, Literal::Number(_))) {
        Ty::Float
    } else {
        Ty::Value
    })
}

/// Whether values are integers with names in the document.
pub(super) fn are_named_integers(values: &List<Literal>, choices: &Choices) -> bool {
    choices.has_names() && values.iter().all(|value| as_i64(value).is_some())
}

/// Returns the value as a 64-bit integer, if it fits.
pub(super) fn as_i64(value: &Literal) -> Option<i64> {
    match value {
        Literal::Number(Number::Int(n)) => i64::try_from(*n).ok(),
        _ => None,
    }
}

/// Returns the only value a required field may have, as an expression.
pub(super) fn constant(field: &Field) -> Option<String> {
    let Kind::Enum(values) = &field.shape.kind else { return None };
    let [Literal::String(only)] = &**values else { return None };
    (field.required && !field.shape.nullable).then(|| literal::string(only))
}

/// Returns a scope for names of types, in which the imports of generated code are reserved.
pub(super) fn type_names() -> Names {
    Names::of_types(&[
        "And",
        "BTreeMap",
        "Best",
        "Box",
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "Eq",
        "Err",
        "Fields",
        "FromJson",
        "FromStr",
        "Hash",
        "JsonError",
        "Link",
        "Readers",
        "None",
        "Ok",
        "Option",
        "Ord",
        "PartialEq",
        "PartialOrd",
        "Result",
        "Self",
        "Some",
        "String",
        "ToJson",
        "Tool",
        "TypedItems",
        "TypedTool",
        "Value",
        "Vec",
    ])
}
