//! Renders a [`Shape`] as JSON Schema, for each dialect.
//!
//! Rules that a dialect cannot express move into descriptions, so that the model still reads them, and are recorded
//! as [`Loss`]es. Decoding validates against the shape itself: a call with invalid arguments is rejected, regardless
//! of losses.

pub(crate) mod canonical;
mod limits;
mod lists;
pub(super) mod merge;
mod node;
mod objects;
mod relations;
mod root;
mod unions;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use super::codec::{Codec, EnclosingDefs};
use super::{Access, Def, Field, Shape, find_def, pointer};
use crate::base::frozen::List;
use crate::schema::dialect::Dialect;

pub use canonical::canonical;
pub(super) use root::unite;
pub use unions::overlaps;

/// A schema for a provider, and its losses.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The schema.
    pub schema: Value,
    /// The rules that the dialect cannot express.
    pub losses: Vec<Loss>,
}

/// A rule that a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The location in the rendered schema, as a JSON pointer.
    pub pointer: String,
    /// The keyword.
    pub keyword: &'static str,
    /// Whether the description states the rule, so that the model still reads it.
    pub in_prose: bool,
    /// Why the dialect cannot express the rule.
    pub reason: &'static str,
}

impl Loss {
    /// Whether the provider no longer enforces the keyword. Annotations (`default`, `examples`, `deprecated`) are not
    /// binding: it makes no difference whether the model reads them in the description.
    #[must_use]
    pub fn weakens(&self) -> bool {
        !(self.in_prose && matches!(self.keyword, "default" | "examples" | "deprecated"))
    }
}

impl Loss {
    /// Whether a value that the tool accepts cannot be sent in this dialect. A strict dialect cannot express the value;
    /// a lax dialect can.
    #[must_use]
    pub fn withholds_values(&self) -> bool {
        self.keyword == "nullable"
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loss { pointer, keyword, in_prose, reason } = self;
        let location = if pointer.is_empty() { String::new() } else { format!(" at {pointer}") };
        let status = if *in_prose { "only stated in the description" } else { "not said" };
        write!(f, "`{keyword}`{location} is {status}: {reason}")
    }
}

/// A reason why a dialect rejects a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The location in the schema, as a JSON pointer.
    pub pointer: String,
    /// The reason, and a fix.
    pub reason: String,
}

/// Renders the schema of the arguments for a provider, without read-only fields. Referenced named shapes are under
/// `$defs`. The root is always an object.
///
/// # Errors
///
/// Returns all reasons why the dialect rejects the schema.
pub fn render_input(shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Result<Rendered, Vec<Refusal>> {
    let mut renderer = Renderer::new(defs, dialect, Access::ReadOnly);
    let schema = renderer.render_root(shape);
    renderer.finish(schema)
}

/// Renders the schema of the result for a provider, without write-only fields. The root may be any value.
///
/// # Errors
///
/// Returns all reasons why the dialect rejects the schema.
pub fn render_output(shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Result<Rendered, Vec<Refusal>> {
    let mut renderer = Renderer::new(defs, dialect, Access::WriteOnly);
    let schema = renderer.render_node(shape, false);
    renderer.finish(schema)
}

type Object = Map<String, Value>;

struct Renderer<'a> {
    defs: &'a List<Def>,
    dialect: &'a Dialect,
    codec: Codec<'a>,
    /// Fields with this access are omitted.
    hidden: Access,
    path: String,
    losses: Vec<Loss>,
    refusals: Vec<Refusal>,
    /// The named shapes that are referenced.
    referenced: BTreeSet<String>,
    /// The referenced shapes that are not rendered yet.
    pending: BTreeSet<String>,
    /// The named shapes that enclose the location.
    enclosing: EnclosingDefs,
    /// How many more shapes may be inlined. References that occur twice per level would double at each level.
    remaining_inlines: usize,
    /// The number of enclosing shapes that are inlined.
    inline_depth: usize,
}

/// Maximum number of shapes that are inlined if references are not accepted.
const MAX_INLINED: usize = 2_000;

impl<'a> Renderer<'a> {
    fn new(defs: &'a List<Def>, dialect: &'a Dialect, hidden: Access) -> Renderer<'a> {
        Renderer {
            defs,
            dialect,
            codec: Codec::new(defs, dialect, hidden),
            hidden,
            path: String::new(),
            losses: Vec::new(),
            refusals: Vec::new(),
            referenced: BTreeSet::new(),
            pending: BTreeSet::new(),
            enclosing: EnclosingDefs::new(),
            remaining_inlines: MAX_INLINED,
            inline_depth: 0,
        }
    }

    /// Adds the referenced named shapes and checks the result.
    fn finish(mut self, schema: Value) -> Result<Rendered, Vec<Refusal>> {
        let defs = self.render_defs();
        let mut schema = schema;
        if let (Value::Object(schema), false) = (&mut schema, defs.is_empty()) {
            schema.insert("$defs".into(), Value::Object(defs));
        }
        limits::hoist(&mut schema, self.dialect);
        limits::check(&schema, &self.dialect.limits, self.dialect.title, &mut self.refusals);
        if self.refusals.is_empty() {
            return Ok(Rendered { schema, losses: self.losses });
        }
        self.refusals.dedup();
        Err(self.refusals)
    }

    /// Records a reference to a named shape.
    fn add_reference(&mut self, name: String) {
        if self.referenced.insert(name.clone()) {
            self.pending.insert(name);
        }
    }

    /// Renders the referenced named shapes, and those that they reference in turn.
    fn render_defs(&mut self) -> Object {
        let mut rendered = BTreeMap::new();
        while let Some(name) = self.pending.pop_first() {
            self.path = String::from("/$defs");
            pointer::push(&mut self.path, &name);
            if find_def(self.defs, &name).is_none() {
                self.record_loss("$ref", false, "no schema has the name");
            }
            self.enclosing = vec![name.clone()];
            let schema = self.render_node(self.codec.target(&name), false);
            self.enclosing.clear();
            rendered.insert(name, schema);
        }
        self.path = String::new();
        rendered.into_iter().collect()
    }

    fn is_visible(&self, field: &Field) -> bool {
        field.access != self.hidden
    }

    fn record_loss(&mut self, keyword: &'static str, in_prose: bool, reason: &'static str) {
        self.losses.push(Loss { pointer: self.path.clone(), keyword, in_prose, reason });
    }

    fn add_refusal(&mut self, reason: impl Into<String>) {
        self.refusals.push(Refusal { pointer: self.path.clone(), reason: reason.into() });
    }

    fn at<T>(&mut self, tokens: &[&str], render: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        for token in tokens {
            pointer::push(&mut self.path, token);
        }
        let result = render(self);
        self.path.truncate(length);
        result
    }

    /// Renders the shapes of an array under a keyword.
    fn render_list(&mut self, keyword: &str, shapes: &[Shape]) -> Vec<Value> {
        let item = |(index, shape): (usize, &Shape)| {
            self.at(&[keyword, &index.to_string()], |renderer| renderer.render_node(shape, false))
        };
        shapes.iter().enumerate().map(item).collect()
    }
}

#[cfg(test)]
mod tests;
