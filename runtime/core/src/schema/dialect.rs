//! The rules of each LLM provider for tools, one row per provider and mode, one file per vendor.
//!
//! The rows are data: when a rule changes, a row changes. They record what the providers' documentation, the source of
//! their SDKs and reports of refused requests say; each row names its sources and the day they were checked. If the
//! sources leave a question open, the row takes the careful answer, and its sources say so.

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
    /// The name, as the command line takes it, such as `json-schema`, `openai-strict` or `gemini`.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The day the row was compared with its sources.
    pub checked_on: &'static str,
    /// Where the rules come from.
    pub sources: &'static [&'static str],
    /// The names that a tool may have.
    pub tool_names: KeyRule,
    /// The longest description of a tool, in characters; `None` means that no limit is known.
    pub tool_description_length: Option<usize>,
    /// The keys that an object may have. A field with another key is sent under a key that is allowed.
    pub keys: KeyRule,
    /// The keywords that are accepted, apart from those every dialect accepts (`type`, `description`, `properties`,
    /// `required`, `items`, `enum` of texts, `anyOf`). Others move into descriptions.
    pub keywords: &'static [&'static str],
    /// The values of `format` that are accepted for texts; `None` means all of them.
    pub formats: Option<&'static [&'static str]>,
    /// The regular expressions that `pattern` may hold, if it is accepted.
    pub patterns: Patterns,
    /// The engine that compiles them; in case of doubt, one that takes less.
    pub engine: Engine,
    /// The largest value that `minItems` may have; `None` means any.
    pub min_items: Option<u64>,
    /// How the dialect says that `null` is allowed.
    pub nulls: Nulls,
    /// Whether `anyOf`, `oneOf` and `allOf` may occur at the root.
    pub root_composition: bool,
    /// Whether `anyOf` allows no other keywords next to it.
    pub any_of_alone: bool,
    /// Whether `$ref` allows no other keywords next to it.
    pub ref_alone: bool,
    /// Whether a named schema may contain itself. If not, the inner one is written as JSON text, which decoding reads.
    pub recursion: bool,
    /// Whether an object may have no properties. If not, such objects, maps and any values are written as JSON text, which
    /// decoding reads.
    pub empty_objects: bool,
    /// Whether an object may have keys other than its properties, by `additionalProperties` or `patternProperties`. If
    /// not, such keys are a list of pairs of a key and a value, which decoding reads.
    pub open_objects: bool,
    /// Whether an object that does not say otherwise has no keys but its properties, contrary to JSON Schema.
    pub closed_by_default: bool,
    /// Whether a schema may leave the type open. If not, any value is written as JSON text, which decoding reads.
    pub untyped: bool,
    /// Whether listed values stand next to their `type`.
    pub typed_values: bool,
    /// Whether listed values may be the empty text.
    pub empty_values: bool,
    /// Whether a field may be left out. If not, every field is required, and `null` stands for an optional one that is
    /// left out.
    pub optional_fields: bool,
    /// Whether the provider holds the model to the schema, so that the request asks for it if there is a flag.
    pub strict: bool,
    /// The dialect in which a tool of the same request may be shown instead, if this one refuses it or its limits leave no
    /// room; `None` if all tools of a request are shown in this one.
    pub fallback: Option<&'static Dialect>,
    /// The limits on the size of a schema.
    pub limits: SchemaLimits,
    /// The limits on all tools of a request together.
    pub requests: RequestLimits,
}

/// The keys that an object may have, or the names of tools.
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
    /// A variant of `anyOf`.
    AnyOf,
    /// OpenAPI 3.0's `nullable: true`.
    Keyword,
}

/// The regular expressions that a dialect takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patterns {
    /// All of ECMA-262.
    All,
    /// Those without assertions about the surrounding text (`(?=`, `(?!`, `(?<=`, `(?<!`, `\b`) and back references:
    /// those that an automaton can decide.
    Regular,
    /// As [`Patterns::Regular`], from `^` to `$`.
    Anchored,
}

/// The limits on the size of a schema; `None` means that no limit is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    /// The number of properties of all objects together.
    pub properties: Option<usize>,
    /// The number of levels of objects and arrays; the root and each named schema are counted separately.
    pub depth: Option<usize>,
    /// The number of listed values of all enumerations together.
    pub enum_values: Option<usize>,
    /// The number of characters of all names of properties and named schemas and of all listed values together.
    pub characters: Option<usize>,
}

impl SchemaLimits {
    /// No known limit.
    pub const NONE: SchemaLimits =
        SchemaLimits { properties: None, depth: None, enum_values: None, characters: None };
}

/// The limits on all tools of a request together; `None` means that no limit is known.
///
/// Fields of named schemas are not counted, however often they are referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// The number of tools.
    pub tools: Option<usize>,
    /// The number of tools with a strict schema.
    pub strict_tools: Option<usize>,
    /// The number of fields of all strict tools.
    pub fields: Option<usize>,
    /// The number of fields of all strict tools that may be left out.
    pub optional_fields: Option<usize>,
    /// The number of fields of all strict tools with several types: a list of types, or `anyOf`.
    pub union_fields: Option<usize>,
    /// The number of fields of a single strict tool that may be left out: the grammar of more is too large to be compiled.
    pub optional_fields_of_tool: Option<usize>,
}

impl RequestLimits {
    /// No known limit.
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

/// The names of tools that OpenAI and the interfaces that follow it accept.
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

    /// Returns the dialect of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Dialect> {
        Dialect::ALL.iter().find(|dialect| dialect.name == name)
    }

    /// Whether every value is written as it is, so that decoding has nothing to convert back.
    #[must_use]
    pub(crate) fn is_plain(&self) -> bool {
        let forms = self.optional_fields && self.empty_objects && self.open_objects && self.untyped;
        forms && self.recursion && self.accepts("$ref") && self.accepts("allOf")
    }

    /// Whether a keyword is accepted.
    #[must_use]
    pub fn accepts(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }

    /// Whether a value of `format` is accepted for a text.
    #[must_use]
    pub fn accepts_format(&self, format: &str) -> bool {
        self.accepts("format") && self.formats.is_none_or(|formats| formats.contains(&format))
    }
}

impl Patterns {
    /// Whether a regular expression is one of them.
    #[must_use]
    pub fn accepts(self, pattern: &str) -> bool {
        let regular = || {
            let mut escaped = false;
            !["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
                && !pattern.chars().any(|c| {
                    let refers_back = escaped && matches!(c, '1'..='9' | 'k' | 'b' | 'B');
                    escaped = c == '\\' && !escaped;
                    refers_back
                })
        };
        match self {
            Patterns::All => true,
            Patterns::Regular => regular(),
            Patterns::Anchored => {
                regular() && pattern.starts_with('^') && pattern.ends_with('$') && !pattern.ends_with("\\$")
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
            let mut allowed = bytes[index].is_ascii_alphanumeric();
            let mut other = 0;
            while !allowed && other < also.len() {
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
