//! `#[tool_input(documented)]`: a type whose fields all have descriptions.

use syn::{Attribute, Member};

use super::{Input, Payload, Shape};
use crate::attr;
use crate::errors::Errors;

/// The keys of the attribute.
const KEYS: &[&str] = &["documented"];

/// Whether every field must have a description.
pub(super) fn is_required(attributes: &[Attribute], errors: &mut Errors) -> bool {
    let mut attributes = attributes.to_vec();
    let Some(taken) = attr::take_attribute(&mut attributes, "tool_input", errors) else { return false };
    let keys = attr::read_keys(taken.tokens, "`#[tool_input(…)]`", KEYS, errors);
    keys.into_iter().filter_map(|key| key.flag(errors)).any(|is_set| is_set)
}

/// Reports every field with a name that a model reads without a description.
pub(super) fn check(input: &Input, errors: &mut Errors) {
    let payloads: Vec<(String, &Payload)> = match &input.data {
        Shape::Struct(payload) => vec![(input.ident.to_string(), payload)],
        Shape::Enum(variants) => {
            let owner_of = |variant: &super::Variant| format!("{}::{}", input.ident, variant.ident);
            variants.iter().map(|variant| (owner_of(variant), &variant.payload)).collect()
        }
    };
    for (owner, payload) in payloads {
        let Payload::Named(fields) = payload else { continue };
        for field in fields.iter().filter(|field| !field.serde.skip && !field.serde.flatten) {
            if let (Member::Named(ident), None) = (&field.member, &field.description) {
                errors.at(
                    ident,
                    format!(
                        "the field `{ident}` of `{owner}` has no description: write a doc comment (`/// …`) before it, or remove `#[tool_input(documented)]`"
                    ),
                );
            }
        }
    }
}
