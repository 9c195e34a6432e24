//! The argument a requirement names.

use crate::base::frozen::List;
use crate::schema::shape::{Access, Def, Extra, Field, Kind, Shape, find_def};
use crate::spec::ToolSpec;

/// References nested deeper than this are not followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// What an input says of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    /// It is this field.
    Field(&'a Field),
    /// The input may have it, and does not say so.
    Open,
    /// The input does not have it.
    Nothing,
}

/// The field of a tool's input that has a name, as the model writes it, as the data has it, or as an alias.
pub(crate) fn find_field<'a>(spec: &'a ToolSpec, name: &str) -> Found<'a> {
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
            // An object with some fields and room for others says what it takes; one without fields is a map.
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

/// A field if one was found, else the doubt if there is one.
fn best<'a>(found: impl Iterator<Item = Found<'a>>) -> Found<'a> {
    found.fold(Found::Nothing, |best, found| match (best, found) {
        (Found::Field(field), _) => Found::Field(field),
        (_, Found::Nothing) => best,
        (_, found) => found,
    })
}
