//! The rules of each LLM provider for tools, one row per provider.
//!
//! The rows are data: when a rule changes, a row changes. They record what the providers' documentation, the source of
//! their SDKs and reports of refused requests say; each row names its sources and the day they were checked.

/// The rules of one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name, as the command line takes it: `json-schema`, `openai`, `openai-strict`, `anthropic`, `gemini`.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The day the row was compared with its sources.
    pub checked: &'static str,
    /// Where the rules come from.
    pub sources: &'static [&'static str],
    /// The longest tool name, in characters.
    pub tool_name_length: usize,
    /// The longest description of a tool, in characters; `None` means that no limit is known.
    pub tool_description_length: Option<usize>,
    /// The keys that an object may have.
    pub keys: KeyRule,
    /// The keywords that are accepted, apart from those every dialect accepts (`type`, `description`, `properties`,
    /// `required`, `items`, `enum` of texts, `anyOf`). Others move into descriptions.
    pub keywords: &'static [&'static str],
    /// The values of `format` that are accepted for texts; `None` means all of them.
    pub formats: Option<&'static [&'static str]>,
    /// How the dialect says that `null` is allowed.
    pub nulls: Nulls,
    /// Whether `anyOf`, `oneOf` and `allOf` may occur at the root.
    pub root_composition: bool,
    /// Whether `anyOf` allows no other keywords next to it.
    pub any_of_alone: bool,
    /// Whether `$ref` allows no other keywords next to it.
    pub ref_alone: bool,
    /// Whether every object is closed and every field required; an optional field is nullable instead.
    pub strict: bool,
    /// The limits on the size of a schema.
    pub limits: Limits,
}

/// The keys that an object may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// Any key.
    Any,
    /// ASCII letters, digits and these characters, up to a length.
    Ascii {
        /// The characters allowed besides letters and digits.
        also: &'static str,
        /// Whether the first character must be a letter or `_`.
        starts_with_letter: bool,
        /// The maximum length of a key, in characters.
        length: usize,
    },
}

/// How a dialect says that `null` is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// `type: [T, "null"]`, or a variant of `anyOf`.
    Type,
    /// OpenAPI 3.0's `nullable: true`.
    Keyword,
}

/// The limits on the size of a schema; `None` means that no limit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The number of properties of all objects together.
    pub properties: Option<usize>,
    /// The number of levels of objects and lists; the root and each named schema are counted separately.
    pub depth: Option<usize>,
    /// The number of listed values of all enumerations together.
    pub enum_values: Option<usize>,
    /// The number of characters of all names of properties and named schemas and of all listed values together.
    pub characters: Option<usize>,
}

impl Limits {
    const NONE: Limits = Limits { properties: None, depth: None, enum_values: None, characters: None };
}

/// Every keyword that a shape can express.
const ALL_KEYWORDS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Plain JSON Schema 2020-12, as MCP accepts it.
pub const JSON_SCHEMA: Dialect = Dialect {
    name: "json-schema",
    title: "JSON Schema 2020-12 (MCP)",
    checked: "2026-11-21",
    sources: &[
        "https://json-schema.org/draft/2020-12",
        // The root is an object and may have any other keyword besides `type`.
        "MCP 2026-07-28, SEP-2106",
        // Tool names: 1 to 128 of `[A-Za-z0-9_.-]`; the names here are narrower.
        "MCP 2026-07-28, SEP-986",
    ],
    tool_name_length: 128,
    tool_description_length: None,
    keys: KeyRule::Any,
    keywords: ALL_KEYWORDS,
    formats: None,
    nulls: Nulls::Type,
    root_composition: true,
    any_of_alone: false,
    ref_alone: false,
    strict: false,
    limits: Limits::NONE,
};

/// OpenAI function calling (Chat Completions and Responses) without strict mode.
pub const OPENAI: Dialect = Dialect {
    name: "openai",
    title: "OpenAI",
    checked: "2026-11-21",
    sources: &[
        // Names: `^[a-zA-Z0-9_-]{1,64}$`.
        "openai-python 3.54.0, types/shared_params/function_definition.py",
        // The root is an object without `oneOf`, `anyOf`, `allOf`, `enum` and `not`.
        "https://platform.openai.com/docs/guides/function-calling",
        // `array schema missing items`: lists have `items`, also without strict mode; a tuple has none.
        "digitalocean-labs/mcp-digitalocean#265",
        "spacelift-io/spacectl#402",
        // `'oneOf' is not permitted`, from Responses.
        "akitaonrails/ai-memory#30",
        // Descriptions of tools: `string too long. Expected a string with maximum length 1024`, from older models and
        // Azure; not documented.
        "modelcontextprotocol/servers#799",
        "getsentry/sentry-mcp#106",
    ],
    tool_name_length: 64,
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
    nulls: Nulls::Type,
    root_composition: false,
    any_of_alone: false,
    ref_alone: false,
    strict: false,
    limits: Limits::NONE,
};

/// OpenAI function calling in strict mode (Structured Outputs).
pub const OPENAI_STRICT: Dialect = Dialect {
    name: "openai-strict",
    title: "OpenAI strict",
    checked: "2026-11-21",
    sources: &[
        // Closed objects, all properties required, the keywords, formats and limits.
        "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
        // Which keywords are refused, and that OpenAI itself accepts text lengths.
        "openai-node 6.49.0, lib/transform.ts",
        "pydantic-ai 2.68.0, profiles/openai.py",
        // `$ref` cannot have keywords; `oneOf` is not permitted; `uri` is not a valid format.
        "GREsau/schemars#473",
        "akitaonrails/ai-memory#30",
        "BuilderIO/agent-native#3085",
        // Descriptions of tools, as without strict mode.
        "modelcontextprotocol/servers#799",
    ],
    tool_name_length: 64,
    tool_description_length: Some(1_024),
    keys: KeyRule::Any,
    // Lengths of texts are left to descriptions: hosts that imitate the interface refuse the keywords.
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
    nulls: Nulls::Type,
    root_composition: false,
    any_of_alone: false,
    ref_alone: true,
    strict: true,
    limits: Limits {
        properties: Some(5_000),
        depth: Some(10),
        enum_values: Some(1_000),
        characters: Some(120_000),
    },
};

/// The Anthropic Messages API, tools without strict mode.
pub const ANTHROPIC: Dialect = Dialect {
    name: "anthropic",
    title: "Anthropic",
    checked: "2026-11-21",
    sources: &[
        // A valid schema of draft 2020-12, whose root is an object.
        "anthropic-sdk-python 2.12.0, types/tool_param.py",
        // No `oneOf`, `allOf` or `anyOf` at the root.
        "anthropics/claude-code#5319",
        // Keys: `^[a-zA-Z0-9_.-]{1,64}$`.
        "freee/freee-mcp#15",
        // Names: 128 characters, 64 on Bedrock and in tool references.
        "anthropics/claude-code#96152",
        "anthropics/claude-code#20830",
    ],
    tool_name_length: 64,
    tool_description_length: None,
    keys: KeyRule::Ascii { also: "_.-", starts_with_letter: false, length: 64 },
    keywords: ALL_KEYWORDS,
    formats: None,
    nulls: Nulls::Type,
    root_composition: false,
    any_of_alone: false,
    ref_alone: false,
    strict: false,
    limits: Limits::NONE,
};

/// Google Gemini, the `parameters` of a function declaration: a subset of OpenAPI 3.0 schemas.
///
/// A tool without arguments is declared without `parameters`: Gemini refuses an object without properties.
pub const GEMINI: Dialect = Dialect {
    name: "gemini",
    title: "Google Gemini",
    checked: "2026-11-21",
    sources: &[
        // The fields of `Schema`; enumerations hold texts; references are for Vertex only.
        "google-genai 3.4.0, types.Schema and types.FunctionDeclaration",
        // `Unknown name "additionalProperties"`, `"const"`, `"exclusiveMinimum"`.
        "promptfoo/promptfoo#6902",
        // `Proto field is not repeating`: one type; `nullable` is accepted.
        "aoci-code#61",
        // `When using any_of, it must be the only field set`.
        "akitaonrails/ai-memory#735",
        // `only 'enum' and 'date-time' are supported for STRING type`.
        "langchain-mcp-tools-ts#36",
    ],
    tool_name_length: 64,
    tool_description_length: None,
    keys: KeyRule::Ascii { also: "_", starts_with_letter: true, length: 64 },
    keywords: &[
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
    ],
    formats: Some(&["date-time"]),
    nulls: Nulls::Keyword,
    root_composition: false,
    any_of_alone: true,
    ref_alone: true,
    strict: false,
    limits: Limits::NONE,
};

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Dialect] = &[JSON_SCHEMA, OPENAI, OPENAI_STRICT, ANTHROPIC, GEMINI];

    /// Returns the dialect of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Dialect> {
        Dialect::ALL.iter().find(|dialect| dialect.name == name)
    }

    /// Whether a keyword is accepted.
    #[must_use]
    pub fn takes(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }

    /// Whether a value of `format` is accepted for a text.
    #[must_use]
    pub fn takes_format(&self, format: &str) -> bool {
        self.takes("format") && self.formats.is_none_or(|formats| formats.contains(&format))
    }
}

impl KeyRule {
    /// Whether an object may have this key.
    #[must_use]
    pub const fn takes(self, key: &str) -> bool {
        let KeyRule::Ascii { also, starts_with_letter, length } = self else { return true };
        let (bytes, also) = (key.as_bytes(), also.as_bytes());
        if bytes.is_empty() || bytes.len() > length {
            return false;
        }
        if starts_with_letter && !(bytes[0].is_ascii_alphabetic() || bytes[0] == b'_') {
            return false;
        }
        let mut index = 0;
        while index < bytes.len() {
            let mut allowed = bytes[index].is_ascii_alphanumeric();
            let mut other = 0;
            while other < also.len() {
                allowed |= also[other] == bytes[index];
                other += 1;
            }
            if !allowed {
                return false;
            }
            index += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests;
