//! Rules that have no effect, and what a change of rules means.

mod changes;

use std::collections::BTreeMap;

use toolgen_core::ToolSpec;

use crate::logic::{Formula, never};
use crate::problem::{Problem, ProblemKind, RuleProblem, Span};
use crate::rule::{Action, Rule, Rules};
use crate::tool_rules::ToolRules;

pub use changes::{RuleChange, RuleChangeKind};

/// A rule about a tool, as a formula.
pub(crate) struct Fact<'r> {
    pub(crate) index: usize,
    pub(crate) rule: &'r Rule,
    pub(crate) formula: Formula,
    pub(crate) fallible: bool,
}

/// Returns the rules about a tool as formulas, in their order.
pub(crate) fn facts<'r>(rules: &'r Rules, compiled: &ToolRules) -> Vec<Fact<'r>> {
    let mut facts: Vec<Fact<'r>> = compiled
        .tests()
        .iter()
        .filter_map(|test| {
            let rule = rules.as_slice().get(test.rule)?;
            Some(Fact { index: test.rule, rule, formula: test.formula(), fallible: test.is_fallible() })
        })
        .collect();
    facts.sort_by_key(|fact| fact.index);
    facts
}

impl Fact<'_> {
    /// Returns whether it is proven that every call that the rule matches is matched by one of these others.
    pub(crate) fn is_covered_by<'f>(&self, others: impl IntoIterator<Item = &'f Fact<'f>>) -> bool {
        let others: Vec<&Fact<'_>> = others.into_iter().collect();
        // The same condition has no value for the same calls, and then both match.
        if others.iter().any(|other| other.rule.when == self.rule.when || is_same_text(self.rule, other.rule))
        {
            return true;
        }
        let outside = others.iter().map(|other| (&other.formula, false));
        !self.fallible && never([(&self.formula, true)].into_iter().chain(outside))
    }
}

/// Returns whether two rules have the same condition, but for spaces and parentheses.
fn is_same_text(left: &Rule, right: &Rule) -> bool {
    match (&left.when, &right.when) {
        (Some(left), Some(right)) => left.expr.to_string() == right.expr.to_string(),
        (None, None) => true,
        _ => false,
    }
}

/// What a report says about a rule for one tool.
#[derive(Clone, Debug, PartialEq)]
enum Finding {
    /// It has an effect, or the opposite is not proven.
    Effective,
    /// No call matches.
    Never,
    /// Other rules decide: their indexes.
    Shadowed(Vec<usize>),
}

impl Rules {
    /// Returns the rules that have no effect: no call matches them, or other rules decide all calls that they match;
    /// and pairs of rules that decide differently about the same calls. Only what is proven is reported.
    ///
    /// Rules that do not fit the tools are left out; [`check`](Self::check) reports them.
    #[must_use]
    pub fn reports<'a>(&self, tools: impl IntoIterator<Item = &'a ToolSpec>) -> Vec<RuleProblem> {
        let tools: Vec<&ToolSpec> = tools.into_iter().collect();
        let invalid = self.problems(&tools);
        let mut findings: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
        let mut twins: BTreeMap<(usize, usize), bool> = BTreeMap::new();
        for spec in tools {
            let compiled = self.for_tool(spec);
            let facts = facts(self, &compiled);
            for fact in &facts {
                findings.entry(fact.index).or_default().push(finding(fact, &facts));
            }
            for pair in self.pairs() {
                let is_twin = is_twin(&facts, pair);
                *twins.entry(pair).or_insert(true) &= is_twin != Some(false);
            }
        }
        let mut problems = Vec::new();
        let twins: Vec<(usize, usize)> =
            twins.into_iter().filter(|(_, is_twin)| *is_twin).map(|(pair, _)| pair).collect();
        for (index, rule) in self.as_slice().iter().enumerate() {
            if invalid.iter().any(|problem| problem.rule == index) {
                continue;
            }
            let found = findings.remove(&index).unwrap_or_default();
            let twin = twins.iter().find(|(_, weaker)| *weaker == index).map(|(stronger, _)| *stronger);
            if let Some(problem) = self.problem(rule, &found, twin) {
                problems.push(RuleProblem { rule: index, text: rule.to_string(), problem });
            }
        }
        problems
    }

    /// Returns the pairs of rules with different decisions, the stronger one first.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let rules: Vec<(usize, &Rule)> = self.as_slice().iter().enumerate().collect();
        let pairs = rules.iter().flat_map(|(stronger, left)| {
            let weaker = rules.iter().filter(|(_, right)| decides_over(left.action, right.action));
            weaker.map(|(weaker, _)| (*stronger, *weaker))
        });
        pairs.collect()
    }

    fn problem(&self, rule: &Rule, found: &[Finding], twin: Option<usize>) -> Option<Problem> {
        let new = |kind, message: String, help: &str| Some(Problem::new(kind, None::<Span>, message, help));
        if found.is_empty() || found.contains(&Finding::Effective) {
            return None;
        }
        if found.iter().all(|finding| *finding == Finding::Never) {
            let message = format!("no call matches `{}`", rule.condition().unwrap_or_default());
            return new(ProblemKind::Never, message, "correct the condition, or remove the rule");
        }
        let name = |index: usize| {
            self.as_slice().get(index).map_or_else(String::new, |rule| format!("rule {} `{rule}`", index + 1))
        };
        if let Some(twin) = twin {
            let message = format!("{} decides differently about the same calls", name(twin));
            return new(ProblemKind::Contradiction, message, "remove one of them, or narrow its condition");
        }
        let mut by: Vec<usize> = found
            .iter()
            .flat_map(|finding| if let Finding::Shadowed(by) = finding { by.as_slice() } else { &[] })
            .copied()
            .collect();
        by.sort_unstable();
        by.dedup();
        let by: Vec<String> = by.into_iter().map(name).collect();
        let message = format!("{} already decides all its calls", by.join(" or "));
        new(ProblemKind::Shadowed, message, "remove this rule, or narrow the other")
    }
}

/// Returns whether a matching rule with the first action makes one with the second irrelevant.
fn decides_over(stronger: Action, weaker: Action) -> bool {
    // A call that needs an approval also counts for rates.
    matches!((stronger, weaker), (Action::Deny, Action::Ask | Action::Rate { .. }))
}

fn finding(fact: &Fact<'_>, all: &[Fact<'_>]) -> Finding {
    if !fact.fallible && never([(&fact.formula, true)]) {
        return Finding::Never;
    }
    let decides_first = |other: &&Fact<'_>| {
        let is_earlier = other.index < fact.index && !matches!(fact.rule.action, Action::Rate { .. });
        decides_over(other.rule.action, fact.rule.action)
            || (other.rule.action == fact.rule.action && is_earlier)
    };
    let stronger: Vec<&Fact<'_>> = all.iter().filter(decides_first).collect();
    if stronger.is_empty() {
        return Finding::Effective;
    }
    // One rule is a simpler reason than several.
    if let Some(one) = stronger.iter().find(|other| fact.is_covered_by([**other])) {
        return Finding::Shadowed(vec![one.index]);
    }
    if fact.is_covered_by(stronger.iter().copied()) {
        return Finding::Shadowed(stronger.iter().map(|other| other.index).collect());
    }
    Finding::Effective
}

/// Returns whether both rules match exactly the same calls of a tool. `None` if neither is about the tool.
fn is_twin(facts: &[Fact<'_>], (stronger, weaker): (usize, usize)) -> Option<bool> {
    let find = |index: usize| facts.iter().find(|fact| fact.index == index);
    match (find(stronger), find(weaker)) {
        (None, None) => None,
        (Some(stronger), Some(weaker)) => {
            Some(stronger.is_covered_by([weaker]) && weaker.is_covered_by([stronger]))
        }
        _ => Some(false),
    }
}
