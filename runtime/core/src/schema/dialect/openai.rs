//! OpenAI: Chat Completions and Responses, which accept the same schemas.

use super::{Dialect, Engine, JSON_SCHEMA, KeyRule, OPENAI_NAMES, Patterns, RequestLimits, SchemaLimits};

/// OpenAI function calling (Chat Completions and Responses) without strict mode.
pub const OPENAI: Dialect = Dialect {
    name: "openai",
    title: "OpenAI",
    checked_on: "2026-11-27",
    sources: &[
        // Names: `^[a-zA-Z0-9_-]{1,64}$`.
        "openai-python 3.54.0, types/shared_params/function_definition.py",
        // The root is an object without `oneOf`, `anyOf`, `allOf`, `enum` and `not`.
        "https://platform.openai.com/docs/guides/function-calling",
        // `array schema missing items`: arrays need `items`, also without strict mode, and a tuple has none.
        "digitalocean-labs/mcp-digitalocean#265",
        "spacelift-io/spacectl#402",
        // `'oneOf' is not permitted`, from Responses.
        "akitaonrails/ai-memory#30",
        // Descriptions of tools: `string too long. Expected a string with maximum length 1024`, from older models and
        // from Azure. Not documented.
        "modelcontextprotocol/servers#799",
        "getsentry/sentry-mcp#106",
        // `… is not a 'regex'`, with and without strict mode: Python's `re` compiles each pattern and each key of
        // `patternProperties`. It rejects `\p{…}`, `(?<name>…)`, `\u{…}` and `\z`, and accepts lookahead.
        "BerriAI/litellm#40485",
        "pleaseai/shunt#488",
        "lidge-jun/opencodex#4072",
        // At most 128 tools.
        "vishalmysore/Tools4AI#16",
    ],
    tool_names: OPENAI_NAMES,
    tool_description_length: Some(1_024),
    keys: KeyRule::Any,
    keywords: &[
        "$ref",
        "additionalProperties",
        "allOf",
        "const",
        "contentEncoding",
        "contentMediaType",
        "default",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "pattern",
        "patternProperties",
        "uniqueItems",
    ],
    formats: None,
    engine: Engine::Python,
    root_composition: false,
    requests: RequestLimits { tools: Some(128), ..RequestLimits::NONE },
    ..JSON_SCHEMA
};

/// OpenAI function calling in strict mode (Structured Outputs).
pub const OPENAI_STRICT: Dialect = Dialect {
    name: "openai-strict",
    title: "OpenAI strict",
    checked_on: "2026-11-27",
    sources: &[
        // Closed objects, all properties required; the keywords, formats and limits.
        "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
        // The rejected keywords. OpenAI itself accepts string lengths.
        "openai-node 6.49.0, lib/transform.ts",
        "pydantic-ai 2.68.0, profiles/openai.py",
        // The root and each named schema are counted separately. References are not followed.
        "pydantic-ai 2.68.0, _exceeds_strict_size_limits",
        // `$ref` cannot have neighbours; `oneOf` is not permitted; `uri` is not a valid format.
        "GREsau/schemars#473",
        "akitaonrails/ai-memory#30",
        "BuilderIO/agent-native#3085",
        // `regex lookaround is not supported`; the engine, as without strict mode.
        "Dokploy/mcp#45",
        "BerriAI/litellm#40485",
        // Descriptions of tools: as without strict mode.
        "modelcontextprotocol/servers#799",
    ],
    // String lengths stay in descriptions: hosts with a compatible API reject these keywords.
    keywords: &[
        "$ref",
        "additionalProperties",
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
    ],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    patterns: Patterns::Regular,
    ref_alone: true,
    open_objects: false,
    untyped: false,
    optional_fields: false,
    strict: true,
    fallback: Some(&OPENAI),
    limits: SchemaLimits {
        properties: Some(5_000),
        depth: Some(10),
        enum_values: Some(1_000),
        characters: Some(120_000),
    },
    ..OPENAI
};
