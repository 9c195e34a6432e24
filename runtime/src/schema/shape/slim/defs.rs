//! Named shapes: those used once are written where they are used, parts that occur more than once get a name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Lever, Slim, Trim, children, leaves};
use crate::base::frozen::List;
use crate::schema::shape::render::canonical;
use crate::schema::shape::{Def, Kind, Shape, pointer};

/// The shortest part that gets a name, as canonical text, in bytes: a reference and its target cost some, too.
const MIN_SHARED: usize = 160;
/// How many parts of one tool get a name.
const MAX_SHARED: usize = 40;

type Shapes = BTreeMap<String, Shape>;

/// Arranges the named shapes of a tool.
pub(super) fn arrange(root: Shape, defs: Shapes, slim: &Slim, trims: &mut Vec<Trim>) -> (Shape, List<Def>) {
    let (root, defs) = if slim.inline { inlined(&root, &defs, trims) } else { (root, defs) };
    let (root, defs) = if slim.share { shared(root, defs, trims) } else { (root, defs) };
    let def = |(name, shape): (String, Shape)| Def { name: name.into(), schema: shape.into() };
    (root, defs.into_iter().map(def).collect())
}

fn trim(name: &str, lever: Lever, what: &str) -> Trim {
    let mut at = String::from("/$defs");
    pointer::push(&mut at, name);
    Trim { pointer: at, lever, what: what.to_owned() }
}

/// Writes the shapes that one place refers to at that place.
fn inlined(root: &Shape, defs: &Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    count(root, &mut uses);
    defs.values().for_each(|shape| count(shape, &mut uses));
    let once: BTreeSet<&str> =
        uses.iter().filter(|(_, count)| **count == 1).map(|(name, _)| name.as_str()).collect();
    // A shape that only leads to itself is reached from nowhere and cannot be among them.
    let root = with_inlined(root, defs, &once);
    let is_left = |name: &String| !once.contains(name.as_str());
    let left: Shapes = defs
        .iter()
        .filter(|(name, _)| is_left(name))
        .map(|(name, shape)| (name.clone(), with_inlined(shape, defs, &once)))
        .collect();
    let gone = defs.keys().filter(|name| !is_left(name));
    trims.extend(gone.map(|name| trim(name, Lever::Inline, "written where it is used")));
    (root, left)
}

/// Counts how often each named shape is used. What must keep its name counts twice.
fn count(shape: &Shape, uses: &mut BTreeMap<String, usize>) {
    let mut add = |name: &str, by: usize| *uses.entry(name.to_owned()).or_default() += by;
    match &shape.kind {
        Kind::Ref(name) => add(name, 1),
        Kind::Raw(text) => {
            let mut names = Vec::new();
            if let Ok(value) = serde_json::from_str(text) {
                leaves::referred(&value, &mut names);
            }
            names.iter().for_each(|name| add(name, 2));
        }
        Kind::Union(rules) if rules.discriminator.is_some() => {
            for variant in &rules.variants {
                if let Kind::Ref(name) = &variant.kind {
                    add(name, 2);
                }
            }
        }
        _ => {}
    }
    children::mapped(&shape.kind, &mut |_, child| {
        count(child, uses);
        child.clone()
    });
}

fn with_inlined(shape: &Shape, defs: &Shapes, once: &BTreeSet<&str>) -> Shape {
    if let Kind::Ref(name) = &shape.kind
        && once.contains(name.as_str())
        && let Some(target) = defs.get(name.as_str())
    {
        let nullable = shape.nullable || target.nullable;
        let mut whole = Shape { kind: target.kind.clone(), nullable, ..shape.clone() };
        whole.adopt(target);
        return with_inlined(&whole, defs, once);
    }
    let kind = children::mapped(&shape.kind, &mut |_, child| with_inlined(child, defs, once));
    Shape { kind, ..shape.clone() }
}

/// Gives names to large parts that occur more than once, the largest first.
fn shared(mut root: Shape, mut defs: Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    for _ in 0..MAX_SHARED {
        let mut parts = BTreeMap::new();
        collect(&root, "", &mut parts);
        defs.iter().for_each(|(name, shape)| collect(shape, name, &mut parts));
        let repeated = parts.into_iter().filter(|(_, part)| part.places > 1);
        let Some((text, part)) = repeated.max_by_key(|(text, part)| text.len() * (part.places - 1)) else {
            break;
        };
        let name = free_name(&part.name, &defs);
        let reference = Shape::of(Kind::Ref(name.clone().into()));
        root = with_shared(&root, &text, &reference);
        defs =
            defs.iter().map(|(name, shape)| (name.clone(), with_shared(shape, &text, &reference))).collect();
        trims.push(trim(&name, Lever::Share, &format!("{} equal parts are one", part.places)));
        defs.insert(name, part.shape);
    }
    (root, defs)
}

/// A part that may get a name.
struct Part {
    shape: Shape,
    name: String,
    places: usize,
}

/// Collects the parts inside a shape that are worth a name, by their canonical text.
fn collect(shape: &Shape, name: &str, parts: &mut BTreeMap<String, Part>) {
    children::mapped(&shape.kind, &mut |child, part| {
        let name = if child.name.is_empty() { name } else { child.name };
        if let Some(text) = text_of(part) {
            let new = || Part { shape: part.clone(), name: name.to_owned(), places: 0 };
            parts.entry(text).or_insert_with(new).places += 1;
        }
        collect(part, name, parts);
        part.clone()
    });
}

/// Returns the text of a part, if it is worth a name.
fn text_of(part: &Shape) -> Option<String> {
    let whole = matches!(part.kind, Kind::Object(_) | Kind::Union(_) | Kind::Enum(_) | Kind::Array(_));
    whole.then(|| canonical(part)).filter(|text| text.len() >= MIN_SHARED)
}

fn with_shared(shape: &Shape, text: &str, reference: &Shape) -> Shape {
    let kind = children::mapped(&shape.kind, &mut |_, part| {
        if text_of(part).is_some_and(|own| own == text) {
            reference.clone()
        } else {
            with_shared(part, text, reference)
        }
    });
    Shape { kind, ..shape.clone() }
}

fn free_name(name: &str, defs: &Shapes) -> String {
    let base: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    let base = if base.is_empty() { "part".to_owned() } else { base };
    let mut names = (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}{number}") });
    names.find(|name| !defs.contains_key(name)).unwrap_or(base)
}
