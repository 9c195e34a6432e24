//! Names for unnamed schemas and for variants, derived from titles.

use std::collections::{BTreeMap, BTreeSet};

use toolgen_core::schema::shape::render::canonical;
use toolgen_core::schema::shape::{Kind, find_def};
use toolgen_core::{Def, List, Shape};

use super::super::idents::{self, Names};
use super::model::TypeRequest;
use super::union;
use super::usage::Usage;
use crate::shape_walk::parts;

/// Maximum length of a title that is a name, in bytes and in words; longer titles are sentences.
const MAX_TITLE: (usize, usize) = (40, 5);

/// The names of types, by the key of their shapes.
#[derive(Default)]
pub(super) struct Titles {
    names: BTreeMap<String, String>,
}

impl Titles {
    /// Finds the titles of unnamed schemas that are suitable names of types: titles of several words that are more
    /// specific than their key, and that all equal schemas share and no others have.
    pub(super) fn of(tools: &[TypeRequest<'_>], defs: &List<Def>, usage: &BTreeMap<String, Usage>) -> Titles {
        let mut candidates = NameCandidates::default();
        for TypeRequest { spec, failure, .. } in tools {
            candidates.tool = letters(spec.name.as_str());
            candidates.visit(&spec.input, "");
            if let Some(output) = &spec.output {
                candidates.visit(output, "");
            }
            // The type is named after the tool, and its variants after the status codes.
            match failure.map(|failure| (failure, &failure.kind)) {
                Some((_, Kind::Union(rules))) => {
                    rules.variants.iter().for_each(|variant| candidates.visit_parts(variant, ""));
                }
                Some((failure, _)) => candidates.visit_parts(failure, ""),
                None => {}
            }
        }
        candidates.tool.clear();
        for shape in usage.keys().filter_map(|name| find_def(defs, name)) {
            candidates.visit_parts(shape, "");
        }
        candidates.into_titles()
    }

    /// Reserves the names that are free, and drops the others.
    pub(super) fn reserve(&mut self, names: &mut Names) {
        self.names.retain(|_, name| names.is_free(name) && names.take(name) == *name);
    }

    /// Returns the name of the type of a shape, once.
    pub(super) fn take(&mut self, shape: &Shape) -> Option<String> {
        if self.names.is_empty() { None } else { self.names.remove(&shape_key(shape)) }
    }
}

/// Returns a key for the values that a shape allows.
fn shape_key(shape: &Shape) -> String {
    canonical(&Shape::of(shape.kind.clone()))
}

#[derive(Default)]
struct NameCandidates {
    /// The names for each key.
    names: BTreeMap<String, BTreeSet<String>>,
    /// The name of the current tool.
    tool: String,
}

impl NameCandidates {
    /// Visits a shape at a key, and its parts.
    fn visit(&mut self, shape: &Shape, key: &str) {
        // An explicit name of the type may equal the key.
        let explicit = Some(shape.choices.type_name()).filter(|name| !name.is_empty()).map(idents::camel);
        let from_title = || type_name(shape.title.as_str()).filter(|name| self.is_specific(name, key));
        if union::is_nominal(shape)
            && let Some(name) = explicit.or_else(from_title)
        {
            self.names.entry(shape_key(shape)).or_default().insert(name);
        }
        self.visit_parts(shape, key);
    }

    fn visit_parts(&mut self, shape: &Shape, key: &str) {
        let parts = parts(shape);
        let fields = match &shape.kind {
            Kind::Object(rules) => &*rules.fields,
            _ => &[],
        };
        // Fields are the last parts.
        let keys = std::iter::repeat_n(key, parts.len() - fields.len());
        let keys = keys.chain(fields.iter().map(|field| field.wire_name()));
        for ((_, part), key) in parts.iter().zip(keys) {
            self.visit(part, key);
        }
    }

    /// Whether a title is neither its key nor derived from the tool's name, as some frameworks do (`Response List
    /// Pets`).
    fn is_specific(&self, name: &str, key: &str) -> bool {
        let name = letters(name);
        let derived = name.strip_prefix("response").unwrap_or(&name);
        name != letters(key) && (self.tool.is_empty() || derived != self.tool)
    }

    fn into_titles(self) -> Titles {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in self.names.values().flatten() {
            *counts.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        let unique_name = |names: BTreeSet<String>| {
            let mut names = names.into_iter();
            let name = names.next().filter(|name| counts.get(&name.to_ascii_lowercase()) == Some(&1))?;
            names.next().is_none().then_some(name)
        };
        let names = self.names.into_iter().filter_map(|(key, names)| Some((key, unique_name(names)?)));
        Titles { names: names.collect() }
    }
}

/// Returns the name of a type with this title. A single word is too vague without the location.
fn type_name(title: &str) -> Option<String> {
    name(title).filter(|_| idents::words(title).len() > 1)
}

/// Returns the name for a title, if the title is a few words rather than a sentence.
pub(super) fn name(title: &str) -> Option<String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || " _-/()&".contains(c);
    let is_name = title.starts_with(|c: char| c.is_ascii_alphabetic())
        && title.len() <= MAX_TITLE.0
        && title.chars().all(is_allowed)
        && idents::words(title).len() <= MAX_TITLE.1;
    is_name.then(|| idents::camel(title))
}

fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::{name, type_name};

    #[test]
    fn short_title_becomes_a_type_name() {
        let named = |title| type_name(title).unwrap_or_default();
        assert_eq!(named("Path collection (Trash)"), "PathCollectionTrash");
        assert_eq!(["CollectionLinks", "Issue_Source"].map(named), ["CollectionLinks", "IssueSource"]);
        assert_eq!(
            ["Sample", "Resource status of the policy.", "2 pets", "Prix d'été", ""].map(named),
            [""; 5]
        );
        assert_eq!(name("Card").unwrap_or_default(), "Card");
        assert_eq!(named("one two three four five six"), "");
    }
}
