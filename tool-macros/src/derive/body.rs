//! Generates the shape of a type.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::serde_attr::Tagging;
use super::{Field, Input, Payload, Shape, Variant};
use crate::arg_attr::DefaultValue;
use crate::docs::Description;
use crate::errors::at;
use crate::rules;

/// Whether the shape is inlined where the type is used, instead of referenced by name: for unit-only enums and
/// newtypes.
pub(super) fn is_inline(input: &Input) -> bool {
    match &input.data {
        Shape::Struct(Payload::Unit) => true,
        // A type that wraps itself needs a name.
        Shape::Struct(Payload::Newtype(field)) => !mentions_type(&field.ty, &input.ident.to_string()),
        Shape::Struct(_) => false,
        Shape::Enum(variants) => is_plain(input, variants),
    }
}

/// Returns the type that a newtype wraps.
pub(super) fn inherits_body(input: &Input) -> Option<&TokenStream> {
    match &input.data {
        Shape::Struct(Payload::Newtype(field)) => Some(&field.ty),
        _ => None,
    }
}

fn mentions_type(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => ident == name || ident == "Self",
        proc_macro2::TokenTree::Group(group) => mentions_type(&group.stream(), name),
        _ => false,
    })
}

/// Whether an enum has only unit variants.
fn is_plain(input: &Input, variants: &[Variant]) -> bool {
    matches!(input.attr.tagging, Tagging::External)
        && variants.iter().all(|variant| matches!(variant.payload, Payload::Unit))
}

/// Returns the function that writes the unit variants of an externally tagged enum.
pub(super) fn default_json_fn(input: &Input) -> TokenStream {
    let Shape::Enum(variants) = &input.data else { return TokenStream::new() };
    let is_name = |variant: &&Variant| matches!(variant.payload, Payload::Unit);
    if !matches!(input.attr.tagging, Tagging::External) || !variants.iter().any(|variant| is_name(&variant)) {
        return TokenStream::new();
    }
    let arms = variants.iter().filter(is_name).map(|Variant { ident, name, .. }| {
        quote!(Self::#ident => __toolgen::Some(<__toolgen::Value as ::core::convert::From<&str>>::from(#name)),)
    });
    quote! {
        #[allow(unreachable_patterns)]
        fn default_json(&self) -> __toolgen::Option<__toolgen::Value> {
            match self {
                #(#arms)*
                _ => __toolgen::None,
            }
        }
    }
}

/// Whether serialization and deserialization use the same representation.
pub(super) fn is_symmetric(input: &Input) -> bool {
    let is_symmetric_payload = |payload: &Payload| match payload {
        Payload::Unit => true,
        Payload::Newtype(field) => !field.serde.asymmetric,
        Payload::Tuple(fields) | Payload::Named(fields) => fields
            .iter()
            .all(|field| !field.serde.asymmetric && !field.serde.skip && field.arg.rename.is_none()),
    };
    !input.attr.asymmetric
        && match &input.data {
            Shape::Struct(payload) => is_symmetric_payload(payload),
            Shape::Enum(variants) => variants.iter().all(|variant| is_symmetric_payload(&variant.payload)),
        }
}

/// Returns the functions that collect the types of the fields.
pub(super) fn type_collectors(input: &Input) -> Vec<TokenStream> {
    let collect = |payload: &Payload| -> Vec<TokenStream> {
        let collector = |field: &Field| {
            let ty = &field.ty;
            quote_spanned!(at(field.span)=> __toolgen::defs_of(__toolgen::of::<#ty>()))
        };
        match payload {
            Payload::Unit => Vec::new(),
            Payload::Newtype(field) => vec![collector(field)],
            Payload::Tuple(fields) | Payload::Named(fields) => {
                fields.iter().filter(|field| !field.serde.skip).map(collector).collect()
            }
        }
    };
    let mut collectors: Vec<TokenStream> = match &input.data {
        Shape::Struct(payload) => collect(payload),
        Shape::Enum(variants) => variants.iter().flat_map(|variant| collect(&variant.payload)).collect(),
    };
    let mut seen: Vec<String> = Vec::new();
    collectors.retain(|collector| {
        let text = collector.to_string();
        let is_new = !seen.contains(&text);
        seen.push(text);
        is_new
    });
    collectors
}

/// Returns the functions for non-constant defaults of a struct's fields, and for its flattened types.
pub(super) fn defaults(input: &Input, path: &TokenStream) -> Vec<TokenStream> {
    let Shape::Struct(Payload::Named(fields)) = &input.data else { return Vec::new() };
    let function = |body: TokenStream, span| quote_spanned!(at(span)=> |defs: &mut __toolgen::Defs| #body);
    let function_of = |field: &Field| {
        let Field { name, ty, member, span, .. } = field;
        if field.serde.flatten {
            return Some(function(quote!({ defs.flatten::<#ty>(#path); }), *span));
        }
        let is_literal =
            matches!(&field.arg.default, Some(DefaultValue::Value(expr)) if rules::literal(expr).is_some());
        if is_literal || field.serde.skip {
            return None;
        }
        let of_container = quote!(<Self as __toolgen::Default>::default().#member);
        let default = super::decode::default_of(field, &of_container)?;
        let tokens = quote!({
            #[allow(unused_imports)]
            use __toolgen::{DefaultFromSerialize as _, DefaultFromToolInput as _};
            let default = || -> #ty { #default };
            (&&__toolgen::Defaults(default(), default())).toolgen_default(#path, #name, defs);
        });
        Some(function(tokens, *span))
    };
    fields.iter().filter_map(function_of).collect()
}

/// Returns the expression of the whole shape.
pub(super) fn shape_expression(input: &Input) -> TokenStream {
    let shape = match &input.data {
        Shape::Struct(payload) => of_payload(payload, None),
        Shape::Enum(variants) if is_plain(input, variants) => names_shape(variants.iter()),
        Shape::Enum(variants) => union(variants, &input.attr.tagging),
    };
    match &input.data {
        Shape::Enum(variants) if is_plain(input, variants) => {
            let description = plain_description(input.description.as_ref(), variants.iter());
            with_description(shape, description.map(|text| quote!(#text)))
        }
        _ => with_description(shape, input.description.as_ref().map(Description::to_expr)),
    }
}

fn with_description(shape: TokenStream, description: Option<TokenStream>) -> TokenStream {
    match description {
        Some(description) => quote!(__toolgen::refine(
            const { &#shape },
            __toolgen::ArgumentRules { description: #description, ..__toolgen::ArgumentRules::NONE }
        )),
        None => shape,
    }
}

fn names_shape<'v>(variants: impl Iterator<Item = &'v Variant>) -> TokenStream {
    let names = variants.flat_map(|variant| [&variant.name].into_iter().chain(&variant.aliases));
    quote!(__toolgen::names(const { &[#(__toolgen::ConstLiteral::Str(#names).literal()),*] }))
}

/// Describes the values in one text: separate schemas would replace the `enum` keyword, which models know best.
fn plain_description<'v>(
    description: Option<&Description>,
    variants: impl Iterator<Item = &'v Variant>,
) -> Option<String> {
    let mut text = match description {
        Some(Description::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let documented = variants.filter_map(|variant| match &variant.description {
        Some(Description::Text(variant_text)) => Some(format!("- `{}`: {variant_text}", variant.name)),
        _ => None,
    });
    let list: Vec<String> = documented.collect();
    if !list.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&list.join("\n"));
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the shape of the content of a struct or a variant; a tag is the first of its fields.
fn of_payload(payload: &Payload, tag: Option<TokenStream>) -> TokenStream {
    match payload {
        Payload::Unit if tag.is_none() => quote!(__toolgen::null()),
        Payload::Unit => object(&[], tag),
        Payload::Newtype(field) => match tag {
            Some(tag) => {
                let ty = &field.ty;
                let span = at(field.span);
                let inner = quote_spanned!(span=> __toolgen::fields_of::<#ty>());
                join_fields(span, &[quote!(const { &[#tag] }), inner], &quote!(__toolgen::Extra::Closed))
            }
            None => value(field),
        },
        Payload::Tuple(fields) => {
            let shapes = fields.iter().map(value);
            quote!(__toolgen::tuple(const { &[#(#shapes),*] }))
        }
        Payload::Named(fields) => object(fields, tag),
    }
}

fn rules_of(field: &Field) -> TokenStream {
    let mut fields = Vec::new();
    if let Some(description) = &field.description {
        let description = description.to_expr();
        fields.push(quote!(description: #description));
    }
    if let Some(DefaultValue::Value(expr)) = &field.arg.default
        && let Some(literal) = rules::literal(expr)
    {
        fields.push(quote!(default: __toolgen::Some(#literal)));
    }
    let rules = field.arg.rules.to_expr(&shape_of(field));
    if fields.is_empty() { rules } else { quote!(__toolgen::ArgumentRules { #(#fields,)* ..#rules }) }
}

/// Returns the expression of the shape of a field's type.
fn shape_of(field: &Field) -> TokenStream {
    let ty = &field.ty;
    let type_expr = quote_spanned!(at(field.span)=> __toolgen::of::<#ty>());
    quote!(__toolgen::shape_of(#type_expr))
}

/// Returns constant expressions that check the attribute of a field.
pub(super) fn checks(field: &Field) -> Vec<TokenStream> {
    if field.serde.skip { Vec::new() } else { field.arg.checks(&shape_of(field), &field.text) }
}

fn value(field: &Field) -> TokenStream {
    let (ty, rules) = (&field.ty, rules_of(field));
    let type_expr = quote_spanned!(at(field.span)=> __toolgen::of::<#ty>());
    quote!(__toolgen::value(#type_expr, #rules))
}

/// Whether a field is optional, regardless of its type.
pub(super) fn has_default(field: &Field) -> bool {
    field.arg.default.is_some() || field.serde.default.is_some() || field.serde.container_default
}

fn object(fields: &[Field], tag: Option<TokenStream>) -> TokenStream {
    let direct = fields.iter().filter(|field| !field.serde.flatten && !field.serde.skip).map(|field| {
        let (name, ty, rules, default) = (&field.name, &field.ty, rules_of(field), has_default(field));
        let aliases = &field.aliases;
        let aliases =
            if aliases.is_empty() { quote!(&[]) } else { quote!(const { &[#(__toolgen::S(#aliases)),*] }) };
        let type_expr = quote_spanned!(at(field.span)=> __toolgen::of::<#ty>());
        quote!(__toolgen::field_of(#type_expr, #name, #aliases, #default, #rules))
    });
    let direct: Vec<TokenStream> = tag.into_iter().chain(direct).collect();
    let flat: Vec<&TokenStream> =
        fields.iter().filter(|field| field.serde.flatten).map(|field| &field.ty).collect();
    if flat.is_empty() {
        return quote!(__toolgen::object(const { &[#(#direct),*] }, &[], __toolgen::Extra::Closed));
    }
    let mut lists = vec![quote!(const { &[#(#direct),*] })];
    let flattened = fields.iter().filter(|field| field.serde.flatten);
    lists.extend(flattened.map(|field| {
        let ty = &field.ty;
        quote_spanned!(at(field.span)=> __toolgen::fields_of::<#ty>())
    }));
    let span =
        fields.iter().find(|field| field.serde.flatten).map_or_else(Span::call_site, |field| at(field.span));
    join_fields(span, &lists, &quote!(__toolgen::extra_of(const { &[#(__toolgen::extra::<#flat>()),*] })))
}

/// Returns an object with the fields of several lists. Duplicate names are reported at `span`.
fn join_fields(span: Span, lists: &[TokenStream], extra: &TokenStream) -> TokenStream {
    let joined = quote_spanned!(span=> __toolgen::join::<COUNT>(LISTS));
    quote!(__toolgen::object(
        const {
            const LISTS: &[&[__toolgen::Field]] = &[#(#lists),*];
            const COUNT: __toolgen::usize = __toolgen::count(LISTS);
            &#joined
        },
        &[],
        #extra
    ))
}

fn union(variants: &[Variant], tagging: &Tagging) -> TokenStream {
    let mut shapes: Vec<TokenStream> = Vec::new();
    if matches!(tagging, Tagging::External) {
        // All unit variants are one shape.
        let units = || variants.iter().filter(|variant| matches!(variant.payload, Payload::Unit));
        if units().next().is_some() {
            let description = plain_description(None, units());
            shapes.push(with_description(names_shape(units()), description.map(|text| quote!(#text))));
        }
    }
    for variant in variants {
        let shape = match tagging {
            Tagging::External if matches!(variant.payload, Payload::Unit) => continue,
            Tagging::External => {
                let (name, payload) = (&variant.name, of_payload(&variant.payload, None));
                quote!(__toolgen::object(const { &[__toolgen::member(#name, #payload)] }, &[], __toolgen::Extra::Closed))
            }
            Tagging::Internal(tag) => of_payload(&variant.payload, Some(tag_field(tag, variant))),
            Tagging::Adjacent(tag, content) => {
                let tag = tag_field(tag, variant);
                match &variant.payload {
                    Payload::Unit => object(&[], Some(tag)),
                    payload => {
                        let payload = of_payload(payload, None);
                        quote!(__toolgen::object(
                            const { &[#tag, __toolgen::member(#content, #payload)] },
                            &[],
                            __toolgen::Extra::Closed
                        ))
                    }
                }
            }
            Tagging::Untagged => of_payload(&variant.payload, None),
        };
        shapes.push(with_description(shape, variant.description.as_ref().map(Description::to_expr)));
    }
    quote!(__toolgen::union(const { &[#(#shapes),*] }))
}

fn tag_field(tag: &str, variant: &Variant) -> TokenStream {
    let names = [&variant.name].into_iter().chain(&variant.aliases);
    quote!(__toolgen::member(#tag, __toolgen::names(const { &[#(__toolgen::ConstLiteral::Str(#names).literal()),*] })))
}
