//! Parses YAML into values.
//!
//! `saphyr-parser` provides the grammar, and this module the rest: a document is composed into a list of nodes, and
//! the nodes into values, where aliases, merge keys and the scalars of the core schema are resolved.
//!
//! Why `saphyr-parser`, measured on 27 published YAML documents of OpenAPI (9 MB; parsed to a `serde_json::Value`):
//!
//! | reader | time | wrong results |
//! |---|---|---|
//! | `saphyr-parser` 0.3 and this module | 1 | none known |
//! | `serde-saphyr` 2 | 2.2 | 15: `y` and `n` (names of coordinates, of parameters) become booleans, as in YAML 1.1 |
//! | `serde_yaml_ng` 0.10, `serde_norway` 0.9 | 1.2 | a document is rejected for a number beyond 64 bits |
//!
//! The events have lines and columns, which the others lose on the way to a value. They leave to this module the
//! decisions about whether a published document can be used: duplicate keys, absurd numbers, limits. The parser
//! itself has a limit of 255 levels of flow collections (`[[…]]`) in a YAML text; it does not parse JSON texts.

mod build;
mod compose;
mod hints;
mod locate;
mod repair;
mod scalar;

pub(super) use locate::locate;
pub(super) use scalar::resolve;

use self::compose::{Tree, compose};
use self::repair::repair;
use super::{Finding, ParseResult};

/// Parses the first document of a text. Returns no value for invalid YAML.
pub(super) fn read(text: &str) -> ParseResult {
    with_tree(text, |tree, mut findings| {
        let value = tree.and_then(|tree| build::build(&tree, &mut findings));
        (value, findings)
    })
}

/// Passes the nodes and the findings of a text to `then`. A text with an unambiguous error is repaired first.
fn with_tree<R>(text: &str, then: impl FnOnce(Option<Tree<'_>>, Vec<Finding>) -> R) -> R {
    let (tree, findings, stop) = compose(text);
    let Some(repaired) = stop.and_then(|stop| repair(text, &stop)) else { return then(tree, findings) };
    let (tree, mut findings, _) = compose(&repaired.text);
    if tree.is_some() {
        findings.extend(repaired.notes);
    }
    then(tree, findings)
}
