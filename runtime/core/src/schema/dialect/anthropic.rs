//! Anthropic: the Messages API.

use super::{Dialect, Engine, JSON_SCHEMA, KeyRule, Nulls, OPENAI_NAMES, Patterns, RequestLimits};

/// The Anthropic Messages API, tools without strict mode.
pub const ANTHROPIC: Dialect = Dialect {
    name: "anthropic",
    title: "Anthropic",
    checked_on: "2026-11-27",
    sources: &[
        // A valid schema of draft 2020-12, whose root is an object.
        "anthropic-sdk-python 2.12.0, types/tool_param.py",
        // No `oneOf`, `allOf` or `anyOf` at the root.
        "anthropics/claude-code#5319",
        // Keys: `^[a-zA-Z0-9_.-]{1,64}$`.
        "freee/freee-mcp#15",
        // Patterns are not compiled: the vendor's own client sends `\p{…}` and lookaheads.
        "pleaseai/shunt#488",
        // Names: 128 characters, 64 on Bedrock and in tool references.
        "anthropics/claude-code#96152",
        "anthropics/claude-code#20830",
    ],
    tool_names: OPENAI_NAMES,
    tool_description_length: None,
    keys: KeyRule::Ascii { also: "_.-", starts_with_letter: false, length: 64 },
    root_composition: false,
    ..JSON_SCHEMA
};

/// The Anthropic Messages API, tools in strict mode.
pub const ANTHROPIC_STRICT: Dialect = Dialect {
    name: "anthropic-strict",
    title: "Anthropic strict",
    checked_on: "2026-11-22",
    sources: &[
        // Closed objects, the formats, `minItems` of 0 and 1, `$ref` and `enum` without neighbours: schemas that the
        // SDK would not change. The SDK moves `pattern` into the description, and so does this dialect.
        "anthropic-sdk-python 2.12.0, lib/_parse/_transform.py",
        // No recursion, no limits on numbers and lengths.
        "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations",
        // 20 strict tools, 24 optional fields, 16 fields with a union.
        "pydantic-ai 2.68.0, models/_anthropic_schema_limits.py",
        "camel-ai/camel#4171",
        // Grammars with more than 10 optional fields do not compile in time.
        "@ai-sdk/anthropic 3.0.138, supports-native-structured-output-schema",
        // Keys and names: as without strict mode.
        "freee/freee-mcp#15",
        "anthropics/claude-code#20830",
    ],
    keywords: &["$ref", "additionalProperties", "const", "enum", "format", "minItems"],
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    patterns: Patterns::Regular,
    engine: Engine::Re2,
    min_items: Some(1),
    nulls: Nulls::AnyOf,
    ref_alone: true,
    recursion: false,
    open_objects: false,
    untyped: false,
    typed_values: false,
    strict: true,
    fallback: Some(&ANTHROPIC),
    requests: RequestLimits {
        strict_tools: Some(20),
        optional_fields: Some(24),
        union_fields: Some(16),
        optional_fields_of_tool: Some(10),
        ..RequestLimits::NONE
    },
    ..ANTHROPIC
};
