//! Reports duplicate JSON names in a type.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::serde_attr::Tagging;
use super::{Field, Input, Payload, Shape, Variant};
use crate::errors::Errors;

/// Reports duplicate names of fields and variants, and variants that cannot contain a tag. Only the compiler knows the
/// fields of a flattened type, and checks them in a constant.
pub(super) fn check(input: &Input, errors: &mut Errors) {
    match &input.data {
        Shape::Struct(payload) => check_fields(&input.ident.to_string(), payload, None, errors),
        Shape::Enum(variants) => {
            check_variants(variants, &input.attr.tagging, errors);
            if let Tagging::Adjacent(tag, content) = &input.attr.tagging
                && tag == content
            {
                errors.at(&input.ident, format!("the tag and the content are both called `{tag}` in JSON"));
            }
            for variant in variants {
                let tag = match &input.attr.tagging {
                    Tagging::Internal(tag) => Some(tag.as_str()),
                    _ => None,
                };
                let owner = format!("{}::{}", input.ident, variant.ident);
                check_fields(&owner, &variant.payload, tag, errors);
            }
        }
    }
}

/// Returns the name and the aliases of a field or a variant.
fn all_names<'a>(name: &'a str, aliases: &'a [String]) -> impl Iterator<Item = &'a str> {
    [name].into_iter().chain(aliases.iter().map(String::as_str))
}

fn check_variants(variants: &[Variant], tagging: &Tagging, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for variant in variants {
        // Untagged enums do not use the names.
        if !matches!(tagging, Tagging::Untagged) {
            for name in all_names(&variant.name, &variant.aliases) {
                report_duplicate(
                    &mut seen,
                    name,
                    &variant.ident,
                    || format!("two variants are called `{name}` in JSON"),
                    errors,
                );
            }
        }
        if matches!((tagging, &variant.payload), (Tagging::Internal(_), Payload::Tuple(_))) {
            errors.at(&variant.ident, "a variant with several unnamed fields cannot contain a tag; name its fields, or add `content = \"…\"`");
        }
    }
}

/// Reports the fields of a struct or a variant that share a name with others, or with the tag.
fn check_fields(owner: &str, payload: &Payload, tag: Option<&str>, errors: &mut Errors) {
    let Payload::Named(fields) = payload else { return };
    let mut seen: Vec<&str> = Vec::new();
    let has_own_name = |field: &&Field| !field.serde.skip && !field.serde.flatten;
    for field in fields.iter().filter(has_own_name) {
        for name in all_names(&field.name, &field.aliases) {
            let message = || format!("two fields of `{owner}` are called `{name}` in JSON");
            if tag == Some(name) {
                errors.at(
                    &field.member,
                    format!("a field and the tag of `{owner}` are both called `{name}` in JSON"),
                );
            }
            report_duplicate(&mut seen, name, &field.member, message, errors);
        }
    }
}

fn report_duplicate<'a>(
    seen: &mut Vec<&'a str>,
    name: &'a str,
    tokens: impl ToTokens,
    message: impl FnOnce() -> String,
    errors: &mut Errors,
) {
    if seen.contains(&name) {
        let tokens: TokenStream = tokens.to_token_stream();
        errors.at(tokens, message());
    }
    seen.push(name);
}
