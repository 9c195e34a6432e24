//! The argument named by a requirement.

use crate::base::frozen::List;
use crate::schema::shape::{Access, Def, Extra, Field, Kind, Shape, find_def};
use crate::spec::ToolSpec;

/// The depth up to which nested references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// The result of a search for an argument in an input.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// The input has this field.
    Field(&'a Field),
    /// The input may have the argument, but does not declare it.
    Open,
    /// The input does not have the argument.
    Nothing,
}

/// Finds the field of a tool's input by the model's name, the data's name or an alias.
pub fn find_field<'a>(spec: &'a ToolSpec, name: &str) -> Found<'a> {
    if name.is_empty() { Found::Nothing } else { find(spec.input.shape(), &spec.defs, name, 0) }
}

fn find<'a>(shape: &'a Shape, defs: &'a List<Def>, name: &str, depth: usize) -> Found<'a> {
    let within = |shape| find(shape, defs, name, depth + 1);
    match &shape.kind {
        Kind::Object(rules) => {
            let named = |field: &&Field| {
                let is_alias = field.aliases.iter().any(|alias| alias.as_str() == name);
                field.access != Access::ReadOnly
                    && (field.name.as_str() == name || field.wire_name() == name || is_alias)
            };
            // An object with some fields and room for others declares its arguments; one without fields is a map.
            let is_map = rules.fields.is_empty() && rules.extra != Extra::Closed;
            match rules.fields.iter().find(named) {
                Some(field) => Found::Field(field),
                None if is_map || !rules.patterns.is_empty() => Found::Open,
                None => Found::Nothing,
            }
        }
        _ if depth >= MAX_DEPTH => Found::Open,
        Kind::Ref(target) => find_def(defs, target).map_or(Found::Open, within),
        Kind::All(parts) => best(parts.iter().map(within)),
        Kind::Union(rules) => best(rules.variants.iter().map(within)),
        Kind::Any | Kind::Raw(_) => Found::Open,
        _ => Found::Nothing,
    }
}

/// Returns the field if one was found, otherwise `Open` if there is one.
fn best<'a>(found: impl Iterator<Item = Found<'a>>) -> Found<'a> {
    found.fold(Found::Nothing, |best, found| match (best, found) {
        (Found::Field(field), _) => Found::Field(field),
        (_, Found::Nothing) => best,
        (_, found) => found,
    })
}
