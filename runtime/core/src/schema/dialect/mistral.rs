//! Mistral: Chat Completions.

use super::{Dialect, OPENAI, OPENAI_STRICT, RequestLimits};

/// Mistral function calling.
pub const MISTRAL: Dialect = Dialect {
    name: "mistral",
    title: "Mistral",
    checked_on: "2026-11-22",
    sources: &[
        // Names: letters, digits, `_` and `-`, at most 64.
        "kopiloto/witsy#164",
        // The envelope of OpenAI. The keywords are not documented; those of OpenAI are assumed.
        "mistralai 3.7.0, models/function.py",
    ],
    tool_description_length: None,
    requests: RequestLimits::NONE,
    ..OPENAI
};

/// Mistral function calling in strict mode.
pub const MISTRAL_STRICT: Dialect = Dialect {
    name: "mistral-strict",
    title: "Mistral strict",
    checked_on: "2026-11-22",
    sources: &[
        // The flag. The accepted schemas are not documented; the strict subset of OpenAI is assumed.
        "mistralai 3.7.0, models/function.py",
    ],
    tool_description_length: None,
    requests: RequestLimits::NONE,
    fallback: Some(&MISTRAL),
    ..OPENAI_STRICT
};
