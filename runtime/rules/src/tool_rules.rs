//! The rules about one tool, and their decisions.

use serde_json::Value;
use toolgen_core::ToolSpec;

use crate::check::{Compiled, compile, compile_part};
use crate::logic::Formula;
use crate::node::{CallView, Failure, Node};
use crate::rule::{Action, Rule, Rules};
use crate::syntax::{Expr, Kind, Op};

/// The rules about one tool, compiled for its arguments.
#[derive(Clone, Debug)]
pub struct ToolRules {
    rules: Rules,
    tests: Vec<Test>,
}

/// A rule that is compiled for a tool.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    /// The index of the rule.
    pub(crate) rule: usize,
    condition: Condition,
}

#[derive(Clone, Debug)]
enum Condition {
    Always,
    When(Box<Compiled>),
    /// It does not fit the tool. It matches every call, so that an unchecked rule lets nothing through.
    Invalid(String),
}

/// Whether a rule matches a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Matched {
    /// It does not match.
    No,
    /// It matches.
    Yes,
    /// It has no value for this call, for this reason, and counts as matched.
    Failed(String),
}

impl Matched {
    /// Returns whether the rule applies to the call.
    #[must_use]
    pub fn applies(&self) -> bool {
        *self != Matched::No
    }
}

/// A value in an explanation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// The part of the condition.
    pub text: String,
    /// Its value for the call, or the reason why it has none.
    pub value: Result<Value, String>,
}

/// What a rule says about a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explained {
    /// The index of the rule, from 0.
    pub rule: usize,
    /// Whether it is about the tool.
    pub selected: bool,
    /// Whether it matches the call.
    pub matched: Matched,
    /// The comparisons and tests of its condition, and the values that they are about.
    pub parts: Vec<Part>,
}

impl ToolRules {
    pub(crate) fn new(rules: &Rules, spec: &ToolSpec) -> ToolRules {
        let selected = rules.as_slice().iter().enumerate().filter(|(_, rule)| rule.selects(spec));
        let mut tests: Vec<Test> = selected
            .map(|(index, rule)| Test { rule: index, condition: Condition::of(rule, spec) })
            .collect();
        // The first match decides.
        tests.sort_by_key(|test| rules.as_slice().get(test.rule).map(|rule| (rank(rule.action), test.rule)));
        ToolRules { rules: rules.clone(), tests }
    }

    /// Returns whether no rule is about the tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the rules that apply to a call, the most restrictive ones first, each with its index. If the first one
    /// denies the call, the others do not matter.
    pub fn applying<'r, 'c>(
        &'r self,
        call: &'c CallView<'r>,
    ) -> impl Iterator<Item = (usize, &'r Rule, Matched)> + use<'r, 'c> {
        self.tests.iter().filter_map(move |test| {
            let matched = test.matched(call);
            let rule = self.rules.as_slice().get(test.rule)?;
            matched.applies().then_some((test.rule, rule, matched))
        })
    }

    /// Returns the rule that denies a call, or else the first that asks, or else the first that limits it.
    #[must_use]
    pub fn deciding<'r>(&'r self, call: &CallView<'r>) -> Option<(usize, &'r Rule)> {
        self.applying(call).next().map(|(index, rule, _)| (index, rule))
    }

    pub(crate) fn tests(&self) -> &[Test] {
        &self.tests
    }
}

fn rank(action: Action) -> u8 {
    match action {
        Action::Deny => 0,
        Action::Ask => 1,
        Action::Rate { .. } => 2,
    }
}

impl Condition {
    fn of(rule: &Rule, spec: &ToolSpec) -> Condition {
        match &rule.when {
            None => Condition::Always,
            Some(when) => match compile(&when.expr, spec) {
                Ok(compiled) => Condition::When(Box::new(compiled)),
                Err(problems) => {
                    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                    Condition::Invalid(problems.join("; "))
                }
            },
        }
    }
}

impl Test {
    fn matched<'r>(&'r self, call: &CallView<'r>) -> Matched {
        match &self.condition {
            Condition::Always => Matched::Yes,
            Condition::Invalid(reason) => Matched::Failed(reason.clone()),
            Condition::When(compiled) => match compiled.node.test(call, &mut Vec::new()) {
                Ok(true) => Matched::Yes,
                Ok(false) => Matched::No,
                Err(Failure(reason)) => Matched::Failed(reason),
            },
        }
    }

    /// Returns the condition as a formula. Calls without a value for the condition may also match.
    pub(crate) fn formula(&self) -> Formula {
        match &self.condition {
            Condition::When(compiled) => compiled.formula.clone(),
            Condition::Always | Condition::Invalid(_) => Formula::Const(true),
        }
    }

    /// Returns whether the condition may have no value for some call.
    pub(crate) fn is_fallible(&self) -> bool {
        match &self.condition {
            Condition::When(compiled) => compiled.fallible,
            Condition::Always => false,
            Condition::Invalid(_) => true,
        }
    }
}

impl Rules {
    /// Explains what each rule says about a call of a tool.
    #[must_use]
    pub fn explain(&self, spec: &ToolSpec, call: &CallView<'_>) -> Vec<Explained> {
        let explain = |(index, rule): (usize, &Rule)| {
            if !rule.selects(spec) {
                return Explained { rule: index, selected: false, matched: Matched::No, parts: Vec::new() };
            }
            let test = Test { rule: index, condition: Condition::of(rule, spec) };
            let matched = Test::matched(&test, &short(call));
            let mut parts = Vec::new();
            if let Some(when) = &rule.when {
                explain_parts(&when.expr, spec, call, &mut parts);
            }
            Explained { rule: index, selected: true, matched, parts }
        };
        self.as_slice().iter().enumerate().map(explain).collect()
    }
}

/// Shortens the lifetime of a view.
fn short<'a>(call: &CallView<'a>) -> CallView<'a> {
    *call
}

/// Collects the values of the tests of a condition, and of what they compare.
fn explain_parts(expr: &Expr, spec: &ToolSpec, call: &CallView<'_>, parts: &mut Vec<Part>) {
    match &expr.kind {
        Kind::Binary(Op::And | Op::Or, left, right) => {
            explain_parts(left, spec, call, parts);
            explain_parts(right, spec, call, parts);
            return;
        }
        Kind::Not(inner) => return explain_parts(inner, spec, call, parts),
        Kind::Choice(all) => {
            all.iter().for_each(|part| explain_parts(part, spec, call, parts));
            return;
        }
        Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Double(_) | Kind::Text(_) | Kind::List(_) => return,
        Kind::Binary(_, left, right) => {
            for side in [left, right] {
                add_part(side, spec, call, parts);
            }
        }
        Kind::Call(Some(receiver), _, _) if !matches!(&receiver.kind, Kind::Name(_)) => {
            add_part(receiver, spec, call, parts);
        }
        _ => {}
    }
    add_part(expr, spec, call, parts);
}

fn add_part(expr: &Expr, spec: &ToolSpec, call: &CallView<'_>, parts: &mut Vec<Part>) {
    let is_constant = matches!(
        expr.kind,
        Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Double(_) | Kind::Text(_) | Kind::List(_)
    );
    let text = expr.to_string();
    if is_constant || parts.iter().any(|part| part.text == text) {
        return;
    }
    let value = match compile_part(expr, spec) {
        Some(node) => value_of(&node, call),
        None => Err("it does not fit the tool".to_owned()),
    };
    parts.push(Part { text, value });
}

fn value_of(node: &Node, call: &CallView<'_>) -> Result<Value, String> {
    let value = node.evaluate(&short(call), &mut Vec::new());
    value.map(|value| value.to_json()).map_err(|Failure(reason)| reason)
}
