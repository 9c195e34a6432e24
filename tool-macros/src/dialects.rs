//! The dialects that a tool must support: the dialects of its attribute, or of the whole crate.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::argument;
use crate::attr;
use crate::errors::{Errors, at};
use crate::param::Argument;

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

/// Returns the constants of the dialects that the attribute names, or of the dialects of the crate.
pub(crate) fn constants(dialects: &[Ident], errors: &mut Errors) -> Vec<Ident> {
    if !dialects.is_empty() {
        return dialects.iter().map(|ident| constant(&ident.to_string(), ident.span())).collect();
    }
    let value = std::env::var(VARIABLE).unwrap_or_default();
    let names = value.split(',').map(|name| name.trim().replace('-', "_")).filter(|name| !name.is_empty());
    let mut constants = Vec::new();
    for name in names {
        if DIALECTS.contains(&name.as_str()) {
            constants.push(constant(&name, Span::call_site()));
        } else {
            let message = attr::unknown_key(&name, &format!("`{VARIABLE}`"), DIALECTS);
            errors.push(syn::Error::new(Span::call_site(), message));
        }
    }
    constants
}

fn constant(name: &str, span: Span) -> Ident {
    Ident::new(&name.to_uppercase(), span)
}

/// Returns code that makes the compiler rebuild when the variable changes.
pub(crate) fn track_variable() -> TokenStream {
    quote!(
        const _: __toolgen::Option<&'static __toolgen::str> = ::core::option_env!(#VARIABLE);
    )
}

/// Returns the constants that check an argument against dialects, with the span of the argument. If `exact`, the
/// dialects must be able to express all rules of the argument.
pub(crate) fn checks(
    dialects: &[Ident],
    tool: &str,
    argument: &Argument,
    span: Span,
    exact: bool,
) -> Vec<TokenStream> {
    let (name, ty, field) =
        (&argument.name, argument::decoded_type(argument), argument::field(argument, span));
    let span = at(span);
    let check = |dialect: &Ident| {
        let dialect = Ident::new(&dialect.to_string(), span);
        let call = if exact {
            quote_spanned!(span=> exact_check::argument::<#ty>(#tool, const { &#field }, &__toolgen::dialect::#dialect))
        } else {
            quote_spanned!(span=> dialect_check::argument::<#ty>(#tool, #name, &__toolgen::dialect::#dialect))
        };
        quote_spanned!(span=> const _: () = __toolgen::#call;)
    };
    dialects.iter().map(check).collect()
}

/// Returns the constants that reject a rule between arguments if a dialect has no such rules. Their span is the span of
/// the rule.
pub(crate) fn rule_checks(dialects: &[Ident], tool: &str, span: Span) -> TokenStream {
    let span = at(span);
    let check = |dialect: &Ident| {
        let dialect = Ident::new(&dialect.to_string(), span);
        quote_spanned!(span=> const _: () = __toolgen::exact_check::relations(#tool, &__toolgen::dialect::#dialect);)
    };
    dialects.iter().map(check).collect()
}
