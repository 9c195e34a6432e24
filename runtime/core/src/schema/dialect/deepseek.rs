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
        // The envelope of OpenAI. The schema is a hint. The keywords are assumed to be those of OpenAI.
        "https://api-docs.deepseek.com/guides/tool_calls",
    ],
    tool_description_length: None,
    ..OPENAI
};

/// DeepSeek function calling in strict mode, a beta at another base URL (`/beta`).
pub const DEEPSEEK_STRICT: Dialect = Dialect {
    name: "deepseek-strict",
    title: "DeepSeek strict",
    checked_on: "2026-11-22",
    sources: &[
        "https://api-docs.deepseek.com/guides/tool_calls",
        // Closed objects with at least one property, all required; the formats. No tuples, maps or untyped values.
        // Arrays of types contain only simple types. No reference inside `anyOf`, so this dialect has no references
        // at all.
        "rig-core 0.46.0, providers/deepseek.rs",
        // Sources disagree on patterns and limits of numbers and arrays, so these move into descriptions.
    ],
    tool_description_length: None,
    keywords: &["additionalProperties", "const", "enum", "format"],
    formats: Some(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
    nulls: Nulls::AnyOf,
    empty_objects: false,
    limits: SchemaLimits::NONE,
    requests: RequestLimits { tools: Some(128), ..RequestLimits::NONE },
    // The mode applies to all tools of a request.
    fallback: None,
    ..OPENAI_STRICT
};
