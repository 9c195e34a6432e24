//! xAI: Grok.

use super::{Dialect, OPENAI, Patterns, RequestLimits};

/// xAI function calling, which always holds the model to the schema, without a flag.
pub const XAI: Dialect = Dialect {
    name: "xai",
    title: "xAI",
    checked_on: "2026-11-23",
    sources: &[
        // Tools are always strict. Types, listed values, `anyOf`, references that are no circle; an object is closed unless
        // it says otherwise; the formats. Other keywords move into descriptions, and any value is JSON text.
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
