//! Parts that occur more than once get a name.
//!
//! Equal parts have equal canonical texts. A part that occurs only once stays so, whatever gets a name, and so do the
//! parts around it: their texts are not needed. Each name given changes only the texts of the parts around the named
//! one, so the texts of all other parts are kept, and only those are written anew.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
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
    let mut levels = Vec::new();
    let mut root = tree(root, "", &mut levels);
    let mut defs: BTreeMap<String, Rc<Tree>> =
        defs.into_iter().map(|(name, shape)| (name, tree(shape, "", &mut levels))).collect();
    // The outermost shapes are in no place.
    let outermost: HashSet<*const Tree> = defs.values().chain([&root]).map(Rc::as_ptr).collect();
    levels
        .iter_mut()
        .for_each(|level: &mut Vec<_>| level.retain(|tree| !outermost.contains(&Rc::as_ptr(tree))));
    levels.iter().for_each(|level| texts.find(level));
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
    /// The canonical text, if the shape is worth a name and in several places.
    text: RefCell<Option<Rc<str>>>,
    /// Whether it is known to be in one place only.
    is_single: Cell<bool>,
    /// The shapes that it is made of, in the order in which they are visited.
    children: Vec<Rc<Tree>>,
    /// The number of shapes in it, one inside another.
    height: usize,
}

/// Splits a shape, and adds it and those in it to the others of the same height.
fn tree(shape: Shape, name: &str, levels: &mut Vec<Vec<Rc<Tree>>>) -> Rc<Tree> {
    let mut children = Vec::new();
    children::each(&shape.kind, &mut |child, part| children.push(tree(part.clone(), child.name, levels)));
    let tree = Rc::new(Tree::new(shape, name.to_owned(), children));
    levels.resize_with(levels.len().max(tree.height + 1), Vec::new);
    levels.iter_mut().skip(tree.height).take(1).for_each(|level| level.push(Rc::clone(&tree)));
    tree
}

impl Tree {
    fn new(shape: Shape, name: String, children: Vec<Rc<Tree>>) -> Tree {
        let height = children.iter().map(|child| child.height + 1).max().unwrap_or(0);
        let (text, is_single) = Default::default();
        Tree { shape, name, text, is_single, children, height }
    }
}

/// The texts of parts, equal ones shared.
#[derive(Default)]
struct Texts(HashMap<Rc<str>, Rc<str>>);

impl Texts {
    /// Finds the texts of shapes of one height, once those of the shapes in them are known.
    fn find(&mut self, level: &[Rc<Tree>]) {
        let mut places: HashMap<*const u8, usize> = HashMap::new();
        for tree in level {
            if tree.children.iter().any(|child| child.is_single.get()) {
                tree.is_single.set(true);
            } else if let Some(text) = self.text(&tree.shape) {
                *places.entry(text.as_ptr()).or_default() += 1;
                tree.text.replace(Some(text));
            }
        }
        for tree in level {
            let mut text = tree.text.borrow_mut();
            if text.as_ref().is_some_and(|text| places.get(&text.as_ptr()) == Some(&1)) {
                tree.is_single.set(true);
                *text = None;
            }
        }
    }

    /// Returns the text of a shape, if it is worth a name.
    fn text(&mut self, shape: &Shape) -> Option<Rc<str>> {
        let whole = matches!(shape.kind, Kind::Object(_) | Kind::Union(_) | Kind::Enum(_) | Kind::Array(_));
        let text: Rc<str> = whole.then(|| canonical(shape)).filter(|text| text.len() >= MIN_SHARED)?.into();
        Some(Rc::clone(self.0.entry(Rc::clone(&text)).or_insert(text)))
    }

    /// Returns a shape with the reference in place of the parts of this text, or `None` if it has no such part.
    fn replaced(&mut self, tree: &Tree, text: &Rc<str>, reference: &Shape) -> Option<Rc<Tree>> {
        let mut changed = false;
        let mut children = Vec::with_capacity(tree.children.len());
        for child in &tree.children {
            let new = if child.text.borrow().as_ref().is_some_and(|own| Rc::ptr_eq(own, text)) {
                Some(Rc::new(Tree::new(reference.clone(), child.name.clone(), Vec::new())))
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
        let new = Tree::new(shape, tree.name.clone(), children);
        if tree.text.borrow().is_some() {
            new.text.replace(self.text(&new.shape));
        }
        Some(Rc::new(new))
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
        if let Some(text) = &*part.text.borrow() {
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
