//! The severity levels and budgets that a manifest sets.

use toolgen_core::schema::dialect::Dialect;

use super::codes;
use super::context::{Context, nearest};
use super::keys;
use super::node::Node;
use crate::problem::{Level, Levels};
use crate::source::Pointer;
use crate::tool::TokenBudget;

impl<'a> Context<'a> {
    /// Reads `deny_losses`: the dialects that must express tools completely.
    pub(super) fn denied_losses(&mut self, top: &Node<'a>) -> Vec<String> {
        let named = self.texts(top, "deny_losses").unwrap_or_default();
        named
            .into_iter()
            .filter_map(|(name, at)| self.dialect(name, &at))
            .map(|known| known.name.to_owned())
            .collect()
    }

    /// Reads `token_budget`: the maximum number of tokens of the tools.
    pub(super) fn token_budget(&mut self, top: &Node<'a>) -> Option<TokenBudget> {
        let budget = top.get("token_budget")?;
        if !self.object(&budget, &keys::TOKEN_BUDGET) {
            return None;
        }
        let mut limit = |key| self.count(&budget, key).and_then(|count| usize::try_from(count).ok());
        let (total, tool) = (limit("total"), limit("tool"));
        let name = self.text(&budget, "dialect").unwrap_or("openai");
        let dialect = self.dialect(name, &budget.pointer.child("dialect"))?.name.to_owned();
        Some(TokenBudget { total, tool, dialect })
    }

    /// Returns the dialect with a name, in which `_` is accepted for `-`. An unknown one is reported.
    pub(super) fn dialect(&mut self, name: &str, at: &Pointer) -> Option<&'static Dialect> {
        let found = Dialect::by_name(&name.replace('_', "-"));
        if found.is_none() {
            let known: Vec<String> = Dialect::ALL.iter().map(|known| known.name.replace('-', "_")).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            self.report(codes::CHOICE, at, format!("there is no dialect `{name}`"), nearest(name, &known));
        }
        found
    }

    /// Reads `lints`: the codes that are allowed, reported as warnings and denied.
    pub(super) fn levels(&mut self) -> Levels {
        let mut levels = Levels::default();
        let Some(lints) = self.top().get("lints") else { return levels };
        if self.object(&lints, &keys::LINTS) {
            for level in [Level::Allow, Level::Warn, Level::Deny] {
                for (name, _) in self.texts(&lints, level.as_str()).unwrap_or_default() {
                    levels.set(name, level);
                }
            }
        }
        levels
    }
}
