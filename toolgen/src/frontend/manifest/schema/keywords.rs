//! The keywords of JSON Schema 2020-12, and the supported keywords of earlier drafts.

/// The kind of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// A schema.
    Schema,
    /// An array of schemas.
    Schemas,
    /// An object of schemas by name.
    Named,
    /// A reference to a schema.
    Reference,
    /// Any other value.
    Value,
}

const KEYWORDS: [(ValueKind, &[&str]); 5] = [
    (
        ValueKind::Schema,
        &[
            "items",
            "additionalItems",
            "additionalProperties",
            "unevaluatedItems",
            "unevaluatedProperties",
            "contains",
            "propertyNames",
            "contentSchema",
            "not",
            "if",
            "then",
            "else",
        ],
    ),
    (ValueKind::Schemas, &["allOf", "anyOf", "oneOf", "prefixItems"]),
    (
        ValueKind::Named,
        &["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"],
    ),
    (ValueKind::Reference, &["$ref"]),
    (
        ValueKind::Value,
        &[
            "type",
            "description",
            "title",
            "default",
            "examples",
            "deprecated",
            "readOnly",
            "writeOnly",
            "enum",
            "const",
            "format",
            "required",
            "dependentRequired",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minContains",
            "maxContains",
            "minProperties",
            "maxProperties",
            "contentEncoding",
            "contentMediaType",
            "nullable",
            "discriminator",
            "$schema",
            "$id",
            "$anchor",
            "$comment",
        ],
    ),
];

/// Returns the kind of a keyword's value; `None` if the keyword is unknown.
pub(super) fn value_kind(keyword: &str) -> Option<ValueKind> {
    if keyword.starts_with("x-") {
        return Some(ValueKind::Value);
    }
    KEYWORDS.iter().find(|(_, names)| names.contains(&keyword)).map(|(value_kind, _)| *value_kind)
}

/// Returns all known keywords.
pub(in super::super) fn names() -> Vec<&'static str> {
    KEYWORDS.iter().flat_map(|(_, names)| names.iter().copied()).collect()
}
