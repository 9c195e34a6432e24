//! A shape as a tree or as text, and the named shapes of a tool.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use super::{Def, Kind, Literal, ObjectRules, Shape, read};
use crate::base::frozen::{Frozen, List, Text};

/// A `Shape`, as a tree or as canonical JSON Schema text that is parsed on first use.
pub enum Schema {
    /// The tree.
    Tree(Frozen<Shape>),
    /// The text, and the tree after its first use.
    Text(&'static str, OnceLock<Frozen<Shape>>),
}

impl Schema {
    /// Creates a schema from its canonical text, as generated code contains it.
    #[must_use]
    pub const fn text(text: &'static str) -> Schema {
        Schema::Text(text, OnceLock::new())
    }

    /// Returns the canonical text, if it is not parsed yet.
    pub(crate) fn unparsed_text(&self) -> Option<&'static str> {
        match self {
            Schema::Text(text, cell) if cell.get().is_none() => Some(text),
            _ => None,
        }
    }

    /// Returns the shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        match self {
            Schema::Tree(shape) => shape,
            Schema::Text(text, cell) => cell.get_or_init(|| parse(text).into()),
        }
    }
}

/// Parses canonical text. Text that the compiler did not write cannot be parsed; it is kept as a raw schema, so that
/// it is visible in every rendering.
fn parse(text: &'static str) -> Shape {
    match serde_json::from_str(text) {
        Ok(value) => read::read_canonical(&value),
        Err(_) => Shape::of(Kind::Raw(Text::Static(text))),
    }
}

impl Deref for Schema {
    type Target = Shape;

    fn deref(&self) -> &Shape {
        self.shape()
    }
}

impl Clone for Schema {
    fn clone(&self) -> Self {
        match self {
            Schema::Tree(shape) => Schema::Tree(shape.clone()),
            Schema::Text(text, cell) => match cell.get() {
                Some(shape) => Schema::Tree(shape.clone()),
                None => Schema::text(text),
            },
        }
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape().fmt(f)
    }
}

impl From<Shape> for Schema {
    fn from(shape: Shape) -> Self {
        Schema::Tree(shape.into())
    }
}

/// Resolves references to a shape that is not a reference; `None` if they are dangling or cyclic.
pub fn resolved<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a Shape> {
    let mut shape = shape;
    // More references than names form a cycle.
    for _ in 0..=defs.len() {
        let Kind::Ref(name) = &shape.kind else { return Some(shape) };
        shape = find_def(defs, name)?;
    }
    None
}

/// Resolves references. Returns the reference itself if it is dangling.
pub(super) fn target<'s>(shape: &'s Shape, defs: &'s List<Def>) -> &'s Shape {
    resolved(shape, defs).unwrap_or(shape)
}

/// Returns the object that a shape describes. Resolves references, and ignores rules next to the object.
#[must_use]
pub fn object_in<'a>(shape: &'a Shape, defs: &'a List<Def>) -> Option<&'a ObjectRules> {
    match &resolved(shape, defs)?.kind {
        Kind::Object(rules) => Some(rules),
        Kind::All(parts) => parts.iter().find_map(|part| match &part.kind {
            Kind::Object(rules) => Some(rules),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the shape with this name from a list that is sorted by name.
#[must_use]
pub fn find_def<'a>(defs: &'a List<Def>, name: &str) -> Option<&'a Shape> {
    Some(find_schema(defs, name)?.shape())
}

/// Like [`find_def`], without parsing the text of the schema.
pub(crate) fn find_schema<'a>(defs: &'a List<Def>, name: &str) -> Option<&'a Schema> {
    let index = defs.binary_search_by(|def| def.name.as_str().cmp(name)).ok()?;
    Some(&defs.get(index)?.schema)
}

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Whether a shape allows `null`.
pub(crate) fn allows_null(shape: &Shape, defs: &List<Def>) -> bool {
    allows_null_within(shape, defs, 0)
}

fn allows_null_within(shape: &Shape, defs: &List<Def>, depth: usize) -> bool {
    if shape.nullable || depth > MAX_DEPTH {
        return true;
    }
    match &shape.kind {
        Kind::Any | Kind::Null | Kind::Raw(_) => true,
        Kind::Enum(values) => values.contains(&Literal::Null),
        Kind::Ref(name) => {
            find_def(defs, name).is_none_or(|shape| allows_null_within(shape, defs, depth + 1))
        }
        Kind::All(parts) => parts.iter().all(|part| allows_null_within(part, defs, depth + 1)),
        Kind::Union(rules) => {
            rules.variants.iter().any(|variant| allows_null_within(variant, defs, depth + 1))
        }
        _ => false,
    }
}
