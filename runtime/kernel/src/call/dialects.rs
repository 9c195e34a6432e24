//! The dialects in which a model saw the tools of a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::schema::dialect::Dialect;

/// The dialects in which a model saw its tools: the same for all tools, or one for each tool if a request mixes strict
/// and non-strict schemas.
///
/// Created from a dialect, or by `ToolPlan::dialects`.
#[derive(Clone, Debug)]
pub struct Dialects {
    default: &'static Dialect,
    others: Option<Arc<BTreeMap<String, &'static Dialect>>>,
}

impl Dialects {
    /// Creates dialects with `default` for all tools except those in `others`.
    #[must_use]
    pub fn except(
        default: &'static Dialect,
        others: impl IntoIterator<Item = (String, &'static Dialect)>,
    ) -> Dialects {
        let others: BTreeMap<_, _> = others.into_iter().filter(|(_, dialect)| *dialect != default).collect();
        Dialects { default, others: (!others.is_empty()).then(|| Arc::new(others)) }
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
