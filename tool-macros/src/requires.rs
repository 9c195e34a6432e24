//! `requires(…)`: the requirements that must be met before a tool is called.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{LitStr, Token};

use crate::attr;
use crate::errors::Errors;

const KINDS: &[&str] = &["context", "session", "entity", "tool", "service", "custom"];

/// A requirement.
pub(crate) struct Requirement {
    /// The kind, as in the source.
    pub(crate) kind: String,
    /// The name.
    pub(crate) name: LitStr,
    /// The argument that identifies it.
    pub(crate) argument: Option<LitStr>,
    /// Whether it does not block the call.
    pub(crate) is_optional: bool,
    /// The value of the runtime's type.
    pub(crate) value: TokenStream,
}

/// Reads `entity("order", argument = "order_id", message = "…", optional)`.
pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Option<Requirement> {
    let parser = |input: ParseStream<'_>| {
        let kind: Ident = input.parse()?;
        if !input.peek(syn::token::Paren) {
            return Err(syn::Error::new(kind.span(), format!("`{kind}` needs a name: `{kind}(\"…\")`")));
        }
        let content;
        syn::parenthesized!(content in input);
        let name: LitStr = content.parse()?;
        let options: TokenStream = if content.is_empty() {
            TokenStream::new()
        } else {
            content.parse::<Token![,]>()?;
            content.parse()?
        };
        Ok((kind, name, options))
    };
    let (kind, name, options) = errors.ok(parser.parse2(tokens))?;
    let text = kind.unraw().to_string();
    if !KINDS.contains(&text.as_str()) {
        errors.at(&kind, attr::unknown_key(&text, "`requires`", KINDS));
        return None;
    }
    let (mut fields, mut argument, mut is_optional) = (Vec::new(), None, false);
    for key in attr::read_keys(options, "a requirement", &["argument", "message", "optional"], errors) {
        let field = key.name.clone();
        if key.as_str() == "optional" {
            is_optional = key.flag(errors)?;
            fields.push(quote!(optional: #is_optional));
        } else {
            let text = key.text(errors)?;
            fields.push(quote!(#field: __toolgen::S(#text)));
            if field == "argument" {
                argument = Some(text);
            }
        }
    }
    let mut variant = text.clone();
    variant[..1].make_ascii_uppercase();
    let kind = Ident::new(&variant, kind.span());
    let value = quote!(__toolgen::Requirement {
        kind: __toolgen::RequirementKind::#kind,
        name: __toolgen::S(#name),
        #(#fields,)*
        ..__toolgen::REQUIREMENT
    });
    Some(Requirement { kind: text, name, argument, is_optional, value })
}
