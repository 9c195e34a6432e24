//! Records of trims.

use std::collections::BTreeMap;
use std::fmt;

/// The kind of a trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TrimKind {
    /// A description was shortened or dropped.
    Description,
    /// Examples, or a long default, were dropped.
    Examples,
    /// A closed object is shown as open.
    Closed,
    /// An optional argument was omitted.
    Optional,
    /// A deep part was replaced by an outline.
    Depth,
    /// A named shape was inlined.
    Inline,
    /// The tool is still above its ceiling.
    Ceiling,
}

impl TrimKind {
    /// Returns the name of the lever in the text form of [`Slim`](super::Slim): `description`, `examples`, …
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TrimKind::Description => "description",
            TrimKind::Examples => "examples",
            TrimKind::Closed => "closed",
            TrimKind::Optional => "optional",
            TrimKind::Depth => "depth",
            TrimKind::Inline => "inline",
            TrimKind::Ceiling => "ceiling",
        }
    }
}

impl fmt::Display for TrimKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A trim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The location in the schema of the arguments, as a JSON pointer; empty for the tool itself.
    pub pointer: String,
    /// The kind.
    pub lever: TrimKind,
    /// What was changed.
    pub what: String,
}

impl Trim {
    /// Summarizes trims: `12 descriptions, 3 deep parts`.
    #[must_use]
    pub fn summed(trims: &[Trim]) -> String {
        let mut counts: BTreeMap<TrimKind, usize> = BTreeMap::new();
        trims.iter().for_each(|trim| *counts.entry(trim.lever).or_default() += 1);
        let describe = |(lever, count): (TrimKind, usize)| {
            let (singular, plural) = match lever {
                TrimKind::Description => ("description shortened", "descriptions shortened"),
                TrimKind::Examples => ("place without its examples", "places without their examples"),
                TrimKind::Closed => ("object shown as open", "objects shown as open"),
                TrimKind::Optional => ("optional argument omitted", "optional arguments omitted"),
                TrimKind::Depth => ("deep part only outlined", "deep parts only outlined"),
                TrimKind::Inline => ("named shape inlined", "named shapes inlined"),
                TrimKind::Ceiling => ("tool still above the ceiling", "tools still above the ceiling"),
            };
            format!("{count} {}", if count == 1 { singular } else { plural })
        };
        let messages: Vec<String> = counts.into_iter().map(describe).collect();
        if messages.is_empty() { "nothing trimmed".to_owned() } else { messages.join(", ") }
    }
}

impl fmt::Display for Trim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = if self.pointer.is_empty() { "the tool" } else { &self.pointer };
        write!(f, "{location}: {} ({})", self.what, self.lever)
    }
}
