//! Groq: Chat Completions.

use super::{Dialect, OPENAI};

/// Groq tool use. Groq's strict mode applies to replies, not to tools.
pub const GROQ: Dialect = Dialect {
    name: "groq",
    title: "Groq",
    checked_on: "2026-11-22",
    sources: &[
        // The envelope of OpenAI, and its keywords.
        "https://console.groq.com/docs/tool-use",
        "https://console.groq.com/docs/structured-outputs",
        // At most 128 tools.
        "gsd-2#4376",
    ],
    tool_description_length: None,
    ..OPENAI
};
