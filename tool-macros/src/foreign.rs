//! Types of other crates, which use `schemars` for the schema and `serde` for decoding: `#[arg(schemars)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

/// A type of another crate, of an argument or a field.
pub(crate) struct Foreign {
    /// The generated marker type that carries the name.
    marker: Ident,
    /// The type, without its `Option`.
    ty: TokenStream,
    /// Whether the type is in an `Option`, and therefore optional.
    is_optional: bool,
}

impl Foreign {
    /// Reads the type of an argument or a field. `marker` is the name of a type, unique in its scope.
    pub(crate) fn new(marker: Ident, ty: &TokenStream) -> Foreign {
        match inside_option(ty) {
            Some(ty) => Foreign { marker, ty, is_optional: true },
            None => Foreign { marker, ty: ty.clone(), is_optional: false },
        }
    }

    /// Returns the type that is decoded.
    pub(crate) fn decoded_type(&self) -> TokenStream {
        let Foreign { marker, ty, is_optional } = self;
        let foreign = quote!(__toolgen::Foreign<#ty, #marker>);
        if *is_optional { quote!(__toolgen::Option<#foreign>) } else { foreign }
    }

    /// Returns an expression of the unwrapped value, from an expression of the decoded type.
    pub(crate) fn unwrapped(&self, decoded: &TokenStream) -> TokenStream {
        if self.is_optional {
            quote!(__toolgen::Foreign::optional(#decoded))
        } else {
            quote!(__toolgen::Foreign::value(#decoded))
        }
    }

    /// Returns an expression of the decoded type, from an expression of the unwrapped value.
    pub(crate) fn wrapped(&self, value: &TokenStream) -> TokenStream {
        if self.is_optional {
            quote!(__toolgen::Foreign::of_optional(#value))
        } else {
            quote!(__toolgen::Foreign::of(#value))
        }
    }

    /// Returns the declaration of the type that carries the name.
    pub(crate) fn declaration(&self) -> TokenStream {
        let marker = &self.marker;
        // A name contains no spaces.
        let text: String = self.ty.to_string().chars().filter(|c| !c.is_whitespace()).collect();
        let is_plain = text.split(['<', '[', '(']).count() == 1;
        let name = if is_plain { text.rsplit("::").next().unwrap_or_default() } else { &text };
        let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let name = name.trim_matches('_');
        quote! {
            #[allow(non_camel_case_types)]
            struct #marker;

            impl __toolgen::ForeignName for #marker {
                const NAME: &'static __toolgen::str = ::core::concat!(::core::module_path!(), "::", #name);
            }
        }
    }
}

/// Returns the type inside an `Option`.
fn inside_option(ty: &TokenStream) -> Option<TokenStream> {
    let Ok(Type::Path(path)) = syn::parse2::<Type>(ty.clone()) else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner.to_token_stream()),
        _ => None,
    }
}
