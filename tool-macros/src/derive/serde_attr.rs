//! Reads serde's attributes that affect deserialization.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Token};

use super::cases::{CASES, Case};
use crate::errors::Errors;
use crate::names;

/// The attributes of a type.
#[derive(Default)]
pub(crate) struct ContainerAttr {
    pub(crate) rename: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) default: bool,
    pub(crate) tagging: Tagging,
    /// Whether serialization and deserialization use different representations.
    pub(crate) asymmetric: bool,
}

/// How a variant is identified.
#[derive(Default)]
pub(crate) enum Tagging {
    #[default]
    External,
    Internal(String),
    Adjacent(String, String),
    Untagged,
}

/// The attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttr {
    pub(crate) rename: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) skip: bool,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttr {
    pub(crate) rename: Option<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) default: Option<Default>,
    /// Whether the field's default is taken from the default of the type.
    pub(crate) container_default: bool,
    pub(crate) flatten: bool,
    pub(crate) skip: bool,
    pub(crate) asymmetric: bool,
}

/// `default` and `default = "path"`
pub(crate) enum Default {
    OfType,
    Path(TokenStream),
}

/// Calls `read_entry` for every entry. The callback reports unknown entries.
fn read_entries(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut read_entry: impl FnMut(&str, &ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            read_entry(&name, &meta)
        });
        if let Err(error) = parsed {
            errors.push(error);
        }
    }
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}

/// Skips `= value`, if there is one.
fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

/// Reads `rename = "x"` or `rename(serialize = "…", deserialize = "…")`. Returns the name for
/// deserialization, and whether serialization uses the same name.
fn rename(meta: &ParseNestedMeta<'_>) -> syn::Result<(Option<String>, bool)> {
    if meta.input.peek(Token![=]) {
        return Ok((Some(text(meta)?), true));
    }
    let (mut deserialized, mut serialized) = (None, None);
    meta.parse_nested_meta(|meta| {
        let side = if meta.path.is_ident("deserialize") { &mut deserialized } else { &mut serialized };
        *side = Some(text(&meta)?);
        Ok(())
    })?;
    let is_symmetric = deserialized == serialized;
    Ok((deserialized, is_symmetric))
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<(Option<Case>, bool)> {
    let span = meta.path.clone();
    let (name, is_symmetric) = rename(meta)?;
    let Some(name) = name else { return Ok((None, is_symmetric)) };
    match CASES.iter().find(|(known, _)| *known == name) {
        Some((_, case)) => Ok((Some(*case), is_symmetric)),
        None => Err(syn::Error::new_spanned(
            span,
            format!(
                "unknown case `{name}`; serde has {}",
                names::quoted_list(CASES.iter().map(|(name, _)| *name))
            ),
        )),
    }
}

fn unsupported(meta: &ParseNestedMeta<'_>, reason: &str) -> syn::Error {
    let name = meta.path.to_token_stream();
    syn::Error::new_spanned(
        &meta.path,
        format!(
            "`#[serde({name})]` {reason}, so no schema follows from the type; implement `ToolInput` by hand"
        ),
    )
}

/// Reads the attributes of a type.
pub(crate) fn container(attributes: &[Attribute], errors: &mut Errors) -> ContainerAttr {
    let mut attr = ContainerAttr::default();
    let (mut tag, mut content) = (None, None);
    read_entries(attributes, errors, |name, meta| {
        match name {
            "rename" => {
                let (rename, is_symmetric) = rename(meta)?;
                attr.rename = rename;
                attr.asymmetric |= !is_symmetric;
            }
            "rename_all" | "rename_all_fields" => {
                let (case, is_symmetric) = case(meta)?;
                attr.asymmetric |= !is_symmetric;
                *(if name == "rename_all" { &mut attr.rename_all } else { &mut attr.rename_all_fields }) =
                    case;
            }
            "default" if meta.input.peek(Token![=]) => {
                return Err(unsupported(meta, "with a path on a whole type takes fields from a function"));
            }
            "default" => attr.default = true,
            "tag" => tag = Some(text(meta)?),
            "content" => content = Some(text(meta)?),
            "untagged" => attr.tagging = Tagging::Untagged,
            "from" | "try_from" | "remote" => {
                return Err(unsupported(meta, "reads the type from another one"));
            }
            "into" => {
                attr.asymmetric = true;
                skip_value(meta)?;
            }
            "variant_identifier" | "field_identifier" => {
                return Err(unsupported(meta, "is for deserialisers"));
            }
            // These do not affect the representation.
            _ => skip_value(meta)?,
        }
        Ok(())
    });
    match (tag, content) {
        (Some(tag), Some(content)) => attr.tagging = Tagging::Adjacent(tag, content),
        (Some(tag), None) => attr.tagging = Tagging::Internal(tag),
        _ => {}
    }
    attr
}

/// Reads the attributes of a variant.
pub(crate) fn variant(attributes: &[Attribute], errors: &mut Errors) -> VariantAttr {
    let mut attr = VariantAttr::default();
    read_entries(attributes, errors, |name, meta| {
        match name {
            "rename" => attr.rename = rename(meta)?.0,
            "alias" => attr.aliases.push(text(meta)?),
            "rename_all" => attr.rename_all = case(meta)?.0,
            "skip" | "skip_deserializing" => attr.skip = true,
            "other" => return Err(unsupported(meta, "takes every name")),
            "untagged" => {
                return Err(unsupported(meta, "on one variant mixes two ways to identify variants"));
            }
            "with" | "deserialize_with" => return Err(unsupported(meta, "reads the variant by a function")),
            _ => skip_value(meta)?,
        }
        Ok(())
    });
    attr
}

/// Reads the attributes of a field.
pub(crate) fn field(attributes: &[Attribute], errors: &mut Errors) -> FieldAttr {
    let mut attr = FieldAttr::default();
    read_entries(attributes, errors, |name, meta| {
        match name {
            "rename" => {
                let (rename, is_symmetric) = rename(meta)?;
                attr.rename = rename;
                attr.asymmetric |= !is_symmetric;
            }
            "alias" => attr.aliases.push(text(meta)?),
            "default" if meta.input.peek(Token![=]) => {
                let path: LitStr = meta.value()?.parse()?;
                attr.default = Some(Default::Path(path.parse::<syn::ExprPath>()?.into_token_stream()));
            }
            "default" => attr.default = Some(Default::OfType),
            "flatten" => attr.flatten = true,
            "skip" | "skip_deserializing" => attr.skip = true,
            "with" | "deserialize_with" => return Err(unsupported(meta, "reads the field by a function")),
            "serialize_with" | "skip_serializing" => {
                attr.asymmetric = true;
                skip_value(meta)?;
            }
            _ => skip_value(meta)?,
        }
        Ok(())
    });
    attr
}
