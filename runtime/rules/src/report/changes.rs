//! What a change of rules means: whether more calls are allowed than before.

use std::collections::BTreeSet;

use toolgen_core::ToolSpec;

use super::{Fact, facts};
use crate::rule::{Action, Rules};

/// What a change of rules means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RuleChangeKind {
    /// A rule was removed or written differently, and its calls are decided at least as strictly.
    Same,
    /// A rule refuses, asks or counts more calls than before.
    Tighter,
    /// A rule refuses, asks or counts fewer calls than before, or that could not be excluded.
    Looser,
}

/// A change of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleChange {
    /// What it means.
    pub kind: RuleChangeKind,
    /// The rule, as one line: the old one if it became looser, and the new one if it became tighter.
    pub rule: String,
    /// What changed.
    pub message: String,
    /// The tools for which it did.
    pub tools: Vec<String>,
}

impl Rules {
    /// Compares with newer rules, for the tools before and after the change. A tool that is new or gone is left out:
    /// its calls are a change of the tools.
    #[must_use]
    pub fn changes<'a>(
        &self,
        newer: &Rules,
        tools: impl IntoIterator<Item = (&'a ToolSpec, &'a ToolSpec)>,
    ) -> Vec<RuleChange> {
        let tools: Vec<(&ToolSpec, &ToolSpec)> = tools.into_iter().collect();
        let mut changes = Vec::new();
        let old_specs: Vec<&ToolSpec> = tools.iter().map(|(_, new)| *new).collect();
        compare(self, newer, &old_specs, RuleChangeKind::Looser, &mut changes);
        compare(newer, self, &old_specs, RuleChangeKind::Tighter, &mut changes);
        let lines = |rules: &Rules| rules.as_slice().iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let (old_lines, new_lines) = (lines(self), lines(newer));
        for line in old_lines.difference(&new_lines) {
            if !changes.iter().any(|change| change.rule == *line) {
                let message =
                    "was removed or changed, and its calls are decided at least as strictly".to_owned();
                changes.push(RuleChange {
                    kind: RuleChangeKind::Same,
                    rule: line.clone(),
                    message,
                    tools: Vec::new(),
                });
            }
        }
        changes.sort_by_key(|change| std::cmp::Reverse(change.kind));
        changes
    }
}

/// Reports the rules of `from` whose calls `to` does not decide at least as strictly.
fn compare(
    from: &Rules,
    to: &Rules,
    tools: &[&ToolSpec],
    kind: RuleChangeKind,
    changes: &mut Vec<RuleChange>,
) {
    let mut missing: Vec<(usize, Vec<String>)> = Vec::new();
    for spec in tools {
        let (from_compiled, to_compiled) = (from.for_tool(spec), to.for_tool(spec));
        let (from_facts, to_facts) = (facts(from, &from_compiled), facts(to, &to_compiled));
        for fact in &from_facts {
            if is_kept(fact, &to_facts) || is_idle(fact) {
                continue;
            }
            let name = spec.name.to_string();
            match missing.iter_mut().find(|(index, _)| *index == fact.index) {
                Some((_, tools)) => tools.push(name),
                None => missing.push((fact.index, vec![name])),
            }
        }
    }
    missing.sort();
    for (index, tools) in missing {
        let Some(rule) = from.as_slice().get(index) else { continue };
        let message = describe(rule.action, has_similar(to, rule.action, rule.selector()), kind).to_owned();
        changes.push(RuleChange { kind, rule: rule.to_string(), message, tools });
    }
}

fn has_similar(rules: &Rules, action: Action, selector: &str) -> bool {
    let same = |other: Action| std::mem::discriminant(&other) == std::mem::discriminant(&action);
    rules.as_slice().iter().any(|rule| same(rule.action) && rule.selector() == selector)
}

fn is_idle(fact: &Fact<'_>) -> bool {
    !fact.fallible && crate::logic::never([(&fact.formula, true)])
}

/// Returns whether it is proven that other rules treat the calls of a rule at least as strictly.
fn is_kept(fact: &Fact<'_>, others: &[Fact<'_>]) -> bool {
    let (rates, rest): (Vec<&Fact<'_>>, Vec<&Fact<'_>>) = others
        .iter()
        .filter(|other| is_as_strict(other, fact))
        .partition(|other| matches!(other.rule.action, Action::Rate { .. }));
    // Each rate counts its own calls, so two of them together allow more than one.
    let with_one = |rate: &Fact<'_>| fact.is_covered_by(rest.iter().copied().chain([rate]));
    fact.is_covered_by(rest.iter().copied()) || rates.into_iter().any(with_one)
}

/// Returns whether a call that the first rule matches is treated at least as strictly as the second demands.
fn is_as_strict(other: &Fact<'_>, fact: &Fact<'_>) -> bool {
    match (other.rule.action, fact.rule.action) {
        (Action::Deny, _) | (Action::Ask, Action::Ask) => true,
        (Action::Rate { limit, per }, Action::Rate { limit: old_limit, per: old_per }) => {
            // Never more calls, in a window that is at least as long.
            limit <= old_limit && per >= old_per
        }
        _ => false,
    }
}

fn describe(action: Action, is_similar: bool, kind: RuleChangeKind) -> &'static str {
    match (kind, action, is_similar) {
        (RuleChangeKind::Looser, Action::Deny, true) => "may refuse fewer calls: its condition changed",
        (RuleChangeKind::Looser, Action::Deny, false) => "was removed: calls that it refused may be allowed",
        (RuleChangeKind::Looser, Action::Ask, true) => "may ask about fewer calls: its condition changed",
        (RuleChangeKind::Looser, Action::Ask, false) => "was removed: calls may run without an approval",
        (RuleChangeKind::Looser, Action::Rate { .. }, true) => {
            "may allow more calls: its limit or condition changed"
        }
        (RuleChangeKind::Looser, Action::Rate { .. }, false) => {
            "was removed: calls are no longer limited by it"
        }
        (_, Action::Deny, _) => "may refuse more calls than before",
        (_, Action::Ask, _) => "may ask about more calls than before",
        (_, Action::Rate { .. }, _) => "may limit more calls than before",
    }
}
