//! Local models: llama.cpp and Ollama.

use super::{Dialect, Engine, OPENAI, Patterns, RequestLimits};

/// The server of llama.cpp, which compiles all tools of a request into one grammar.
pub const LLAMA_CPP: Dialect = Dialect {
    name: "llama-cpp",
    title: "llama.cpp",
    checked_on: "2026-11-22",
    sources: &[
        // Objects are closed by default; formats; limits on integers only. Unknown keywords are skipped.
        "llama.cpp, grammars/README.md and examples/json_schema_to_grammar.py",
        // Patterns must be anchored with `^` and `$`, without lookaround: one unsupported pattern fails all tools.
        "containers/kubernetes-mcp-server#758",
        "email-mcp#58",
        // A large `maxLength` creates a large grammar.
        "firecrawl/firecrawl#4512",
    ],
    tool_description_length: None,
    keywords: &[
        "$ref",
        "additionalProperties",
        "const",
        "enum",
        "format",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "pattern",
    ],
    formats: Some(&["date-time", "date", "time", "uuid"]),
    patterns: Patterns::Anchored,
    engine: Engine::Re2,
    ref_alone: true,
    closed_by_default: true,
    requests: RequestLimits::NONE,
    ..OPENAI
};

/// Ollama, which reads only the parts of a schema that the models' templates show.
pub const OLLAMA: Dialect = Dialect {
    name: "ollama",
    title: "Ollama",
    checked_on: "2026-11-22",
    sources: &[
        // `type`, `items`, `description`, `enum`, `properties`, `required` and `anyOf`. Its struct has no fields for
        // other keywords, and none for references below the root.
        "ollama/ollama, api/types.go, ToolProperty (an older version; the present one was not found)",
        "ollama-python 0.6.3, ollama/_utils.py",
    ],
    tool_description_length: None,
    keywords: &["enum"],
    requests: RequestLimits::NONE,
    ..OPENAI
};
