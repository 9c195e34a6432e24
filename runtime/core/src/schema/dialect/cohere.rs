//! Cohere: Chat, version 2.

use super::{Dialect, OPENAI, OPENAI_STRICT, RequestLimits, SchemaLimits};

/// Cohere tool use.
pub const COHERE: Dialect = Dialect {
    name: "cohere",
    title: "Cohere",
    checked_on: "2026-11-22",
    sources: &[
        // The envelope of OpenAI; the schema is a hint. The keywords of OpenAI are taken.
        "cohere 7.3.1, types/tool_v2function.py",
    ],
    tool_description_length: None,
    requests: RequestLimits::NONE,
    ..OPENAI
};

/// Cohere tool use with `strict_tools`, which is for all tools of a request.
pub const COHERE_STRICT: Dialect = Dialect {
    name: "cohere-strict",
    title: "Cohere strict",
    checked_on: "2026-11-23",
    sources: &[
        "https://docs.cohere.com/v2/docs/structured-outputs",
        // The formats of texts, patterns, listed values and nested objects; no limits of numbers and lengths. All tools
        // of a request together have at most 200 fields. Every field is required here, and `null` stands for what is
        // left out.
        "https://docs.cohere.com/v2/docs/tool-use-parameter-types",
    ],
    tool_description_length: None,
    keywords: &["$ref", "additionalProperties", "const", "enum", "format", "pattern"],
    formats: Some(&["date-time", "date", "time", "uuid"]),
    limits: SchemaLimits { properties: Some(200), ..SchemaLimits::NONE },
    requests: RequestLimits { fields: Some(200), ..RequestLimits::NONE },
    // The mode is for all tools of a request.
    fallback: None,
    ..OPENAI_STRICT
};
