//! What was trimmed.

use std::collections::BTreeMap;
use std::fmt;

/// A kind of trimming.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TrimKind {
    /// A description was shortened or left out.
    Description,
    /// Examples, or a long default, were left out.
    Examples,
    /// An object no longer says that it takes no other keys.
    Closed,
    /// An optional argument was left out.
    Optional,
    /// A part deep inside was replaced by a description of it.
    Depth,
    /// A named shape was written where it is used.
    Inline,
    /// The tool is still above its ceiling.
    Ceiling,
}

impl TrimKind {
    /// The name, as [`Slim`](super::Slim) is written: `description`, `examples`, …
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

/// Something that was trimmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The place in the schema of the arguments, as a JSON pointer; empty for the tool itself.
    pub pointer: String,
    /// What trimmed it.
    pub lever: TrimKind,
    /// What became of it.
    pub what: String,
}

impl Trim {
    /// Says what was trimmed, in a few words: `12 descriptions, 3 deep parts`.
    #[must_use]
    pub fn summed(trims: &[Trim]) -> String {
        let mut counts: BTreeMap<TrimKind, usize> = BTreeMap::new();
        trims.iter().for_each(|trim| *counts.entry(trim.lever).or_default() += 1);
        let reported = |(lever, count): (TrimKind, usize)| {
            let (one, several) = match lever {
                TrimKind::Description => ("description shortened", "descriptions shortened"),
                TrimKind::Examples => ("place without its examples", "places without their examples"),
                TrimKind::Closed => ("object shown as open", "objects shown as open"),
                TrimKind::Optional => ("optional argument left out", "optional arguments left out"),
                TrimKind::Depth => ("deep part only outlined", "deep parts only outlined"),
                TrimKind::Inline => ("named shape written in place", "named shapes written in place"),
                TrimKind::Ceiling => ("tool still above the ceiling", "tools still above the ceiling"),
            };
            format!("{count} {}", if count == 1 { one } else { several })
        };
        let messages: Vec<String> = counts.into_iter().map(reported).collect();
        if messages.is_empty() { "nothing trimmed".to_owned() } else { messages.join(", ") }
    }
}

impl fmt::Display for Trim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = if self.pointer.is_empty() { "the tool" } else { &self.pointer };
        write!(f, "{location}: {} ({})", self.what, self.lever)
    }
}
