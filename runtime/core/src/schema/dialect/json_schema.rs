//! Plain JSON Schema, and the Model Context Protocol.

use super::{ALL_KEYWORDS, Dialect, Engine, KeyRule, Nulls, Patterns, RequestLimits, SchemaLimits};

/// Plain JSON Schema 2020-12, as MCP accepts it.
pub const JSON_SCHEMA: Dialect = Dialect {
    name: "json-schema",
    title: "JSON Schema 2020-12 (MCP)",
    checked_on: "2026-11-22",
    sources: &[
        "https://json-schema.org/draft/2020-12",
        // The root is an object and may have any other keyword besides `type`.
        "MCP 2026-07-28, SEP-2106",
        // Tool names: 1 to 128 of `[A-Za-z0-9_.-]`.
        "MCP 2026-07-28, SEP-986",
    ],
    tool_names: KeyRule::Ascii { also: "_-.", starts_with_letter: false, length: 128 },
    tool_description_length: None,
    keys: KeyRule::Any,
    keywords: ALL_KEYWORDS,
    formats: None,
    patterns: Patterns::All,
    engine: Engine::EcmaScript,
    min_items: None,
    nulls: Nulls::Type,
    root_composition: true,
    any_of_alone: false,
    ref_alone: false,
    recursion: true,
    empty_objects: true,
    open_objects: true,
    closed_by_default: false,
    untyped: true,
    typed_values: true,
    empty_values: true,
    optional_fields: true,
    strict: false,
    fallback: None,
    limits: SchemaLimits::NONE,
    requests: RequestLimits::NONE,
};
