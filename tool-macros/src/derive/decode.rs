//! Generates the code that decodes a validated value.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::serde_attr::{self, Tagging};
use super::{Field, Input, Payload, Shape, Variant, variable};
use crate::errors::at;

/// Returns the body of `decode_borrowed`, for the variable `value`.
pub(super) fn decode(input: &Input) -> TokenStream {
    match &input.data {
        Shape::Struct(payload) => {
            let value_expr = payload_of(&quote!(Self), payload, input.attr.default);
            quote!(__toolgen::Ok(#value_expr))
        }
        Shape::Enum(variants) => variants_of(variants, &input.attr.tagging),
    }
}

/// Returns the expression that builds a struct or a variant from the variable `value`.
fn payload_of(path: &TokenStream, payload: &Payload, defaults: bool) -> TokenStream {
    match payload {
        Payload::Unit => quote!({ <() as __toolgen::ToolInput>::decode_borrowed(value)?; #path }),
        Payload::Newtype(field) => {
            let (ty, member) = (&field.ty, &field.member);
            let type_expr = quote_spanned!(at(field.span)=> __toolgen::of::<#ty>());
            let value_expr = field.unwrapped(&quote!((#type_expr.make)(value)?));
            quote!(#path { #member: #value_expr })
        }
        Payload::Tuple(fields) => {
            let count = fields.len();
            let takes = fields.iter().map(|field| {
                let (ty, member) = (&field.ty, &field.member);
                let type_expr = quote_spanned!(at(field.span)=> __toolgen::of::<#ty>());
                let value_expr = field.unwrapped(&quote!(items.next(#type_expr)?));
                quote!(#member: #value_expr)
            });
            quote!({ let mut items = __toolgen::Items::new(value, #count)?; #path { #(#takes),* } })
        }
        Payload::Named(fields) => decode_struct(path, fields, defaults),
    }
}

fn decode_struct(path: &TokenStream, fields: &[Field], has_base: bool) -> TokenStream {
    let base = has_base.then(|| quote!(let base: Self = __toolgen::Default::default();));
    // First named fields, then flattened types, then the field with the remaining keys.
    let is_flattened = |field: &Field| field.serde.flatten;
    let mut sorted: Vec<(usize, &Field)> = fields.iter().enumerate().collect();
    sorted.sort_by_key(|(_, field)| is_flattened(field));
    let binds = sorted.iter().map(|(index, field)| {
        let (variable, value_expr) = (variable(*index), decode_field(field));
        quote!(let #variable = #value_expr;)
    });
    let members = fields.iter().enumerate().map(|(index, field)| {
        let (member, variable) = (&field.member, variable(index));
        quote!(#member: #variable)
    });
    quote!({
        let mut fields = __toolgen::Fields::new(value)?;
        #base
        #(#binds)*
        fields.end()?;
        #path { #(#members),* }
    })
}

/// Returns the expression of a field's default, if it has one, in the decoded type. `of_container` is the expression of
/// the container's default.
pub(super) fn default_of(field: &Field, of_container: &TokenStream) -> Option<TokenStream> {
    let span = at(field.span);
    let default = match (&field.arg.default, &field.serde.default) {
        (Some(_), _) => field.arg.default_expr(),
        (None, Some(serde_attr::Default::Path(path))) => Some(quote!(#path())),
        (None, Some(serde_attr::Default::OfType)) => {
            Some(quote_spanned!(span=> __toolgen::Default::default()))
        }
        (None, None) if field.serde.container_default => Some(of_container.clone()),
        (None, None) => None,
    };
    default.map(|default| field.wrapped(&default))
}

fn decode_field(field: &Field) -> TokenStream {
    let (ty, name, member) = (&field.ty, &field.name, &field.member);
    let span = at(field.span);
    let default = default_of(field, &quote!(base.#member));
    if field.serde.skip {
        let default = default.unwrap_or_else(|| quote_spanned!(span=> __toolgen::Default::default()));
        return quote!({ let skipped: #ty = #default; skipped });
    }
    if field.serde.flatten {
        return field.unwrapped(&quote!(fields.flat::<#ty>()?));
    }
    let type_expr = quote_spanned!(span=> __toolgen::of::<#ty>());
    let value_expr = match default {
        Some(default) => quote!(fields.take_or(#type_expr, #name, || #default)?),
        None => quote!(fields.take(#type_expr, #name)?),
    };
    field.unwrapped(&value_expr)
}

fn variants_of(variants: &[Variant], tagging: &Tagging) -> TokenStream {
    let tag_tokens = match tagging {
        Tagging::External => quote!(__toolgen::external(value)?),
        Tagging::Internal(tag) => quote!(__toolgen::internal(value, #tag)?),
        Tagging::Adjacent(tag, content) => quote!(__toolgen::adjacent(value, #tag, #content)?),
        Tagging::Untagged => return untagged(variants),
    };
    let is_internal = matches!(tagging, Tagging::Internal(_));
    let arms = variants.iter().map(|variant| {
        let names = [&variant.name].into_iter().chain(&variant.aliases);
        let ident = &variant.ident;
        let path = quote!(Self::#ident);
        let made = match (&variant.payload, is_internal) {
            (Payload::Unit, true) => quote!({ __toolgen::Fields::new(value)?.end()?; #path }),
            (payload, _) => payload_of(&path, payload, false),
        };
        quote!(#(#names)|* => #made,)
    });
    let names = variants.iter().map(|variant| &variant.name);
    let within = match tagging {
        Tagging::External => quote!(__toolgen::Some(&name)),
        Tagging::Adjacent(_, content) => quote!(__toolgen::Some(#content)),
        _ => quote!(__toolgen::None),
    };
    quote! {
        let (name, value) = #tag_tokens;
        let made = (|| __toolgen::Ok(match __toolgen::as_str(&name) {
            #(#arms)*
            other => return __toolgen::Err(__toolgen::no_variant(other, &[#(#names),*])),
        }))();
        __toolgen::placed(made, #within)
    }
}

fn untagged(variants: &[Variant]) -> TokenStream {
    let tries = variants.iter().map(|variant| {
        let ident = variant.ident.to_token_stream();
        let made = payload_of(&quote!(Self::#ident), &variant.payload, false);
        quote! {
            let tried: __toolgen::Result<Self, __toolgen::ArgumentProblem> = (|value: __toolgen::BorrowedValue<'_>| {
                __toolgen::Ok(#made)
            })(__toolgen::BorrowedValue::of(__toolgen::copy_of(&value)));
            if tried.is_ok() {
                return tried;
            }
        }
    });
    quote! {
        let value = value.into_value();
        #(#tries)*
        __toolgen::Err(__toolgen::problem("one of the variants of the argument", &value))
    }
}
