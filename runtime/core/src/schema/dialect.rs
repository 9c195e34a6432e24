//! The rules of each LLM provider for tools: one row per provider and mode, one file per vendor.
//!
//! The rows are data: when a rule changes, a row changes. They are based on the providers' documentation, the source
//! of their SDKs, and reports of rejected requests. Each row names its sources and the day they were checked. If the
//! sources leave a question open, the row makes the conservative choice, and a comment in its sources notes that.

mod anthropic;
mod bedrock;
mod cohere;
mod deepseek;
mod engine;
mod gemini;
mod groq;
mod json_schema;
mod llama_cpp;
mod mistral;
mod openai;
mod xai;

pub use anthropic::{ANTHROPIC, ANTHROPIC_STRICT};
pub use bedrock::{BEDROCK, BEDROCK_STRICT};
pub use cohere::{COHERE, COHERE_STRICT};
pub use deepseek::{DEEPSEEK, DEEPSEEK_STRICT};
pub use engine::Engine;
pub use gemini::{GEMINI, GEMINI_JSON_SCHEMA};
pub use groq::GROQ;
pub use json_schema::JSON_SCHEMA;
pub use llama_cpp::{LLAMA_CPP, OLLAMA};
pub use mistral::{MISTRAL, MISTRAL_STRICT};
pub use openai::{OPENAI, OPENAI_STRICT};
pub use xai::XAI;

/// The rules of one provider, in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name, as on the command line: `json-schema`, `openai-strict`, `gemini`.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The day on which the row was compared with its sources.
    pub checked_on: &'static str,
    /// The sources of the rules.
    pub sources: &'static [&'static str],
    /// The allowed names of tools.
    pub tool_names: KeyRule,
    /// Maximum length of a tool's description, in characters; `None` if no limit is known.
    pub tool_description_length: Option<usize>,
    /// The allowed keys of objects. A field with another key is renamed to an allowed key.
    pub keys: KeyRule,
    /// The accepted keywords, in addition to those that every dialect accepts (`type`, `description`, `properties`,
    /// `required`, `items`, `enum` of strings, `anyOf`). Other keywords move into descriptions.
    pub keywords: &'static [&'static str],
    /// The accepted values of `format` for strings; `None` accepts all.
    pub formats: Option<&'static [&'static str]>,
    /// The regular expressions that `pattern` accepts, if the dialect has the keyword.
    pub patterns: Patterns,
    /// The engine that compiles them. If the engine is unknown, an engine that accepts less.
    pub engine: Engine,
    /// Maximum value of `minItems`; `None` if there is no maximum.
    pub min_items: Option<u64>,
    /// How the dialect allows `null`.
    pub nulls: Nulls,
    /// Whether `anyOf`, `oneOf` and `allOf` may occur at the root.
    pub root_composition: bool,
    /// Whether `anyOf` forbids other keywords next to it.
    pub any_of_alone: bool,
    /// Whether `$ref` forbids other keywords next to it.
    pub ref_alone: bool,
    /// Whether a named schema may contain itself. If not, the inner value is written as JSON text, which decoding
    /// parses.
    pub recursion: bool,
    /// Whether an object may have no properties. If not, such objects, maps and values of any type are written as
    /// JSON text, which decoding parses.
    pub empty_objects: bool,
    /// Whether an object may have other keys than its properties, with `additionalProperties` or `patternProperties`.
    /// If not, these keys are written as an array of key-value pairs, which decoding reads.
    pub open_objects: bool,
    /// Whether an object without `additionalProperties` is closed, contrary to JSON Schema.
    pub closed_by_default: bool,
    /// Whether a schema may omit `type`. If not, a value of any type is written as JSON text, which decoding parses.
    pub untyped: bool,
    /// Whether `enum` needs a `type` next to it.
    pub typed_values: bool,
    /// Whether `enum` may contain the empty string.
    pub empty_values: bool,
    /// Whether a field may be omitted. If not, every field is required, and `null` means that an optional field is
    /// absent.
    pub optional_fields: bool,
    /// Whether the provider enforces the schema (strict mode). If the API has a flag for it, requests set the flag.
    pub strict: bool,
    /// The dialect to use instead for a tool of the same request, if this dialect rejects the tool or its limits are
    /// exhausted; `None` if all tools of a request use this dialect.
    pub fallback: Option<&'static Dialect>,
    /// The size limits of one schema.
    pub limits: SchemaLimits,
    /// The limits of all tools of a request together.
    pub requests: RequestLimits,
}

/// The allowed keys of objects, or names of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// Any key.
    Any,
    /// ASCII letters, digits and the characters in `also`, up to a length.
    Ascii {
        /// The allowed characters other than letters and digits.
        also: &'static str,
        /// Whether the first character must be a letter or `_`.
        starts_with_letter: bool,
        /// Maximum length of a key, in characters.
        length: usize,
    },
}

/// How a dialect allows `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nulls {
    /// `type: [T, "null"]`, or a variant of `anyOf`.
    Type,
    /// A variant of `anyOf`.
    AnyOf,
    /// OpenAPI 3.0's `nullable: true`.
    Keyword,
}

/// The regular expressions that a dialect accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// All of ECMA-262.
    All,
    /// Without assertions about the surrounding text (`(?=`, `(?!`, `(?<=`, `(?<!`, `\b`) and without back
    /// references: those that a finite automaton can decide.
    Regular,
    /// Like [`Patterns::Regular`], and anchored: from `^` to `$`.
    Anchored,
}

/// The size limits of one schema; `None` if no limit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    /// Maximum number of properties of all objects together.
    pub properties: Option<usize>,
    /// Maximum number of levels of objects and arrays. The root and each named schema are counted separately.
    pub depth: Option<usize>,
    /// Maximum number of `enum` values of all enumerations together.
    pub enum_values: Option<usize>,
    /// Maximum number of characters of all property names, schema names and `enum` values together.
    pub characters: Option<usize>,
}

impl SchemaLimits {
    /// No known limits.
    pub const NONE: SchemaLimits =
        SchemaLimits { properties: None, depth: None, enum_values: None, characters: None };
}

/// The limits of all tools of a request together; `None` if no limit is known.
///
/// Fields of named schemas are not counted, regardless of how many references they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Maximum number of tools.
    pub tools: Option<usize>,
    /// Maximum number of tools with a strict schema.
    pub strict_tools: Option<usize>,
    /// Maximum number of fields of all strict tools.
    pub fields: Option<usize>,
    /// Maximum number of optional fields of all strict tools.
    pub optional_fields: Option<usize>,
    /// Maximum number of fields with several types (an array of types, or `anyOf`) of all strict tools.
    pub union_fields: Option<usize>,
    /// Maximum number of optional fields of one strict tool. The grammar of a larger tool cannot be compiled.
    pub optional_fields_of_tool: Option<usize>,
}

impl RequestLimits {
    /// No known limits.
    pub const NONE: RequestLimits = RequestLimits {
        tools: None,
        strict_tools: None,
        fields: None,
        optional_fields: None,
        union_fields: None,
        optional_fields_of_tool: None,
    };
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

/// The names of tools that OpenAI and compatible APIs accept.
const OPENAI_NAMES: KeyRule = KeyRule::Ascii { also: "_-", starts_with_letter: false, length: 64 };

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Dialect] = &[
        JSON_SCHEMA,
        OPENAI,
        OPENAI_STRICT,
        ANTHROPIC,
        ANTHROPIC_STRICT,
        GEMINI,
        GEMINI_JSON_SCHEMA,
        BEDROCK,
        BEDROCK_STRICT,
        MISTRAL,
        MISTRAL_STRICT,
        COHERE,
        COHERE_STRICT,
        XAI,
        DEEPSEEK,
        DEEPSEEK_STRICT,
        GROQ,
        OLLAMA,
        LLAMA_CPP,
    ];

    /// Returns the dialect with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Dialect> {
        Dialect::ALL.iter().find(|dialect| dialect.name == name)
    }

    /// Whether every value is written unchanged, so that decoding has nothing to convert back.
    #[must_use]
    pub(crate) fn is_plain(&self) -> bool {
        let has_plain_values =
            self.optional_fields && self.empty_objects && self.open_objects && self.untyped;
        has_plain_values && self.recursion && self.accepts("$ref") && self.accepts("allOf")
    }

    /// Whether a keyword is accepted.
    #[must_use]
    pub fn accepts(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }

    /// Whether a value of `format` is accepted for strings.
    #[must_use]
    pub fn accepts_format(&self, format: &str) -> bool {
        self.accepts("format") && self.formats.is_none_or(|formats| formats.contains(&format))
    }
}

impl Patterns {
    /// Whether a regular expression is accepted.
    #[must_use]
    pub fn accepts(self, pattern: &str) -> bool {
        let is_regular = || {
            let mut escaped = false;
            !["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
                && !pattern.chars().any(|c| {
                    let is_unsupported = escaped && matches!(c, '1'..='9' | 'k' | 'b' | 'B');
                    escaped = c == '\\' && !escaped;
                    is_unsupported
                })
        };
        match self {
            Patterns::All => true,
            Patterns::Regular => is_regular(),
            Patterns::Anchored => {
                is_regular()
                    && pattern.starts_with('^')
                    && pattern.ends_with('$')
                    && !pattern.ends_with("\\$")
            }
        }
    }
}

impl KeyRule {
    /// Whether an object may have this key.
    #[must_use]
    pub const fn accepts(self, key: &str) -> bool {
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
            let mut is_allowed = bytes[index].is_ascii_alphanumeric();
            let mut also_index = 0;
            while !is_allowed && also_index < also.len() {
                is_allowed |= also[also_index] == bytes[index];
                also_index += 1;
            }
            if !is_allowed {
                return false;
            }
            index += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests;
