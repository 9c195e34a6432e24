//! The size of a shape under some levers, added up from the sizes of its places: no smaller shape is made for it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::needed::Pieces;
use super::places::{self, Places};
use super::{Slim, Words, children, depth};
use crate::base::frozen::{Frozen, List, Text};
use crate::base::json::json_bytes;
use crate::schema::shape::render::canonical;
use crate::schema::shape::{
    Access, ArrayRules, Def, Extra, Kind, ObjectRules, Shape, TupleRules, UnionRules, find_def, pointer,
};

/// What `"description":"",` takes.
const DESCRIPTION: usize = 17;
/// What is left of a part that is cut, without its description: an object without fields.
const CUT: usize = 17;
/// What is written around a named value: two quotes, a colon, a comma.
const NAMED: usize = 4;
/// The longest outline of fields that are left out, about.
const MAX_OUTLINE: usize = 240;
/// How much a field takes in an outline besides its name: its type, and what is between them.
const OUTLINED: usize = 10;

/// The sizes of the places of a shape and of what it refers to.
#[derive(Debug)]
pub(crate) struct Sheet {
    root: Part,
    /// The named shapes that are reached if nothing is cut.
    named: BTreeMap<Text, Part>,
    /// The number of places.
    places: usize,
}

/// The bytes of a form, as far as they are known without making it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// Those of descriptions.
    pub(crate) texts: usize,
    /// All others, in plain JSON Schema.
    pub(crate) others: usize,
}

/// The sizes of a place, without what is inside.
#[derive(Debug, Default)]
struct Part {
    /// What no lever changes.
    fixed: usize,
    description: Option<Sized>,
    examples: usize,
    /// A default that is left out with the examples.
    long_default: usize,
    /// What says that an object takes no other keys.
    closed: usize,
    /// The number of allowed values, and what their list takes.
    values: (usize, usize),
    /// How many levels of objects are around it.
    level: usize,
    /// What its outline takes, if it is a part that can be cut.
    outline: Option<usize>,
    /// The ranks of the groups of its fields.
    ranks: Vec<usize>,
    inside: Vec<Inside>,
    refers: Option<Text>,
}

/// What is inside a place.
#[derive(Debug)]
struct Inside {
    /// The group of fields that it belongs to.
    group: usize,
    /// The name, if it is that of a field.
    name: Text,
    /// Whether it is an optional field.
    optional: bool,
    part: Part,
}

/// A text, and the sizes of its pieces.
#[derive(Debug)]
pub(crate) struct Sized {
    text: Text,
    bytes: usize,
    characters: usize,
    pieces: OnceCell<Pieces>,
}

impl Sized {
    pub(crate) fn new(text: &Text) -> Sized {
        let characters = text.chars().count();
        Sized { text: text.clone(), bytes: written(text), characters, pieces: OnceCell::new() }
    }

    /// Returns the bytes of what is kept of it, in JSON.
    pub(crate) fn kept(&self, words: Words) -> usize {
        match words {
            Words::All => self.bytes,
            Words::Characters(limit) | Words::Needed(limit) if self.characters <= limit => self.bytes,
            Words::Needed(others) => self.pieces.get_or_init(|| Pieces::of(&self.text)).kept(others),
            Words::None => 0,
            Words::Characters(_) | Words::Sentence(_) => written(&words.of(&self.text)),
        }
    }
}

/// Returns the bytes of a text in JSON, without its quotes.
pub(super) fn written(text: &str) -> usize {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.len() + text.bytes().map(more).sum::<usize>()
}

impl Sheet {
    pub(crate) fn of(shape: &Shape, defs: &List<Def>, places: &Places) -> Sheet {
        let mut builder = Builder { defs, places, path: String::new(), waiting: BTreeSet::new() };
        let root = builder.part(shape, 0);
        let mut named = BTreeMap::new();
        while let Some((level, name)) = builder.waiting.pop_first() {
            let Some(def) = find_def(defs, &name).filter(|_| !named.contains_key(&name)) else { continue };
            builder.path.clear();
            pointer::push(&mut builder.path, "$defs");
            pointer::push(&mut builder.path, &name);
            let part = builder.part(def, level);
            named.insert(name, Part { outline: None, ..part });
        }
        Sheet { root, named, places: places.len() }
    }

    /// Returns the size of the arguments under some levers, with so many places spelled out. `inline` says that named
    /// shapes are written wherever they are used.
    pub(crate) fn bytes(&self, slim: &Slim, count: usize, inline: bool) -> Bytes {
        let optional = slim.optional.as_ref();
        let optional = optional.map(|names| names.iter().map(Text::as_str).collect());
        let count = (count < self.places).then_some(count);
        let mut sum = Sum {
            sheet: self,
            slim,
            count,
            optional,
            inline,
            bytes: Bytes::default(),
            named: BTreeMap::new(),
        };
        sum.add(&self.root);
        sum.bytes
    }
}

/// Measures the places of a shape.
struct Builder<'a> {
    defs: &'a List<Def>,
    places: &'a Places,
    path: String,
    /// The named shapes that are not measured yet, by the level at which they are.
    waiting: BTreeSet<(usize, Text)>,
}

impl Builder<'_> {
    fn part(&mut self, shape: &Shape, level: usize) -> Part {
        let key = places::key(shape, &self.path);
        let ranks = self.places.ranks(&key).to_vec();
        let is_deep = || depth::is_deep(shape, self.defs, &mut BTreeSet::new());
        let outline = (level > 0 && !depth::is_whole(shape) && is_deep()).then(|| self.outline(shape));
        let bare = Shape {
            description: Text::EMPTY,
            examples: List::EMPTY,
            kind: emptied(&shape.kind),
            ..shape.clone()
        };
        let mut fixed = json_bytes(&canonical::value(&bare));
        let closed = match &shape.kind {
            Kind::Object(rules) if rules.extra == Extra::Closed && !rules.fields.is_empty() => 29,
            _ => 0,
        };
        let default = shape.default.as_ref().map_or(0, |default| json_bytes(&default.to_json()));
        let long_default = if default > super::leaves::MAX_DEFAULT { default + 11 } else { 0 };
        let values = match &shape.kind {
            Kind::Enum(values) => (values.len(), fixed),
            _ => (0, 0),
        };
        let refers = match &shape.kind {
            Kind::Ref(name) => {
                self.waiting.insert((level, name.clone()));
                Some(name.clone())
            }
            _ => None,
        };
        let examples: usize = shape.examples.iter().map(|example| json_bytes(&example.to_json()) + 1).sum();
        let examples = if examples > 0 { examples + 14 } else { 0 };
        let inside = self.inside(shape, level, &mut fixed);
        let description = (!shape.description.is_empty()).then(|| Sized::new(&shape.description));
        let fixed = fixed.saturating_sub(closed + long_default + values.1);
        Part {
            fixed,
            description,
            examples,
            long_default,
            closed,
            values,
            level,
            outline,
            ranks,
            inside,
            refers,
        }
    }

    fn inside(&mut self, shape: &Shape, level: usize, fixed: &mut usize) -> Vec<Inside> {
        let (groups, is_told): (Vec<usize>, Vec<bool>) = match &shape.kind {
            Kind::Object(rules) => {
                let told = rules.fields.iter().map(|field| field.access != Access::ReadOnly);
                (places::groups(rules), told.collect())
            }
            _ => (Vec::new(), Vec::new()),
        };
        let (mut inside, mut at) = (Vec::new(), 0);
        children::each(&shape.kind, &mut |child, part| {
            let group = groups.get(at).copied().unwrap_or_default();
            let is_told = is_told.get(at).copied().unwrap_or(true);
            let is_field = at < groups.len();
            at += 1;
            if !is_told {
                return;
            }
            let length = self.path.len();
            child
                .tokens
                .iter()
                .filter(|token| !token.is_empty())
                .for_each(|token| pointer::push(&mut self.path, token));
            let optional = is_field && !child.is_required;
            *fixed += if child.is_required { child.name.len() + 3 } else { 0 };
            let part = self.part(part, level + usize::from(child.is_member));
            self.path.truncate(length);
            inside.push(Inside { group, name: Text::copy_of(child.name), optional, part });
        });
        *fixed += match &shape.kind {
            Kind::Object(rules) if !rules.fields.is_empty() => {
                let any_required = rules.fields.iter().any(|field| field.required);
                16 + if any_required { 14 } else { 0 }
            }
            Kind::Array(_) => 8,
            Kind::Tuple(_) => 18,
            _ => 0,
        };
        inside
    }

    /// Returns what the outline of a part takes, about.
    fn outline(&self, shape: &Shape) -> usize {
        let outline = depth::outline_of_deep(shape, self.defs).map_or(0, |outline| written(&outline) + 1);
        CUT + DESCRIPTION + outline
    }
}

/// Returns a kind without what is inside, and with what is written around that.
fn emptied(kind: &Kind) -> Kind {
    match kind {
        Kind::Array(rules) => Kind::Array(ArrayRules { items: Frozen::Static(&Shape::ANY), ..rules.clone() }),
        Kind::Tuple(rules) => {
            Kind::Tuple(TupleRules { items: List::EMPTY, rest: Extra::Open, ..rules.clone() })
        }
        Kind::Object(rules) => {
            let extra = match &rules.extra {
                Extra::Of(_) => Extra::Open,
                other => other.clone(),
            };
            Kind::Object(ObjectRules { fields: List::EMPTY, patterns: List::EMPTY, extra, ..rules.clone() })
        }
        Kind::Union(rules) => Kind::Union(UnionRules { variants: List::EMPTY, ..rules.clone() }),
        Kind::All(_) => Kind::All(List::EMPTY),
        other => other.clone(),
    }
}

/// Adds up the places that are left under some levers.
struct Sum<'a> {
    sheet: &'a Sheet,
    slim: &'a Slim,
    /// How many places are spelled out, if not all are.
    count: Option<usize>,
    /// The names of the optional arguments that are left, if not all are.
    optional: Option<HashSet<&'a str>>,
    inline: bool,
    bytes: Bytes,
    /// The sizes of the named shapes that were reached.
    named: BTreeMap<&'a str, Bytes>,
}

impl<'a> Sum<'a> {
    fn add(&mut self, part: &'a Part) {
        let shown = self.count.map(|count| part.ranks.iter().take_while(|rank| **rank < count).count());
        if let Some(outline) = part.outline
            && (shown == Some(0) || self.slim.depth.is_some_and(|depth| part.level >= depth))
        {
            self.describe(part, true);
            self.bytes.others += outline;
            return;
        }
        self.bytes.others += part.fixed;
        self.bytes.others += if self.slim.drop_closed { 0 } else { part.closed };
        self.bytes.others += if self.slim.drop_examples { 0 } else { part.examples + part.long_default };
        let (count, listed) = part.values;
        let is_listed = self.slim.values.is_none_or(|most| count <= most);
        self.bytes.others += if is_listed { listed } else { listed.min(150) };
        if let Some(name) = &part.refers {
            self.refer(name);
        }
        let shown = shown.filter(|shown| part.level > 0 && *shown < part.ranks.len());
        let mut hidden = 0;
        for Inside { group, name, optional, part: inside } in &part.inside {
            if shown.is_some_and(|shown| *group >= shown) {
                hidden += name.len() + OUTLINED;
                continue;
            }
            let is_left = |names: &HashSet<&str>| names.contains(name.as_str());
            if part.level == 0 && *optional && self.optional.as_ref().is_some_and(|names| !is_left(names)) {
                continue;
            }
            self.bytes.others += if name.is_empty() { 1 } else { name.len() + NAMED };
            self.add(inside);
        }
        self.describe(part, hidden > 0);
        self.bytes.others += hidden.min(MAX_OUTLINE);
    }

    /// Adds a named shape where it is written: once, or wherever it is used.
    fn refer(&mut self, name: &'a Text) {
        if let Some(known) = self.named.get(name.as_str()) {
            let Bytes { texts, others } = if self.inline { *known } else { Bytes::default() };
            self.bytes.texts += texts;
            self.bytes.others += others;
            return;
        }
        let Some(part) = self.sheet.named.get(name) else { return };
        // What contains itself is not written in itself.
        self.named.insert(name, Bytes::default());
        let before = self.bytes;
        self.bytes.others += if self.inline { 0 } else { name.len() + NAMED };
        self.add(part);
        let Bytes { texts, others } = self.bytes;
        let own = Bytes { texts: texts - before.texts, others: others - before.others };
        self.named.insert(name, own);
    }

    /// Adds a description. What is said besides needs one anyway.
    fn describe(&mut self, part: &'a Part, is_more: bool) {
        let words = if part.level <= 1 { self.slim.parameters } else { self.slim.nested };
        let kept = part.description.as_ref().map_or(0, |description| description.kept(words));
        self.bytes.texts += if kept > 0 && !is_more { kept + DESCRIPTION } else { kept };
    }
}
