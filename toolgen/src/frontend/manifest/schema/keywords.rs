//! The keywords of JSON Schema 2020-12, and those of earlier drafts that are still read.

/// The form of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A schema.
    Schema,
    /// An array of schemas.
    Schemas,
    /// Schemas by names.
    Named,
    /// A reference to a schema.
    Reference,
    /// Anything else.
    Value,
}

const KEYWORDS: [(Form, &[&str]); 5] = [
    (
        Form::Schema,
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
    (Form::Schemas, &["allOf", "anyOf", "oneOf", "prefixItems"]),
    (
        Form::Named,
        &["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"],
    ),
    (Form::Reference, &["$ref"]),
    (
        Form::Value,
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

/// Returns the form of a keyword's value; `None` if there is no such keyword.
pub(super) fn form(keyword: &str) -> Option<Form> {
    if keyword.starts_with("x-") {
        return Some(Form::Value);
    }
    KEYWORDS.iter().find(|(_, names)| names.contains(&keyword)).map(|(form, _)| *form)
}

/// Returns the keywords.
pub(in super::super) fn names() -> Vec<&'static str> {
    KEYWORDS.iter().flat_map(|(_, names)| names.iter().copied()).collect()
}
