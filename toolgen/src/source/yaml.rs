//! YAML to values.
//!
//! The grammar is that of `saphyr-parser`, the rest is ours: a document is composed into a list of nodes, and the
//! nodes into values, where aliases, merge keys and the scalars of the core schema get their meaning.

mod build;
mod compose;
mod places;
mod scalar;

pub(super) use places::places;

use super::Reading;

/// Reads the first document of a text. No value if the text is not YAML.
pub(super) fn read(text: &str) -> Reading {
    let (tree, mut findings) = compose::compose(text);
    let value = tree.and_then(|tree| build::build(&tree, &mut findings));
    (value, findings)
}
