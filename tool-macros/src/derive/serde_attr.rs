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
    /// Whether it is serialized in another representation than it is deserialized from.
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

/// Calls `each` for every entry; `each` reports unknown ones.
fn entries(
    attributes: &[Attribute],
    errors: &mut Errors,
    mut each: impl FnMut(&str, &ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        let parsed = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
            each(&name, &meta)
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
fn ignore(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

/// Reads `rename = "x"` or `rename(serialize = "…", deserialize = "…")`. Returns the name it is read by, and whether
/// it is also written by it.
fn rename(meta: &ParseNestedMeta<'_>) -> syn::Result<(Option<String>, bool)> {
    if meta.input.peek(Token![=]) {
        return Ok((Some(text(meta)?), true));
    }
    let (mut read, mut written) = (None, None);
    meta.parse_nested_meta(|meta| {
        let side = if meta.path.is_ident("deserialize") { &mut read } else { &mut written };
        *side = Some(text(&meta)?);
        Ok(())
    })?;
    let same = read == written;
    Ok((read, same))
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<(Option<Case>, bool)> {
    let span = meta.path.clone();
    let (name, same) = rename(meta)?;
    let Some(name) = name else { return Ok((None, same)) };
    match CASES.iter().find(|(known, _)| *known == name) {
        Some((_, case)) => Ok((Some(*case), same)),
        None => Err(syn::Error::new_spanned(
            span,
            format!("unknown case `{name}`; serde has {}", names::list(CASES.iter().map(|(name, _)| *name))),
        )),
    }
}

fn refuse(meta: &ParseNestedMeta<'_>, what: &str) -> syn::Error {
    let name = meta.path.to_token_stream();
    syn::Error::new_spanned(
        &meta.path,
        format!(
            "`#[serde({name})]` {what}, so no schema follows from the type; implement `ToolInput` by hand"
        ),
    )
}

/// Reads the attributes of a type.
pub(crate) fn container(attributes: &[Attribute], errors: &mut Errors) -> ContainerAttr {
    let mut attr = ContainerAttr::default();
    let (mut tag, mut content) = (None, None);
    entries(attributes, errors, |name, meta| {
        match name {
            "rename" => {
                let (rename, same) = rename(meta)?;
                attr.rename = rename;
                attr.asymmetric |= !same;
            }
            "rename_all" | "rename_all_fields" => {
                let (case, same) = case(meta)?;
                attr.asymmetric |= !same;
                *(if name == "rename_all" { &mut attr.rename_all } else { &mut attr.rename_all_fields }) =
                    case;
            }
            "default" if meta.input.peek(Token![=]) => {
                return Err(refuse(meta, "with a path on a whole type takes fields from a function"));
            }
            "default" => attr.default = true,
            "tag" => tag = Some(text(meta)?),
            "content" => content = Some(text(meta)?),
            "untagged" => attr.tagging = Tagging::Untagged,
            "from" | "try_from" | "remote" => return Err(refuse(meta, "reads the type from another one")),
            "into" => {
                attr.asymmetric = true;
                ignore(meta)?;
            }
            "variant_identifier" | "field_identifier" => return Err(refuse(meta, "is for deserialisers")),
            // These do not affect the representation.
            _ => ignore(meta)?,
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
    entries(attributes, errors, |name, meta| {
        match name {
            "rename" => attr.rename = rename(meta)?.0,
            "alias" => attr.aliases.push(text(meta)?),
            "rename_all" => attr.rename_all = case(meta)?.0,
            "skip" | "skip_deserializing" => attr.skip = true,
            "other" => return Err(refuse(meta, "takes every name")),
            "untagged" => return Err(refuse(meta, "on one variant mixes two ways to identify variants")),
            "with" | "deserialize_with" => return Err(refuse(meta, "reads the variant by a function")),
            _ => ignore(meta)?,
        }
        Ok(())
    });
    attr
}

/// Reads the attributes of a field.
pub(crate) fn field(attributes: &[Attribute], errors: &mut Errors) -> FieldAttr {
    let mut attr = FieldAttr::default();
    entries(attributes, errors, |name, meta| {
        match name {
            "rename" => {
                let (rename, same) = rename(meta)?;
                attr.rename = rename;
                attr.asymmetric |= !same;
            }
            "alias" => attr.aliases.push(text(meta)?),
            "default" if meta.input.peek(Token![=]) => {
                let path: LitStr = meta.value()?.parse()?;
                attr.default = Some(Default::Path(path.parse::<syn::ExprPath>()?.into_token_stream()));
            }
            "default" => attr.default = Some(Default::OfType),
            "flatten" => attr.flatten = true,
            "skip" | "skip_deserializing" => attr.skip = true,
            "with" | "deserialize_with" => return Err(refuse(meta, "reads the field by a function")),
            "serialize_with" | "skip_serializing" => {
                attr.asymmetric = true;
                ignore(meta)?;
            }
            _ => ignore(meta)?,
        }
        Ok(())
    });
    attr
}
