//! Names and rules that match no tool, and suggestions for them.

use std::fmt;

use crate::base::frozen::Text;

/// A name that no tool has, or a rule that matches no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownTool {
    /// The name or the rule.
    pub name: Text,
    /// The name or the rule that was probably meant.
    pub suggestion: Option<Text>,
}

/// Writes `; did you mean '{suggestion}'?` if there is a suggestion, otherwise nothing.
pub(crate) fn suggest(f: &mut fmt::Formatter<'_>, suggestion: Option<&str>) -> fmt::Result {
    suggestion.map_or(Ok(()), |closest| write!(f, "; did you mean '{closest}'?"))
}
