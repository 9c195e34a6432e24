//! Parts of a value that dotted paths select, such as `items.owner.login`, and the shape of these parts.
//!
//! A path names members of objects; lists are mapped, so in a list of objects `id` selects the `id` of each item. A
//! key may itself contain dots. A value that is neither an object nor an array is selected as a whole, also by a path
//! that continues after it.

mod value;

use std::collections::BTreeSet;

use super::schema::resolved;
use super::{Access, Def, Extra, Field, Kind, Literal, ObjectRules, Shape, UnionMode, UnionRules, children};
use crate::base::frozen::List;
use crate::schema::shape::decode::describe::closest_match;

pub use value::{Projected, project};

/// Maximum number of nested arrays, unions and references between two members of a path.
const MAX_NESTING: usize = 16;

/// The parts of an object's member that paths select.
enum Selection<'p> {
    /// No part.
    Nothing,
    /// The whole member.
    Whole,
    /// The parts of the member with these paths.
    Parts(Vec<&'p str>),
}

impl<'p> Selection<'p> {
    /// Returns what paths in an object select of a field, under any of its names.
    fn of_field(paths: &[&'p str], field: &Field) -> Selection<'p> {
        let mut parts = Vec::new();
        for name in [&*field.name, field.wire_name()].into_iter().chain(field.aliases.iter().map(|it| &**it))
        {
            match Selection::of(paths, name) {
                Selection::Nothing => {}
                Selection::Whole => return Selection::Whole,
                Selection::Parts(more) => parts.extend(more),
            }
        }
        if parts.is_empty() { Selection::Nothing } else { Selection::Parts(parts) }
    }

    /// Returns what paths in an object select of a member.
    fn of(paths: &[&'p str], name: &str) -> Selection<'p> {
        if paths.contains(&name) {
            return Selection::Whole;
        }
        let parts: Vec<&str> = paths.iter().filter_map(|path| rest_after(path, name)).collect();
        if parts.is_empty() { Selection::Nothing } else { Selection::Parts(parts) }
    }
}

/// Returns the rest of a path after a member.
fn rest_after<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    path.strip_prefix(name)?.strip_prefix('.')
}

/// Returns the shape of the parts of a value that paths select: it accepts every projected value whose original the
/// shape accepts. Where the shape does not declare members by name, it accepts any.
#[must_use]
pub(crate) fn project_shape(shape: &Shape, defs: &List<Def>, paths: &[&str]) -> Shape {
    project_nested(shape, defs, paths, 0)
}

fn project_nested(shape: &Shape, defs: &List<Def>, paths: &[&str], nesting: usize) -> Shape {
    let Some(target) = resolved(shape, defs).filter(|_| nesting < MAX_NESTING) else { return Shape::ANY };
    let kind = match &target.kind {
        Kind::Object(rules) => Kind::Object(project_object(rules, defs, paths)),
        Kind::Array(_) | Kind::Tuple(_) | Kind::Union(_) | Kind::All(_) => {
            let mut kind = children::map_children(&target.kind, &mut |_, shape| {
                project_nested(shape, defs, paths, nesting + 1)
            });
            match &mut kind {
                // Items that differ in other members may be equal without them.
                Kind::Array(rules) => rules.unique = false,
                // Variants that differ in other members accept the same parts.
                Kind::Union(UnionRules { mode, discriminator, .. }) => {
                    (*mode, *discriminator) = (UnionMode::Any, None);
                }
                _ => {}
            }
            kind
        }
        Kind::Raw(_) => Kind::Any,
        Kind::Enum(values) if values.iter().any(|value| matches!(value, Literal::Json(_))) => Kind::Any,
        scalar => scalar.clone(),
    };
    let description =
        if shape.description.is_empty() { target.description.clone() } else { shape.description.clone() };
    Shape { kind, description, nullable: shape.nullable || target.nullable, ..Shape::ANY }
}

fn project_object(rules: &ObjectRules, defs: &List<Def>, paths: &[&str]) -> ObjectRules {
    let field = |field: &Field| {
        let shape = match Selection::of_field(paths, field) {
            Selection::Nothing => return None,
            Selection::Whole => field.shape.clone(),
            Selection::Parts(parts) => project_nested(&field.shape, defs, &parts, 0),
        };
        Some(Field { shape, ..field.clone() })
    };
    let is_closed = rules.extra == Extra::Closed && rules.patterns.is_empty();
    ObjectRules {
        fields: rules.fields.iter().filter_map(field).collect(),
        extra: if is_closed { Extra::Closed } else { Extra::Open },
        ..ObjectRules::ANY
    }
}

/// Whether a value may have the part with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The shape declares the part.
    Declared,
    /// The shape does not exclude the part.
    Possible,
    /// The shape excludes the part, for this reason.
    Excluded(String),
}

impl Presence {
    /// Returns the better of two answers for alternatives.
    fn or(self, other: Presence) -> Presence {
        match (self, other) {
            (Presence::Declared, _) | (_, Presence::Declared) => Presence::Declared,
            (Presence::Possible, _) | (_, Presence::Possible) => Presence::Possible,
            (first, _) => first,
        }
    }
}

/// Returns whether values of a shape may have the part with a path.
#[must_use]
pub(crate) fn presence(shape: &Shape, defs: &List<Def>, path: &str) -> Presence {
    find(shape, defs, (path, 0), 0)
}

/// Like [`presence`], for the rest of a path from an offset.
fn find(shape: &Shape, defs: &List<Def>, (path, start): (&str, usize), nesting: usize) -> Presence {
    let Some(target) = resolved(shape, defs).filter(|_| nesting < MAX_NESTING) else {
        return Presence::Possible;
    };
    let nested = |shape: &Shape| find(shape, defs, (path, start), nesting + 1);
    match &target.kind {
        Kind::Any | Kind::Never | Kind::Raw(_) | Kind::Ref(_) => Presence::Possible,
        Kind::Object(rules) => find_member(rules, defs, (path, start)),
        Kind::Array(rules) => nested(&rules.items),
        Kind::Union(rules) => any_of(rules.variants.iter().filter(|it| it.kind != Kind::Null).map(nested)),
        Kind::All(parts) => any_of(parts.iter().map(nested)),
        Kind::Tuple(rules) => {
            let rest = match &rules.rest {
                Extra::Of(shape) => Some(nested(shape)),
                Extra::Open | Extra::Closed => None,
            };
            any_of(rules.items.iter().map(nested).chain(rest))
        }
        Kind::Enum(values) if values.iter().any(|value| matches!(value, Literal::Json(_))) => {
            Presence::Possible
        }
        scalar => {
            let parent = path.get(..start.saturating_sub(1)).filter(|parent| !parent.is_empty());
            let parent = parent.map_or_else(|| "the result".to_owned(), |parent| format!("`{parent}`"));
            Presence::Excluded(format!("{parent} is {}, without fields", type_name(scalar)))
        }
    }
}

fn any_of(answers: impl Iterator<Item = Presence>) -> Presence {
    answers.reduce(Presence::or).unwrap_or(Presence::Possible)
}

fn find_member(rules: &ObjectRules, defs: &List<Def>, (path, start): (&str, usize)) -> Presence {
    let rest = path.get(start..).unwrap_or_default();
    let mut found: Option<Presence> = None;
    for field in visible(rules) {
        let name = field.wire_name();
        let answer = if rest == name {
            Presence::Declared
        } else if rest_after(rest, name).is_some() {
            find(&field.shape, defs, (path, start + name.len() + 1), 0)
        } else {
            continue;
        };
        found = Some(found.map_or(answer.clone(), |found| found.or(answer)));
    }
    found.unwrap_or_else(|| {
        if rules.extra != Extra::Closed || !rules.patterns.is_empty() {
            return Presence::Possible;
        }
        Presence::Excluded(unknown_member(rules, (path, start)))
    })
}

fn unknown_member(rules: &ObjectRules, (path, start): (&str, usize)) -> String {
    let (parent, rest) = path.split_at(start);
    let name = rest.split('.').next().unwrap_or_default();
    let subject = match parent.strip_suffix('.') {
        None => "the result".to_owned(),
        Some(parent) => format!("`{parent}`"),
    };
    let names = || visible(rules).map(Field::wire_name);
    let help = match closest_match(name, names()) {
        Some(closest) => {
            let after = rest.get(name.len()..).unwrap_or_default();
            format!(" (did you mean `{parent}{closest}{after}`?)")
        }
        None => format!("; it has {}", listed(names())),
    };
    format!("{subject} has no field `{name}`{help}")
}

/// The maximum number of names that a message lists.
const MAX_LISTED: usize = 20;

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "no fields".to_owned(),
        count if count > MAX_LISTED => format!("{}, …", names[..MAX_LISTED].join(", ")),
        _ => names.join(", "),
    }
}

fn type_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Boolean => "a boolean",
        Kind::Integer(_) => "an integer",
        Kind::Number(_) => "a number",
        Kind::String(_) => "a string",
        Kind::Null => "null",
        _ => "a single value",
    }
}

fn visible(rules: &ObjectRules) -> impl Iterator<Item = &Field> {
    rules.fields.iter().filter(|field| field.access != Access::WriteOnly)
}

/// Returns the paths that are most useful in a list of candidates: the members of a value or of its items, and the
/// members of the items of its first list of objects.
#[must_use]
pub(crate) fn candidates(shape: &Shape, defs: &List<Def>) -> Vec<String> {
    let mut paths = Vec::new();
    let mut list = None;
    for (name, member) in members(shape, defs, 0) {
        paths.push(name.to_owned());
        if list.is_none() && is_list(member, defs) && !members(member, defs, 0).is_empty() {
            list = Some((name, member));
        }
    }
    if let Some((name, member)) = list {
        // The items are what large results consist of.
        paths.truncate(MAX_OUTER);
        paths.extend(members(member, defs, 0).into_iter().map(|(inner, _)| format!("{name}.{inner}")));
    }
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    paths
}

/// The maximum number of members of a value with a list that are candidates.
const MAX_OUTER: usize = 6;

/// Returns the members of an object, or of the objects in an array.
fn members<'a>(shape: &'a Shape, defs: &'a List<Def>, nesting: usize) -> Vec<(&'a str, &'a Shape)> {
    let Some(target) = resolved(shape, defs).filter(|_| nesting < MAX_NESTING) else { return Vec::new() };
    let nested = |shape: &'a Shape| members(shape, defs, nesting + 1);
    match &target.kind {
        Kind::Object(rules) => visible(rules).map(|field| (field.wire_name(), &field.shape)).collect(),
        Kind::Array(rules) => nested(&rules.items),
        Kind::All(parts) => parts.iter().flat_map(nested).collect(),
        Kind::Union(rules) => rules.variants.iter().flat_map(nested).collect(),
        _ => Vec::new(),
    }
}

fn is_list(shape: &Shape, defs: &List<Def>) -> bool {
    resolved(shape, defs).is_some_and(|target| matches!(target.kind, Kind::Array(_)))
}

/// Whether a value has, or is, a list of objects.
#[must_use]
pub(crate) fn has_list_of_objects(shape: &Shape, defs: &List<Def>) -> bool {
    let is_list = |shape: &Shape| is_list(shape, defs) && !members(shape, defs, 0).is_empty();
    is_list(shape) || members(shape, defs, 0).into_iter().any(|(_, member)| is_list(member))
}

/// Whether no value of a shape has parts.
#[must_use]
pub(crate) fn is_scalar(shape: &Shape, defs: &List<Def>) -> bool {
    let kind = resolved(shape, defs).map(|target| &target.kind);
    matches!(
        kind,
        Some(
            Kind::Null | Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_) | Kind::Enum(_)
        )
    )
}

#[cfg(test)]
mod tests;
