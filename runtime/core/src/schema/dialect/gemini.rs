//! Google Gemini: the two fields of a function declaration that contain a schema.

use super::{Dialect, Engine, JSON_SCHEMA, KeyRule, Nulls, RequestLimits};

/// The `parameters` of a Google Gemini function declaration: a subset of OpenAPI 3.0 schemas.
///
/// A tool without arguments is declared without `parameters`, since Gemini rejects an object without properties. For
/// the same reason, maps and values of any type are JSON text.
pub const GEMINI: Dialect = Dialect {
    name: "gemini",
    title: "Google Gemini",
    checked_on: "2026-11-27",
    sources: &[
        // The fields of `Schema`. `enum` contains strings. References are for Vertex only.
        "google-genai 3.4.0, types.Schema and types.FunctionDeclaration",
        // `Unknown name "additionalProperties"`, `"const"`, `"exclusiveMinimum"`.
        "promptfoo/promptfoo#6902",
        // `Proto field is not repeating`: one type; `nullable` is accepted.
        "aoci-code#61",
        // `When using any_of, it must be the only field set`.
        "akitaonrails/ai-memory#735",
        // `only 'enum' and 'date-time' are supported for STRING type`.
        "langchain-mcp-tools-ts#36",
        // `properties: should be non-empty for OBJECT type`.
        "agno-agi/agno#2112",
        // `enum[0]: cannot be empty`.
        "sbroenne/mcp-server-excel#607",
        "langchain-ai/langchainjs#9875",
        // Unknown: whether patterns are compiled. RE2, the engine of the vendor's own services, accepts the least.
        "https://github.com/google/re2/wiki/Syntax",
        // Names: 128 characters in the SDK, 64 in errors of 2025. At most 512 functions.
        "google-gemini/gemini-cli#6704",
        "google-gemini/gemini-cli#19083",
    ],
    tool_names: KeyRule::Ascii { also: "_-.:", starts_with_letter: true, length: 64 },
    tool_description_length: None,
    keys: KeyRule::Ascii { also: "_", starts_with_letter: true, length: 64 },
    keywords: &[
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
    ],
    formats: Some(&["date-time"]),
    engine: Engine::Re2,
    nulls: Nulls::Keyword,
    root_composition: false,
    any_of_alone: true,
    ref_alone: true,
    empty_objects: false,
    empty_values: false,
    requests: RequestLimits { tools: Some(512), ..RequestLimits::NONE },
    ..JSON_SCHEMA
};

/// The `parametersJsonSchema` of a Google Gemini function declaration: a subset of JSON Schema.
pub const GEMINI_JSON_SCHEMA: Dialect = Dialect {
    name: "gemini-json-schema",
    title: "Google Gemini (JSON Schema)",
    checked_on: "2026-11-22",
    sources: &[
        // The keywords, arrays of types, maps, tuples, and references without neighbours.
        "https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support",
        "google-genai 3.4.0, types.FunctionDeclaration",
        // No exclusive limits and no `const`. The format of a string moves into the description.
        "pydantic-ai 2.68.0, profiles/google.py",
        // Unknown: the keys, and whether `enum` may contain the empty string. Assumed as for `parameters`.
        "sbroenne/mcp-server-excel#607",
    ],
    keywords: &[
        "$ref",
        "additionalProperties",
        "enum",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "prefixItems",
    ],
    formats: None,
    nulls: Nulls::Type,
    any_of_alone: false,
    empty_objects: true,
    fallback: Some(&GEMINI),
    ..GEMINI
};
