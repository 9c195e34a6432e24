//! What is wrong with rules.

use std::fmt;

/// A part of a condition: byte offsets in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The rule cannot be parsed.
    Syntax,
    /// The rule selects no tool.
    UnknownTool,
    /// The condition names an argument, a variable or a function that does not exist.
    UnknownName,
    /// The condition applies an operation to values of the wrong type, or to a value that may be absent.
    Type,
    /// No call matches the rule.
    Never,
    /// Other rules decide every call that the rule matches.
    Shadowed,
    /// Two rules decide differently about the same calls.
    Contradiction,
}

/// A problem with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The kind.
    pub kind: ProblemKind,
    /// The part of the condition, if the problem has one.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Problem {
    pub(crate) fn new(
        kind: ProblemKind,
        span: impl Into<Option<Span>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        Problem { kind, span: span.into(), message: message.into(), help: help.into() }
    }

    pub(crate) fn syntax(span: Span, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Syntax, span, message, help)
    }

    /// Returns whether the problem makes the rule unusable. Others are warnings: the rule works, but has no effect.
    #[must_use]
    pub fn is_error(&self) -> bool {
        !matches!(self.kind, ProblemKind::Never | ProblemKind::Shadowed | ProblemKind::Contradiction)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(span) = self.span {
            write!(f, "at column {}: ", span.start + 1)?;
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

/// A problem with the place of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleProblem {
    /// The index of the rule, from 0.
    pub rule: usize,
    /// The rule as one line of text.
    pub text: String,
    /// The problem.
    pub problem: Problem,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {} `{}`: {}", self.rule + 1, self.text, self.problem)
    }
}

/// The error of rules that cannot be used: one line per problem.
#[derive(Clone, PartialEq, Eq)]
pub struct RulesError {
    /// The problems, in the order of the rules.
    pub problems: Vec<RuleProblem>,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

toolgen_core::__readable_debug!(RulesError);

impl std::error::Error for RulesError {}
