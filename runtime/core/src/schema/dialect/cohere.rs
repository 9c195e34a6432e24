//! Cohere: Chat, version 2.

use super::{Dialect, OPENAI, OPENAI_STRICT, RequestLimits, SchemaLimits};

/// Cohere tool use.
pub const COHERE: Dialect = Dialect {
    name: "cohere",
    title: "Cohere",
    checked_on: "2026-11-22",
    sources: &[
        // The envelope of OpenAI. The schema is a hint. The keywords are assumed to be those of OpenAI.
        "cohere 7.3.1, types/tool_v2function.py",
    ],
    tool_description_length: None,
    requests: RequestLimits::NONE,
    ..OPENAI
};

/// Cohere tool use with `strict_tools`, which applies to all tools of a request.
pub const COHERE_STRICT: Dialect = Dialect {
    name: "cohere-strict",
    title: "Cohere strict",
    checked_on: "2026-11-23",
    sources: &[
        "https://docs.cohere.com/v2/docs/structured-outputs",
        // The formats of strings, patterns, `enum` and nested objects; no limits on numbers and lengths. All tools of
        // a request together have at most 200 fields. Every field is required in this dialect, and `null` means that
        // the field is absent.
        "https://docs.cohere.com/v2/docs/tool-use-parameter-types",
    ],
    tool_description_length: None,
    keywords: &["$ref", "additionalProperties", "const", "enum", "format", "pattern"],
    formats: Some(&["date-time", "date", "time", "uuid"]),
    limits: SchemaLimits { properties: Some(200), ..SchemaLimits::NONE },
    requests: RequestLimits { fields: Some(200), ..RequestLimits::NONE },
    // The mode applies to all tools of a request.
    fallback: None,
    ..OPENAI_STRICT
};
