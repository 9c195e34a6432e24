//! Parts that occur more than once get a name.
//!
//! Equal parts have equal canonical texts. Each name given changes the texts of what is around the part and of nothing else, so
//! the text of every part is kept beside it, and written anew only there.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::defs::{Shapes, trim};
use super::{Lever, Trim, children};
use crate::schema::shape::render::canonical;
use crate::schema::shape::{Kind, Shape};

/// The shortest part that gets a name, as canonical text, in bytes: a reference and its target cost some, too.
const MIN_SHARED: usize = 160;
/// How many parts of one tool get a name.
const MAX_SHARED: usize = 40;

/// Gives names to large parts that occur more than once, the largest first.
pub(super) fn shared(root: Shape, defs: Shapes, trims: &mut Vec<Trim>) -> (Shape, Shapes) {
    let mut texts = Texts::default();
    let mut root = texts.tree(root, "");
    let mut defs: BTreeMap<String, Rc<Tree>> =
        defs.into_iter().map(|(name, shape)| (name, texts.tree(shape, ""))).collect();
    for _ in 0..MAX_SHARED {
        let mut parts = HashMap::new();
        collect(&root, "", &mut parts);
        defs.iter().for_each(|(name, tree)| collect(tree, name, &mut parts));
        let repeated = parts.into_values().filter(|part| part.places > 1);
        let saved = |part: &Part<'_>| (part.text.len() * (part.places - 1), Rc::clone(&part.text));
        let Some(Part { tree, name, places, text }) = repeated.max_by_key(saved) else { break };
        let (tree, name) = (Rc::clone(tree), free_name(name, &defs));
        let reference = Shape::of(Kind::Ref(name.clone().into()));
        root = texts.replaced(&root, &text, &reference).unwrap_or(root);
        for def in defs.values_mut() {
            if let Some(changed) = texts.replaced(def, &text, &reference) {
                *def = changed;
            }
        }
        trims.push(trim(&name, Lever::Share, &format!("{places} equal parts are one")));
        defs.insert(name, tree);
    }
    (root.shape.clone(), defs.into_iter().map(|(name, tree)| (name, tree.shape.clone())).collect())
}

/// A shape and those that it is made of.
struct Tree {
    shape: Shape,
    /// The name of the field that it is the value of; empty for others.
    name: String,
    /// The canonical text, if the shape is worth a name.
    text: Option<Rc<str>>,
    /// The shapes that it is made of, in the order in which they are visited.
    children: Vec<Rc<Tree>>,
}

/// The texts of parts. Equal ones are one.
#[derive(Default)]
struct Texts(HashMap<Rc<str>, Rc<str>>);

impl Texts {
    fn tree(&mut self, shape: Shape, name: &str) -> Rc<Tree> {
        let mut children = Vec::new();
        children::mapped(&shape.kind, &mut |child, part| {
            children.push(self.tree(part.clone(), child.name));
            part.clone()
        });
        self.node(shape, name.to_owned(), children)
    }

    fn node(&mut self, shape: Shape, name: String, children: Vec<Rc<Tree>>) -> Rc<Tree> {
        let whole = matches!(shape.kind, Kind::Object(_) | Kind::Union(_) | Kind::Enum(_) | Kind::Array(_));
        let text = whole.then(|| canonical(&shape)).filter(|text| text.len() >= MIN_SHARED);
        let text = text.map(|text| {
            let text: Rc<str> = text.into();
            Rc::clone(self.0.entry(Rc::clone(&text)).or_insert(text))
        });
        Rc::new(Tree { shape, name, text, children })
    }

    /// Returns a shape with the reference in place of the parts of this text, or `None` if it has no such part.
    fn replaced(&mut self, tree: &Tree, text: &Rc<str>, reference: &Shape) -> Option<Rc<Tree>> {
        let mut changed = false;
        let mut children = Vec::with_capacity(tree.children.len());
        for child in &tree.children {
            let new = if child.text.as_ref().is_some_and(|own| Rc::ptr_eq(own, text)) {
                Some(self.node(reference.clone(), child.name.clone(), Vec::new()))
            } else {
                self.replaced(child, text, reference)
            };
            changed |= new.is_some();
            children.push(new.unwrap_or_else(|| Rc::clone(child)));
        }
        if !changed {
            return None;
        }
        let mut shapes = children.iter().map(|child| child.shape.clone());
        let kind =
            children::mapped(&tree.shape.kind, &mut |_, part| shapes.next().unwrap_or_else(|| part.clone()));
        let shape = Shape { kind, ..tree.shape.clone() };
        Some(self.node(shape, tree.name.clone(), children))
    }
}

/// A part that may get a name: the first of its places, and how many there are.
struct Part<'t> {
    tree: &'t Rc<Tree>,
    name: &'t str,
    text: Rc<str>,
    places: usize,
}

/// Collects the parts inside a shape that are worth a name, by where their texts are.
fn collect<'t>(tree: &'t Tree, name: &'t str, parts: &mut HashMap<*const u8, Part<'t>>) {
    for part in &tree.children {
        let name = if part.name.is_empty() { name } else { &part.name };
        if let Some(text) = &part.text {
            let new = || Part { tree: part, name, text: Rc::clone(text), places: 0 };
            parts.entry(text.as_ptr()).or_insert_with(new).places += 1;
        }
        collect(part, name, parts);
    }
}

fn free_name(name: &str, defs: &BTreeMap<String, Rc<Tree>>) -> String {
    let base: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    let base = if base.is_empty() { "part".to_owned() } else { base };
    let mut names = (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}{number}") });
    names.find(|name| !defs.contains_key(name)).unwrap_or(base)
}
