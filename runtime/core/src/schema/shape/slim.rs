//! Reduces the size of a shape: what a model reads becomes shorter, and every call stays possible.
//!
//! [`slim`] turns a shape into a smaller one before it is rendered. The smaller shape accepts everything that the
//! full shape accepts, except for optional arguments that were omitted. Every change is recorded as a [`Trim`].
//! Decoding uses the full shape, so omitted parts are still accepted and still validated.

mod defs;
mod depth;
mod descriptions;
mod expansion_order;
mod node_trims;
mod parse;
mod trims;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Def, Extra, Field, Kind, ObjectRules, Shape, UnionMode, children};
use super::{find_def, pointer, resolved};
use crate::base::frozen::{List, Text};

pub use depth::outline_within;
pub(crate) use expansion_order::{Expansion, ExpansionOrder};
pub(crate) use node_trims::shortened;
pub use parse::SlimError;
pub use trims::{Trim, TrimKind};

/// What is trimmed from a tool before a model reads it.
///
/// [`NONE`](Slim::NONE) trims nothing, [`DEFAULT`](Slim::DEFAULT) trims only tools above a ceiling, and
/// [`COMPACT`](Slim::COMPACT) is the smallest form that still shows every argument with its type and its values.
/// Write a literal with `..Slim::NONE`. Its text form is a list of levers, such as `compact, parameters=80,
/// ceiling=off`; see [`FromStr`](std::str::FromStr).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slim {
    /// The limit of the tool's description.
    pub description: DescriptionLimit,
    /// The limit of the arguments' descriptions.
    pub parameters: DescriptionLimit,
    /// The limit of descriptions inside arguments.
    pub nested: DescriptionLimit,
    /// Whether to drop examples, and defaults that are long.
    pub drop_examples: bool,
    /// Whether closed objects are shown as open. A call with additional keys is still rejected.
    pub drop_closed: bool,
    /// If set, only required arguments and the arguments with these names are shown.
    pub optional: Option<List<Text>>,
    /// Maximum number of levels of objects that are shown in full; the arguments are the first level. A deeper part
    /// becomes an object whose description lists its fields.
    pub depth: Option<usize>,
    /// Whether named shapes that are used once are inlined.
    pub inline: bool,
    /// The size above which more levers are applied, in order, until the tool fits, in bytes: its name, its
    /// description, and its schema as compact JSON. MCP's output schema is also shown if it fits under the ceiling.
    pub ceiling: Option<usize>,
}

/// Default of [`Slim::ceiling`], in bytes: no tool of this size has more than 8,000 tokens.
///
/// Of 6,086 tools of public documents, none near the ceiling has more than 0.352 tokens per byte (`o200k_base`),
/// which gives 22,700 bytes. The rest is a margin for denser text.
pub const DEFAULT_CEILING_BYTES: usize = 22_000;

impl Slim {
    /// Trims nothing, regardless of the size of a tool.
    pub const NONE: Slim = Slim {
        description: DescriptionLimit::All,
        parameters: DescriptionLimit::All,
        nested: DescriptionLimit::All,
        drop_examples: false,
        drop_closed: false,
        optional: None,
        depth: None,
        inline: false,
        ceiling: None,
    };

    /// Trims only tools above the default [`DEFAULT_CEILING_BYTES`].
    pub const DEFAULT: Slim = Slim { ceiling: Some(DEFAULT_CEILING_BYTES), ..Slim::NONE };

    /// The smallest form in which every argument can still be used. It keeps names, types, required arguments,
    /// allowed values and limits, and the first sentences of the tool's and its arguments' descriptions, if they are
    /// short.
    pub const COMPACT: Slim = Slim {
        description: DescriptionLimit::Sentence(160),
        parameters: DescriptionLimit::Sentence(60),
        nested: DescriptionLimit::None,
        drop_examples: true,
        drop_closed: true,
        inline: true,
        ..Slim::DEFAULT
    };

    /// Whether shapes stay unchanged.
    pub(crate) fn is_idle(&self) -> bool {
        let Slim { description, ceiling, .. } = Slim::NONE;
        Slim { description, ceiling, ..self.clone() } == Slim::NONE
    }

    /// Whether some schemas become less strict.
    fn loosens(&self) -> bool {
        self.drop_closed || self.depth.is_some()
    }
}

impl Default for Slim {
    fn default() -> Slim {
        Slim::DEFAULT
    }
}

/// How much of a description is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DescriptionLimit {
    /// All of it.
    All,
    /// As many complete sentences or words as fit into this number of characters.
    Characters(usize),
    /// The first sentence, cut to this number of characters.
    Sentence(usize),
    /// Nothing.
    None,
}

/// A smaller shape, the named shapes that it references, and the trims.
#[derive(Clone, Debug, PartialEq)]
pub struct Slimmed {
    /// The shape of the arguments.
    pub shape: Shape,
    /// The named shapes, sorted by name.
    pub defs: List<Def>,
    /// The trims, in the order of the schema.
    pub trims: Vec<Trim>,
}

/// Trims the shape of a tool's arguments.
///
/// The result is deterministic. The ceiling is not applied here, but by [`ToolSpec::schema`].
///
/// [`ToolSpec::schema`]: crate::spec::ToolSpec::schema
#[must_use]
pub fn slim(shape: &Shape, defs: &List<Def>, slim: &Slim) -> Slimmed {
    slim_to(shape, defs, slim, None, true)
}

/// Like [`slim`], with only the first parts shown in full. Trims are only recorded if requested: recording takes most
/// of the time, and most smaller shapes are only measured.
pub(crate) fn slim_to(
    shape: &Shape,
    defs: &List<Def>,
    slim: &Slim,
    expansion: Option<Expansion<'_>>,
    records_trims: bool,
) -> Slimmed {
    let expansion = expansion.filter(|expansion| !expansion.is_all());
    if slim.is_idle() && expansion.is_none() {
        return Slimmed { shape: shape.clone(), defs: defs.clone(), trims: Vec::new() };
    }
    let mut slimmer = Slimmer::new(defs, slim, expansion, records_trims);
    let pruned = slimmer.prune(shape);
    let shape = slimmer.trim_node(&pruned, 0);
    let defs = slimmer.trim_defs();
    let mut trims = slimmer.trims;
    let (shape, defs) = defs::arrange(shape, defs, slim, &mut trims);
    Slimmed { shape, defs, trims }
}

struct Slimmer<'a> {
    defs: &'a List<Def>,
    slim: &'a Slim,
    /// The parts that are shown in full; `None` shows all.
    expansion: Option<Expansion<'a>>,
    path: String,
    /// Whether trims are recorded.
    records_trims: bool,
    trims: Vec<Trim>,
    /// The named shapes that are referenced and not visited yet, with their levels.
    pending_defs: BTreeSet<(usize, String)>,
}

impl<'a> Slimmer<'a> {
    fn new(
        defs: &'a List<Def>,
        slim: &'a Slim,
        expansion: Option<Expansion<'a>>,
        records_trims: bool,
    ) -> Slimmer<'a> {
        let (path, trims, pending_defs) = Default::default();
        Slimmer { defs, slim, expansion, path, records_trims, trims, pending_defs }
    }

    /// Whether some schemas become less strict.
    fn loosens(&self) -> bool {
        self.expansion.is_some() || self.slim.loosens()
    }

    /// Whether a shape is replaced by an outline.
    fn is_cut(&self, shape: &Shape, level: usize) -> bool {
        let too_deep = self.slim.depth.is_some_and(|depth| level >= depth);
        let is_collapsed =
            self.expansion.is_some_and(|expansion| level > 0 && !expansion.shows(shape, &self.path));
        (too_deep || is_collapsed)
            && !depth::is_never_cut(shape)
            && depth::is_deep(shape, self.defs, &mut BTreeSet::new())
    }

    fn trim(&mut self, lever: TrimKind, what: impl Into<String>) {
        if self.records_trims {
            self.trims.push(Trim { pointer: self.path.clone(), lever, what: what.into() });
        }
    }

    fn at<T>(&mut self, tokens: &[&str], visit: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        tokens
            .iter()
            .filter(|token| !token.is_empty())
            .for_each(|token| pointer::push(&mut self.path, token));
        let result = visit(self);
        self.path.truncate(length);
        result
    }

    /// Omits optional arguments.
    fn prune(&mut self, shape: &Shape) -> Shape {
        let (Some(kept_names), Some(root)) = (&self.slim.optional, resolved(shape, self.defs)) else {
            return shape.clone();
        };
        let Kind::Object(rules) = &root.kind else { return shape.clone() };
        // An argument that a rule names may be the only way to satisfy the rule.
        let related_names = rules.relations.iter().flat_map(|relation| relation.fields.iter());
        let kept_names: BTreeSet<&str> =
            kept_names.iter().chain(related_names).map(|name| name.as_str()).collect();
        let is_kept = |field: &Field| field.required || kept_names.contains(field.name.as_str());
        let (kept, omitted): (Vec<Field>, Vec<Field>) = rules.fields.iter().cloned().partition(is_kept);
        for field in omitted.iter().filter(|field| field.access != Access::ReadOnly) {
            self.at(&["properties", &field.name], |slimmer| slimmer.trim(TrimKind::Optional, "left out"));
        }
        let mut root = Shape {
            kind: Kind::Object(ObjectRules { fields: kept.into(), ..rules.clone() }),
            ..root.clone()
        };
        if !shape.description.is_empty() {
            root.description = shape.description.clone();
        }
        root
    }

    /// Trims a shape. `level` is the number of enclosing objects.
    fn trim_node(&mut self, shape: &Shape, level: usize) -> Shape {
        if self.is_cut(shape, level) {
            let mut cut = self.outlined_shape(shape);
            let outline = std::mem::take(&mut cut.description);
            cut.description = shape.description.clone();
            self.trim_annotations(&mut cut, level);
            cut.description = depth::with_outline(&cut.description, &outline).into();
            return cut;
        }
        let partial = self.partially_outlined(shape, level);
        let (shape, outline) = partial.as_ref().map_or((shape, ""), |(shape, outline)| (shape, outline));
        let mut out = Shape { kind: self.trim_kind(&shape.kind, level), ..shape.clone() };
        self.trim_annotations(&mut out, level);
        if !outline.is_empty() {
            out.description = depth::with_outline(&out.description, outline).into();
        }
        out
    }

    fn trim_kind(&mut self, original: &Kind, level: usize) -> Kind {
        match original {
            Kind::Ref(name) => {
                self.pending_defs.insert((level, name.to_string()));
            }
            Kind::Raw(text) => return self.trim_raw(text, level),
            _ => {}
        }
        let loosens = self.loosens();
        let mut kind = children::map_children(original, &mut |child, shape| {
            let level = level + usize::from(child.is_member);
            self.at(&child.tokens, |slimmer| slimmer.trim_node(shape, level))
        });
        match &mut kind {
            // If variants become less strict, several of them may match.
            Kind::Union(rules) if loosens => {
                rules.mode = UnionMode::Any;
                depth::add_tags(rules, original, self.defs);
            }
            Kind::Object(rules) => {
                rules.fields =
                    rules.fields.iter().filter(|field| field.access != Access::ReadOnly).cloned().collect();
                if self.slim.drop_closed && rules.extra == Extra::Closed && !rules.fields.is_empty() {
                    rules.extra = Extra::Open;
                    self.trim(TrimKind::Closed, "shown as open");
                }
            }
            _ => {}
        }
        kind
    }

    /// Trims the referenced named shapes, each at the lowest level of its references.
    fn trim_defs(&mut self) -> BTreeMap<String, Shape> {
        let mut done = BTreeMap::new();
        while let Some((level, name)) = self.pending_defs.pop_first() {
            if done.contains_key(&name) {
                continue;
            }
            let Some(shape) = find_def(self.defs, &name) else { continue };
            self.path.clear();
            let slimmed = self.at(&["$defs", &name], |slimmer| slimmer.trim_node(shape, level));
            done.insert(name, slimmed);
        }
        done
    }
}
