//! The code of an argument: its field in the schema and how its value is decoded.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::arg_attr::DefaultValue;
use crate::docs::Description;
use crate::errors::at;
use crate::foreign::Foreign;
use crate::param::{Argument, Param, Source};
use crate::rules;

/// Returns the type that is decoded.
pub(crate) fn decoded_type(argument: &Argument) -> TokenStream {
    foreign_type(argument).map_or_else(|| argument.form.decoded_type(), |foreign| foreign.decoded_type())
}

fn foreign_type(argument: &Argument) -> Option<Foreign> {
    let marker = || quote::format_ident!("__Foreign_{}", argument.ident.unraw());
    argument.attr.schemars.then(|| Foreign::new(marker(), &argument.form.decoded_type()))
}

/// Returns the declaration of the marker type that names an argument's type of another crate.
pub(crate) fn foreign_declaration(argument: &Argument) -> TokenStream {
    foreign_type(argument).map(|foreign| foreign.declaration()).unwrap_or_default()
}

/// Returns the expression of the default, of the type that is decoded.
fn default_expr(argument: &Argument) -> Option<TokenStream> {
    let default = argument.attr.default_expr()?;
    Some(foreign_type(argument).map_or_else(|| default.clone(), |foreign| foreign.wrapped(&default)))
}

/// Returns the field of an argument in the schema.
pub(crate) fn field(argument: &Argument, span: Span) -> TokenStream {
    let name = &argument.name;
    let ty = decoded_type(argument);
    let mut fields = Vec::new();
    if let Some(description) = description(argument) {
        fields.push(quote!(description: #description));
    }
    if let Some(DefaultValue::Value(expr)) = &argument.attr.default
        && let Some(literal) = rules::literal(expr)
    {
        fields.push(quote!(default: __toolgen::Some(#literal)));
    }
    let rules = argument.attr.rules.to_expr(&shape(argument, span));
    let rules =
        if fields.is_empty() { rules } else { quote!(__toolgen::ArgumentRules { #(#fields,)* ..#rules }) };
    let has_default = argument.attr.default.is_some();
    let aliases = aliases(argument);
    let type_expr = quote_spanned!(at(span)=> __toolgen::of::<#ty>());
    quote!(__toolgen::field_of(#type_expr, #name, #aliases, #has_default, #rules))
}

/// Returns the expression of the shape of an argument's type.
fn shape(argument: &Argument, span: Span) -> TokenStream {
    let ty = decoded_type(argument);
    let type_expr = quote_spanned!(at(span)=> __toolgen::of::<#ty>());
    quote!(__toolgen::shape_of(#type_expr))
}

/// Returns the constants that check the attribute of an argument, each with its own span.
pub(crate) fn checks(argument: &Argument, span: Span) -> Vec<TokenStream> {
    let checks = argument.attr.checks(&shape(argument, span), &argument.ty);
    checks.iter().map(|check| quote!(const _: () = #check;)).collect()
}

fn aliases(argument: &Argument) -> TokenStream {
    let aliases = &argument.attr.aliases;
    if aliases.is_empty() { quote!(&[]) } else { quote!(const { &[#(__toolgen::S(#aliases)),*] }) }
}

/// Returns the description of the argument, including rules that no schema can express.
fn description(argument: &Argument) -> Option<TokenStream> {
    let suffix = match &argument.attr.path {
        Some(path) => match &path.within {
            Some(within) => format!(" A path inside the {}.", within.value()),
            None => " A path without `..`.".to_owned(),
        },
        None => String::new(),
    };
    match (&argument.description, suffix.is_empty()) {
        (None, true) => None,
        (None, false) => Some({
            let text = suffix.trim();
            quote!(#text)
        }),
        (Some(description), true) => Some(description.to_expr()),
        (Some(Description::Text(text)), false) => {
            let text = format!("{text}{suffix}");
            Some(quote!(#text))
        }
        (Some(Description::Expr(expr)), false) => Some(quote!(#expr)),
    }
}

/// Returns the statement that binds `variable` to the value of a parameter.
pub(crate) fn bind(param: &Param, variable: &Ident, args: &Ident, ctx: &Ident) -> TokenStream {
    let cfg = &param.cfg;
    let span = param.span;
    match &param.source {
        Source::Context(ty) => {
            let inject = quote_spanned!(at(span)=> __toolgen::inject::<#ty>(#ctx)?);
            quote!(#(#cfg)* let #variable = #inject;)
        }
        Source::Model(argument) => {
            let name = &argument.name;
            let ty = decoded_type(argument);
            let location = at(argument.attr.path.as_ref().map_or(span, |path| path.span));
            let value = match default_expr(argument) {
                Some(default) => quote_spanned!(location=> #args.take_or::<#ty>(#name, || #default)?),
                None => quote_spanned!(location=> #args.take::<#ty>(#name)?),
            };
            let foreign = foreign_type(argument);
            let value = foreign.map_or_else(|| value.clone(), |foreign| foreign.unwrapped(&value));
            let value = match &argument.attr.path {
                Some(path) => {
                    let within = path.within.iter();
                    let within = quote!(#(__toolgen::Some(#within))*);
                    let within = if within.is_empty() { quote!(__toolgen::None) } else { within };
                    quote_spanned!(location=> __toolgen::inside::<#ty>(#value, #name, #within, #ctx)?)
                }
                None => value,
            };
            quote!(#(#cfg)* let #variable = #value;)
        }
    }
}

/// Returns the expression passed to the function for a parameter.
pub(crate) fn pass_expr(param: &Param, variable: &Ident) -> TokenStream {
    let cfg = &param.cfg;
    let expr = match &param.source {
        Source::Context(_) => quote!(#variable),
        Source::Model(argument) => argument.form.argument_expr(variable),
    };
    quote!(#(#cfg)* #expr)
}

/// Returns the statements that collect the named shapes of a parameter, and its default if that is not a literal.
pub(crate) fn collect(param: &Param, defs: &Ident) -> TokenStream {
    let Source::Model(argument) = &param.source else { return TokenStream::new() };
    let cfg = &param.cfg;
    let ty = decoded_type(argument);
    let name = &argument.name;
    let default = match &argument.attr.default {
        Some(DefaultValue::Value(expr)) if rules::literal(expr).is_some() => None,
        Some(_) => default_expr(argument).map(|default| {
            let span = default.span();
            quote_spanned!(at(span)=> {
                let default = || -> #ty { #default };
                (&&__toolgen::Defaults(default(), default())).toolgen_default("", #name, #defs);
            })
        }),
        None => None,
    };
    quote!(#(#cfg)* { <#ty as __toolgen::ToolInput>::defs(#defs); #default })
}
