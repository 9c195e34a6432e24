//! What each LLM provider accepts of a tool, one row a provider.

/// What one provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name, as the command line takes it: `json-schema`, `openai`, `openai-strict`, `anthropic`, `gemini`.
    pub name: &'static str,
}

/// Plain JSON Schema 2020-12, as MCP takes it.
pub const JSON_SCHEMA: Dialect = Dialect { name: "json-schema" };
