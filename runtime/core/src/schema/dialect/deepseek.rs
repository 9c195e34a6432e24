//! DeepSeek: Chat Completions.

use super::{Dialect, Nulls, OPENAI, OPENAI_STRICT, RequestLimits, SchemaLimits};

/// DeepSeek function calling.
pub const DEEPSEEK: Dialect = Dialect {
    name: "deepseek",
    title: "DeepSeek",
    checked_on: "2026-11-22",
    sources: &[
        // Names: `^[a-zA-Z0-9_-]{1,64}$`.
        "ida-pro-mcp#129",
        // The envelope of OpenAI; the schema is a hint. The keywords of OpenAI are taken.
        "https://api-docs.deepseek.com/guides/tool_calls",
    ],
    tool_description_length: None,
    ..OPENAI
};

/// DeepSeek function calling in strict mode, which is a beta at another address (`/beta`).
pub const DEEPSEEK_STRICT: Dialect = Dialect {
    name: "deepseek-strict",
    title: "DeepSeek strict",
    checked_on: "2026-11-22",
    sources: &[
        "https://api-docs.deepseek.com/guides/tool_calls",
        // Closed objects with all properties required and at least one; no tuples, maps and untyped values; lists of
        // types only of plain ones, no reference inside `anyOf`, so none at all here; the formats.
        "rig-core 0.46.0, providers/deepseek.rs",
        // Whether patterns and limits of numbers and lists are taken is contested: they move into descriptions.
    ],
    tool_description_length: None,
    keywords: &["additionalProperties", "const", "enum", "format"],
    formats: Some(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
    nulls: Nulls::AnyOf,
    empty_objects: false,
    limits: SchemaLimits::NONE,
    requests: RequestLimits { tools: Some(128), ..RequestLimits::NONE },
    // The mode is for all tools of a request.
    fallback: None,
    ..OPENAI_STRICT
};
