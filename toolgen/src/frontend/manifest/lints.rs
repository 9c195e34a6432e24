//! The severity levels and budgets that a manifest sets.

use toolgen_core::schema::dialect::Dialect;

use super::codes;
use super::context::{Context, suggest_name};
use super::keys;
use super::node::Node;
use crate::problem::{Level, Levels};
use crate::source::Pointer;
use crate::tool::TokenBudget;

impl<'a> Context<'a> {
    /// Reads `deny_losses`: the dialects that must express tools without losses.
    pub(super) fn denied_losses(&mut self, top: &Node<'a>) -> Vec<String> {
        let names = self.texts(top, "deny_losses").unwrap_or_default();
        names
            .into_iter()
            .filter_map(|(name, pointer)| self.dialect(name, &pointer))
            .map(|dialect| dialect.name.to_owned())
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

    /// Returns the dialect with a name, in which `_` may replace `-`. Reports an unknown dialect.
    pub(super) fn dialect(&mut self, name: &str, pointer: &Pointer) -> Option<&'static Dialect> {
        let dialect = Dialect::by_name(&name.replace('_', "-"));
        if dialect.is_none() {
            let names: Vec<String> =
                Dialect::ALL.iter().map(|dialect| dialect.name.replace('-', "_")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.report(
                codes::CHOICE,
                pointer,
                format!("there is no dialect `{name}`"),
                suggest_name(name, &names),
            );
        }
        dialect
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
