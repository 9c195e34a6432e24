//! The dialects in which a model saw the tools of a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::dialect::Dialect;

/// The dialects in which a model saw its tools: one for all of them, or one for each if a request mixes strict and
/// non-strict schemas.
///
/// Created from a dialect, or by `ToolPlan::dialects`.
#[derive(Clone, Debug)]
pub struct Dialects {
    default: &'static Dialect,
    others: Option<Arc<BTreeMap<String, &'static Dialect>>>,
}

impl Dialects {
    /// Creates the dialects of tools that all have one dialect, except for these.
    #[must_use]
    pub fn except(
        most: &'static Dialect,
        others: impl IntoIterator<Item = (String, &'static Dialect)>,
    ) -> Dialects {
        let others: BTreeMap<_, _> = others.into_iter().filter(|(_, dialect)| *dialect != most).collect();
        Dialects { default: most, others: (!others.is_empty()).then(|| Arc::new(others)) }
    }

    /// Returns the dialect in which the model saw the tool of this name.
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
