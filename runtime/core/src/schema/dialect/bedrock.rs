//! Amazon Bedrock: Converse.

use super::{ANTHROPIC, ANTHROPIC_STRICT, Dialect};

/// Amazon Bedrock Converse, tools without strict mode.
pub const BEDROCK: Dialect = Dialect {
    name: "bedrock",
    title: "Amazon Bedrock",
    checked_on: "2026-11-22",
    sources: &[
        // Names: `[a-zA-Z0-9_-]+`, 1 to 64 characters. A description must not be empty.
        "botocore 1.44.5, bedrock-runtime service-2.json, ToolName and ToolSpecification",
        // The root is an object, without `oneOf`, `anyOf` and `allOf`.
        "kirodotdev/Kiro#11026",
        // Each model has its own rules for schemas. Anthropic's are the most restrictive known without strict mode.
        "freee/freee-mcp#15",
    ],
    ..ANTHROPIC
};

/// Amazon Bedrock Converse, tools in strict mode.
pub const BEDROCK_STRICT: Dialect = Dialect {
    name: "bedrock-strict",
    title: "Amazon Bedrock strict",
    checked_on: "2026-11-22",
    sources: &[
        // The flag, and the names of tools.
        "botocore 1.44.5, bedrock-runtime service-2.json, ToolSpecification",
        // No limits on numbers, `minItems` at most 1, no `maxItems`, patterns without lookaround and back references.
        "pydantic-ai 2.68.0, providers/bedrock.py",
        // Other rules: those of Anthropic's strict mode, the most restrictive among the models with a strict mode.
        "anthropic-sdk-python 2.12.0, lib/_parse/_transform.py",
    ],
    keywords: &["$ref", "additionalProperties", "const", "enum", "format", "minItems", "pattern"],
    fallback: Some(&BEDROCK),
    ..ANTHROPIC_STRICT
};
