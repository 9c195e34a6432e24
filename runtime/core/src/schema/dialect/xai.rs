//! xAI: Grok.

use super::{Dialect, OPENAI, Patterns, RequestLimits};

/// xAI function calling, which is always strict, without a flag.
pub const XAI: Dialect = Dialect {
    name: "xai",
    title: "xAI",
    checked_on: "2026-11-23",
    sources: &[
        // Tools are always strict. Types, `enum`, `anyOf`, acyclic references; objects are closed by default; the
        // formats. Other keywords move into descriptions, and a value of any type is JSON text.
        "https://docs.x.ai/developers/model-capabilities/text/structured-outputs",
        // At most 200 tools.
        "anomalyco/opencode#28911",
    ],
    tool_description_length: None,
    keywords: &["$ref", "additionalProperties", "const", "enum", "format"],
    formats: Some(&["date-time", "date", "time", "email", "uuid", "ipv4", "ipv6"]),
    patterns: Patterns::Regular,
    ref_alone: true,
    recursion: false,
    closed_by_default: true,
    untyped: false,
    requests: RequestLimits { tools: Some(200), ..RequestLimits::NONE },
    ..OPENAI
};
