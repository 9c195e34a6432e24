//! The dialects a tool must fit: those its attribute names, and those set for the whole crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::attr;
use crate::errors::Errors;

/// The dialects of the runtime, as attributes name them.
pub(crate) const DIALECTS: &[&str] = &[
    "json_schema",
    "openai",
    "openai_strict",
    "anthropic",
    "anthropic_strict",
    "gemini",
    "gemini_json_schema",
    "bedrock",
    "bedrock_strict",
    "mistral",
    "mistral_strict",
    "cohere",
    "cohere_strict",
    "xai",
    "deepseek",
    "deepseek_strict",
    "groq",
    "ollama",
    "llama_cpp",
];

/// The environment variable that sets the dialects of a crate, in `.cargo/config.toml` or by a build script:
/// `TOOLGEN_DIALECTS=openai-strict,gemini`.
const VARIABLE: &str = "TOOLGEN_DIALECTS";

/// Returns the constants of the dialects: those that are named, or those of the crate.
pub(crate) fn constants(named: &[Ident], errors: &mut Errors) -> Vec<Ident> {
    if !named.is_empty() {
        return named.iter().map(|ident| constant(&ident.to_string(), ident.span())).collect();
    }
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    let names = asked.split(',').map(|name| name.trim().replace('-', "_")).filter(|name| !name.is_empty());
    let mut constants = Vec::new();
    for name in names {
        if DIALECTS.contains(&name.as_str()) {
            constants.push(constant(&name, Span::call_site()));
        } else {
            let message = attr::unknown(&name, &format!("`{VARIABLE}`"), DIALECTS);
            errors.push(syn::Error::new(Span::call_site(), message));
        }
    }
    constants
}

fn constant(name: &str, span: Span) -> Ident {
    Ident::new(&name.to_uppercase(), span)
}

/// Returns code that makes the compiler rebuild when the variable changes.
pub(crate) fn tracked() -> TokenStream {
    quote!(
        const _: __toolgen::Option<&'static __toolgen::str> = ::core::option_env!(#VARIABLE);
    )
}
