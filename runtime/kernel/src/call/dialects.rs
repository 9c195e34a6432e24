//! The dialects in which the tools of a request were shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::dialect::Dialect;

/// The dialects in which a model was shown its tools: one for all of them, or one for each if a request mixes tools
/// with strict schemas and tools without.
///
/// Created from a dialect, or by `ToolPlan::dialects`.
#[derive(Clone, Debug)]
pub struct Dialects {
    default: &'static Dialect,
    others: Option<Arc<BTreeMap<String, &'static Dialect>>>,
}

impl Dialects {
    /// Creates the dialects of tools that were shown in one, except for these.
    #[must_use]
    pub fn except(
        most: &'static Dialect,
        others: impl IntoIterator<Item = (String, &'static Dialect)>,
    ) -> Dialects {
        let others: BTreeMap<_, _> = others.into_iter().filter(|(_, dialect)| *dialect != most).collect();
        Dialects { default: most, others: (!others.is_empty()).then(|| Arc::new(others)) }
    }

    /// Returns the dialect in which the tool of this name was shown.
    #[must_use]
    pub fn of(&self, tool: &str) -> &'static Dialect {
        self.others.as_ref().and_then(|others| others.get(tool).copied()).unwrap_or(self.default)
    }
}

impl From<&'static Dialect> for Dialects {
    fn from(dialect: &'static Dialect) -> Dialects {
        Dialects { default: dialect, others: None }
    }
}
